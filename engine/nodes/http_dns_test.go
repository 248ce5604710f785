package nodes

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
)

// nameServer is a name server in memory that gives one address for every name,
// and may change its mind after the first look-up.
type nameServer struct {
	addr    netip.Addr
	then    netip.Addr // valid: what all look-ups after the first give
	alias   bool       // by way of another name
	lookups atomic.Int32
	group   sync.WaitGroup
}

// resolver returns a resolver that asks the server.
func (n *nameServer) resolver(t *testing.T) *net.Resolver {
	t.Cleanup(n.group.Wait)
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		near, far := net.Pipe() // no packets, so messages travel as over TCP
		n.group.Go(func() {
			defer far.Close()
			for {
				var size [2]byte
				if _, err := io.ReadFull(far, size[:]); err != nil {
					return
				}
				query := make([]byte, binary.BigEndian.Uint16(size[:]))
				if _, err := io.ReadFull(far, query); err != nil {
					return
				}
				reply := n.reply(query)
				if _, err := far.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(reply))), reply...)); err != nil {
					return
				}
			}
		})
		return near, nil
	}}
}

func (n *nameServer) reply(query []byte) []byte {
	end := 12
	for query[end] != 0 {
		end += 1 + int(query[end])
	}
	end += 5
	addr := n.addr
	if n.then.IsValid() && n.lookups.Add(1) > 2 { // each look-up asks for A and AAAA
		addr = n.then
	}
	kind, count := uint16(1), byte(0)
	if addr.Is6() {
		kind = 28
	}
	var records []byte
	record := func(owner []byte, kind uint16, data []byte) {
		count++
		records = append(records, owner...)
		records = binary.BigEndian.AppendUint16(records, kind)
		records = append(records, 0, 1, 0, 0, 0, 0)
		records = append(binary.BigEndian.AppendUint16(records, uint16(len(data))), data...)
	}
	owner := []byte{0xc0, 12}
	if n.alias {
		target := []byte("\x05inner\x07example\x00")
		record(owner, 5, target)
		owner = target
	}
	if binary.BigEndian.Uint16(query[end-4:]) == kind {
		record(owner, kind, addr.AsSlice())
	}
	reply := append(append([]byte{}, query[:2]...), 0x81, 0x80, 0, 1, 0, count, 0, 0, 0, 0)
	return append(append(reply, query[12:end]...), records...)
}

package outbound

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/netip"
	"sync"
	"testing"
)

const (
	typeA     = 1
	typeCNAME = 5
	typeAAAA  = 28
)

// dns is a name server in memory.
type dns struct {
	// answer returns the addresses of a name for its nth lookup.
	answer func(name string, n int) []netip.Addr
	// alias makes every answer a chain of one CNAME and the addresses.
	alias bool

	mu      sync.Mutex
	lookups map[string]int
	group   sync.WaitGroup
}

// newResolver returns a resolver that asks the server.
func newResolver(t *testing.T, server *dns) *net.Resolver {
	t.Helper()
	server.lookups = map[string]int{}
	t.Cleanup(server.group.Wait)
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		near, far := net.Pipe() // no packets, so messages travel as over TCP
		server.group.Go(func() { server.serve(far) })
		return near, nil
	}}
}

func (d *dns) serve(conn net.Conn) {
	defer conn.Close()
	for {
		var size [2]byte
		if _, err := io.ReadFull(conn, size[:]); err != nil {
			return
		}
		query := make([]byte, binary.BigEndian.Uint16(size[:]))
		if _, err := io.ReadFull(conn, query); err != nil {
			return
		}
		reply := d.reply(query)
		if _, err := conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(reply))), reply...)); err != nil {
			return
		}
	}
}

func (d *dns) reply(query []byte) []byte {
	name, end := "", 12
	for query[end] != 0 {
		length := int(query[end])
		name += string(query[end+1:end+1+length]) + "."
		end += 1 + length
	}
	end += 5
	kind := binary.BigEndian.Uint16(query[end-4:])

	d.mu.Lock()
	n := d.lookups[name] / 2 // each look-up asks for A and AAAA
	d.lookups[name]++
	d.mu.Unlock()

	count := uint16(0)
	records := []byte{}
	owner := []byte{0xc0, 12}
	record := func(kind uint16, data []byte) {
		count++
		records = append(records, owner...)
		records = binary.BigEndian.AppendUint16(records, kind)
		records = append(records, 0, 1, 0, 0, 0, 0)
		records = binary.BigEndian.AppendUint16(records, uint16(len(data)))
		records = append(records, data...)
	}
	if d.alias {
		target := []byte("\x05inner\x07example\x00")
		record(typeCNAME, target)
		owner = target
	}
	for _, addr := range d.answer(name, n) {
		if kind == typeA && addr.Is4() || kind == typeAAAA && addr.Is6() {
			record(kind, addr.AsSlice())
		}
	}
	reply := append([]byte{}, query[:2]...)
	reply = append(reply, 0x81, 0x80, 0, 1)
	reply = binary.BigEndian.AppendUint16(reply, count)
	reply = append(reply, 0, 0, 0, 0)
	reply = append(reply, query[12:end]...)
	return append(reply, records...)
}

// always returns the same addresses for every name.
func always(addresses ...string) func(string, int) []netip.Addr {
	var list []netip.Addr
	for _, address := range addresses {
		list = append(list, netip.MustParseAddr(address))
	}
	return func(string, int) []netip.Addr { return list }
}

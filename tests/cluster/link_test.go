package main

import (
	"encoding/binary"
	"net"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// message returns a message of the protocol of PostgreSQL.
func message(kind byte, text string) []byte {
	data := binary.BigEndian.AppendUint32([]byte{kind}, uint32(4+len(text)+1))
	return append(append(data, text...), 0)
}

// However the network divides what a client sends, its messages are found.
func TestMessages(t *testing.T) {
	first := binary.BigEndian.AppendUint32(nil, 16)
	sent := slices.Concat(append(first, "\x00\x03\x00\x00user\x00\x00\x00\x00"...), message('Q', "BEGIN"), message('P', "a statement of more than sixteen bytes"), binary.BigEndian.AppendUint32([]byte{'S'}, 4), message('Q', "COMMIT"))
	want := []string{"Q BEGIN", "P a statement of m", "S ", "Q COMMIT"}
	for size := 1; size <= len(sent); size++ {
		m := messages{startup: true}
		var got []string
		for part := range slices.Chunk(sent, size) {
			for len(part) > 0 {
				taken, kind, text := m.next(part)
				if part = part[taken:]; kind != 0 {
					got = append(got, string(kind)+" "+text)
				}
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("in parts of %d bytes: %s", size, cmp.Diff(got, want))
		}
	}
}

// fakePostgres answers each query with its text as the tag, and sends the queries of a
// connection to the channel once it has ended.
func fakePostgres(t *testing.T) (address string, ended <-chan []string) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	all := make(chan []string, 1)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() { all <- answerQueries(conn) }()
		}
	}()
	return listener.Addr().String(), all
}

func answerQueries(conn net.Conn) (queries []string) {
	defer conn.Close()
	m, buffer := messages{startup: true}, make([]byte, 1024)
	for {
		n, err := conn.Read(buffer)
		for part := buffer[:n]; len(part) > 0; {
			taken, kind, text := m.next(part)
			if part = part[taken:]; kind == messageQuery {
				queries = append(queries, text)
				_, _ = conn.Write(message(messageComplete, text))
			}
		}
		if err != nil {
			return queries
		}
	}
}

// transact sends queries one after the other and returns the answers until the connection
// ends.
func transact(address string, queries ...string) (answers []string) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil
	}
	defer conn.Close()
	_, _ = conn.Write(append(binary.BigEndian.AppendUint32(nil, 8), 0, 3, 0, 0))
	var m messages
	buffer := make([]byte, 1024)
	for _, query := range queries {
		_, _ = conn.Write(message(messageQuery, query))
		n, err := conn.Read(buffer)
		if err != nil {
			return answers
		}
		_, _, text := m.next(buffer[:n])
		answers = append(answers, text)
	}
	return answers
}

// A COMMIT is cut before it arrives or before its answer does, and only that of a
// transaction with changes.
func TestCutCommit(t *testing.T) {
	read, written := []string{"BEGIN", "SELECT 1", "COMMIT"}, []string{"BEGIN", "INSERT 0 1", "COMMIT"}
	for _, test := range []struct {
		name           string
		cut            *commitCut
		sent           []string
		arrived        []string
		answered       []string
		again, happens bool
	}{
		{"none", nil, written, written, written, true, false},
		{"before it arrives", &commitCut{}, written, written[:2], written[:2], true, true},
		{"before its answer arrives", &commitCut{reaches: true}, written, written, written[:2], true, true},
		{"before it arrives, and from then on", &commitCut{stays: true}, written, written[:2], written[:2], false, true},
		{"before its answer arrives, and from then on", &commitCut{reaches: true, stays: true}, written, written, written[:2], false, true},
		{"after a transaction that only reads", &commitCut{}, read, read, read, true, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			address, ended := fakePostgres(t)
			l, err := newLink(func() string { return address })
			if err != nil {
				t.Fatal(err)
			}
			defer l.close()
			if test.cut != nil {
				test.cut.done = make(chan struct{})
			}
			l.cutCommit(test.cut)
			if got := transact(l.address(), test.sent...); !slices.Equal(got, test.answered) {
				t.Errorf("answers: %s", cmp.Diff(got, test.answered))
			}
			if got := <-ended; !slices.Equal(got, test.arrived) {
				t.Errorf("arrived: %s", cmp.Diff(got, test.arrived))
			}
			if test.happens {
				<-test.cut.done
			} else if test.cut != nil && l.takeCut() == nil {
				t.Error("it was cut, want no cut")
			}
			if got := transact(l.address(), read...); slices.Equal(got, read) != test.again {
				t.Errorf("answers on the next connection: %v; want all: %v", got, test.again)
			}
		})
	}
}

package main

import (
	"bytes"
	"encoding/binary"
	"strings"
)

// messages finds the messages in what one side of a connection to PostgreSQL has sent. The
// connections are not encrypted.
type messages struct {
	startup bool // the next message is the first of a client, which has no kind
	header  []byte
	left    int    // bytes of the current message that are still to come
	text    []byte // its first bytes
}

// longestText is how much of a message is kept.
const longestText = 16

// next reads up to the end of a message, and returns how many bytes those were. kind is 0 for
// the first message of a client, and if data ends before the message does.
func (m *messages) next(data []byte) (size int, kind byte, text string) {
	for size < len(data) {
		if len(m.header) < 5 {
			if m.startup && len(m.header) == 0 {
				m.header = append(m.header, 0)
			}
			m.header = append(m.header, data[size])
			size++
			if len(m.header) == 5 {
				m.left = int(binary.BigEndian.Uint32(m.header[1:])) - 4
			}
		} else {
			taken := min(m.left, len(data)-size)
			m.text = append(m.text, data[size:size+min(taken, longestText-len(m.text))]...)
			m.left -= taken
			size += taken
		}
		if len(m.header) == 5 && m.left == 0 {
			kind, text = m.header[0], string(bytes.TrimRight(m.text, "\x00"))
			m.header, m.text, m.startup = m.header[:0], m.text[:0], false
			return size, kind, text
		}
	}
	return size, 0, ""
}

// The kinds of messages that the link knows.
const (
	messageQuery    = 'Q' // of a client
	messageComplete = 'C' // of PostgreSQL: a statement has ended
)

// readTag reports whether a statement with this tag changed something, and whether it ended
// its transaction.
func readTag(tag string) (wrote, ended bool) {
	verb, _, _ := strings.Cut(tag, " ")
	switch verb {
	case "INSERT", "UPDATE", "DELETE":
		return true, false
	case "COMMIT", "ROLLBACK":
		return false, true
	default:
		return false, false
	}
}

package script

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// A frame is a length of four bytes, the highest first, and that many bytes.
// Both sides say how much they take before they read: a length is a claim of
// somebody who may lie.

// errFrame is a frame that breaks its bound; whoever sent it is not to be
// listened to any more.
var errFrame = errors.New("a frame is too large")

// readFrame reads one frame of at most a number of bytes. It uses the room of
// buffer where that is enough. At the end of the stream it gives io.EOF, in the
// middle of a frame io.ErrUnexpectedEOF.
func readFrame(r io.Reader, buffer []byte, most int) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	length := binary.BigEndian.Uint32(head[:])
	if uint64(length) > uint64(most) {
		return nil, fmt.Errorf("%w: %d bytes of at most %d", errFrame, length, most)
	}
	if int(length) > cap(buffer) {
		buffer = make([]byte, length)
	}
	buffer = buffer[:length]
	if _, err := io.ReadFull(r, buffer); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	return buffer, nil
}

// writeFrame writes one frame.
func writeFrame(w io.Writer, data []byte) error {
	if uint64(len(data)) > 1<<32-1 {
		return errFrame
	}
	var head [4]byte
	binary.BigEndian.PutUint32(head[:], uint32(len(data)))
	if _, err := w.Write(head[:]); err != nil {
		return err
	}
	_, err := w.Write(data)
	return err
}

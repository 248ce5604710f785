package script

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"testing/iotest"
)

// FuzzFrame reads frames of an untrusted sender: each is within its bound and equals what
// was sent, and the end of the stream differs from a truncated frame.
func FuzzFrame(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x02{}"), 10)
	f.Add([]byte("\x00\x00\x00\x02{}\x00\x00\x00\x00"), 2)
	f.Add([]byte("\x00\x00\x00\x02{"), 10)
	f.Add([]byte("\x00\x00"), 10)
	f.Add([]byte("\xff\xff\xff\xffx"), 10)
	f.Add([]byte(""), 0)
	f.Fuzz(func(t *testing.T, stream []byte, most int) {
		most = min(max(most, 0), 1<<20)
		reader := iotest.OneByteReader(bytes.NewReader(stream))
		var again bytes.Buffer
		var buffer []byte
		for {
			frame, err := readFrame(reader, buffer, most)
			if err != nil {
				rest := stream[again.Len():]
				switch {
				case errors.Is(err, io.EOF):
					if len(rest) != 0 {
						t.Fatalf("the end, with %q left; want none", rest)
					}
				case errors.Is(err, io.ErrUnexpectedEOF):
					if len(rest) == 0 {
						t.Fatal("the middle of a frame, with nothing left")
					}
				case !errors.Is(err, errFrame):
					t.Fatal(err)
				}
				return
			}
			if len(frame) > most {
				t.Fatalf("%d bytes of at most %d, want at most %v", len(frame), most, most)
			}
			if err := writeFrame(&again, frame); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(again.Bytes(), stream[:again.Len()]) {
				t.Fatalf("read %q from %q", again.Bytes(), stream)
			}
			buffer = frame
		}
	})
}

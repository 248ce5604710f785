package mail

import "io"

// letters lets through what base64 is made of, up to where its padding begins.
type letters struct{ source io.Reader }

// Read gives the next of them.
func (l *letters) Read(b []byte) (int, error) {
	for {
		n, err := l.source.Read(b)
		kept := 0
		for _, c := range b[:n] {
			if c == '=' {
				l.source = ending{}
				return kept, io.EOF
			}
			if isWordLetter(rune(c)) || c == '+' || c == '/' {
				b[kept] = c
				kept++
			}
		}
		if kept > 0 || err != nil || len(b) == 0 {
			return kept, err
		}
	}
}

// ending is at its end.
type ending struct{}

func (ending) Read([]byte) (int, error) { return 0, io.EOF }

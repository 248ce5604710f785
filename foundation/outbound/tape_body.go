package outbound

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"strings"
)

// copied is a body of which a copy is kept, up to one byte more than MaxTaped.
type copied struct {
	io.ReadCloser
	tape *Tape           // whose mu guards what follows
	body []byte          //
	size int64           // how many bytes were read
	done func(err error) // called once at the end, with mu held; nil error = all was read; may be nil
	over bool            // it was
}

// Read reads on, and tells done when the end is reached.
func (c *copied) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.tape.mu.Lock()
	defer c.tape.mu.Unlock()
	if c.size += int64(n); !c.over {
		c.body = append(c.body, p[:min(n, MaxTaped+1-len(c.body))]...)
	}
	if err == io.EOF {
		c.end(nil)
	} else if err != nil {
		c.end(err)
	}
	return n, err
}

// Close tells done that nobody reads on.
func (c *copied) Close() error {
	err := c.ReadCloser.Close()
	c.tape.mu.Lock()
	defer c.tape.mu.Unlock()
	c.end(errLeft)
	return err
}

// errLeft means that a body was not read to its end.
var errLeft = errors.New("not read to its end")

// end takes note of the end. The tape's mu is held.
func (c *copied) end(err error) {
	if c.over || c.done == nil {
		return
	}
	c.over = true
	c.done(err)
}

// readable gives a body as it reads, and false when it cannot be: what is
// compressed could hide anything.
func readable(header http.Header, body []byte) (plain []byte, ok bool) {
	coding := strings.ToLower(strings.TrimSpace(header.Get("Content-Encoding")))
	switch {
	case len(body) == 0, coding == "", coding == "identity":
		return body, true
	case coding != "gzip" && coding != "x-gzip":
		return nil, false
	}
	reader, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, false
	}
	plain, err = io.ReadAll(io.LimitReader(reader, MaxTaped+1))
	if err != nil && len(plain) == 0 {
		return nil, false
	}
	return plain, true
}

package outbound

import (
	"errors"
	"io"
)

// ErrTooLarge says that a body has more bytes than the caller takes.
var ErrTooLarge = errors.New("the answer is too large")

// ReadAll reads a body to its end, up to a limit in bytes; one byte more is
// ErrTooLarge. The body of an answer that the client decompressed counts
// decompressed, and no more of it is ever decompressed than the limit.
func ReadAll(body io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(body, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, ErrTooLarge
	}
	return data, nil
}

package blueprintdtest

import (
	"bytes"
	"context"
	"io"
	"net/http"

	blueprintd "blueprintd/clients/go"
)

// Error is the server's refusal of a call.
type Error = blueprintd.Error

// Issue is one fault of an input.
type Issue = blueprintd.Issue

// Query calls a procedure that reads, and decodes its answer into out, as
// json.Unmarshal does, unless that is nil. A refusal is an *Error.
func (s *Server) Query(ctx context.Context, procedure string, input, out any) error {
	return s.Client.Query(ctx, procedure, input, out)
}

// Mutate calls a procedure that changes something, as Query does one that reads.
func (s *Server) Mutate(ctx context.Context, procedure string, input, out any) error {
	return s.Client.Mutate(ctx, procedure, input, out)
}

// Reply is the answer to a request.
type Reply struct {
	Status int
	Header http.Header
	Body   []byte
}

// request sends a body of JSON; headers are names and values in turn, which go
// before the content type.
func (s *Server) request(ctx context.Context, method, address string, body []byte, headers ...string) (*Reply, error) {
	request, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := s.Client.HTTP.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	return &Reply{response.StatusCode, response.Header, data}, nil
}

package blueprintdtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// Error is what a server answers to a call that it refuses.
type Error struct {
	Code       string  // NOT_FOUND, TOO_MANY_REQUESTS, ...
	HTTPStatus int     // 404, 429, ...
	Path       string  // the procedure
	Message    string  // for people
	Issues     []Issue // what is wrong with the input, each by its place
	// RetryAfter is how long the server asks to wait; 0 = it does not.
	RetryAfter time.Duration
}

// Issue is one thing that is wrong with an input.
type Issue struct {
	Path    []any  `json:"path"` // keys and positions, outermost first
	NodeID  string `json:"nodeId"`
	Message string `json:"message"`
}

// Error says what was refused and why.
func (e *Error) Error() string {
	return fmt.Sprintf("%s: %s (%s, %d)", e.Path, e.Message, e.Code, e.HTTPStatus)
}

// Query calls a procedure that only reads, and decodes its answer into out, as
// json.Unmarshal does, unless that is nil. A refusal is an *Error.
func (s *Server) Query(ctx context.Context, procedure string, input, out any) error {
	address := s.URL + "/" + procedure
	if input != nil {
		data, err := envelope(input)
		if err != nil {
			return err
		}
		address += "?input=" + url.QueryEscape(string(data))
	}
	return s.procedure(ctx, http.MethodGet, procedure, address, nil, out)
}

// Mutate calls a procedure that changes something, as Query does one that reads.
func (s *Server) Mutate(ctx context.Context, procedure string, input, out any) error {
	data, err := envelope(input)
	if err != nil {
		return err
	}
	return s.procedure(ctx, http.MethodPost, procedure, s.URL+"/"+procedure, data, out)
}

func envelope(input any) ([]byte, error) {
	if input == nil {
		input = struct{}{}
	}
	return json.Marshal(map[string]any{"json": input})
}

// procedure calls, and takes the answer out of its envelope.
func (s *Server) procedure(ctx context.Context, method, name, address string, body []byte, out any) error {
	reply, err := s.request(ctx, method, address, body, "Authorization", "Bearer "+s.APIKey)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	var answer struct {
		Result struct {
			Data struct {
				JSON json.RawMessage `json:"json"`
			} `json:"data"`
		} `json:"result"`
		Error *struct {
			JSON struct {
				Message string `json:"message"`
				Data    struct {
					Code   string  `json:"code"`
					Issues []Issue `json:"issues"`
				} `json:"data"`
			} `json:"json"`
		} `json:"error"`
	}
	bad := json.Unmarshal(reply.Body, &answer)
	if answer.Error != nil || reply.Status >= http.StatusBadRequest {
		refusal := &Error{HTTPStatus: reply.Status, Path: name, Message: string(reply.Body), Code: http.StatusText(reply.Status)}
		if answer.Error != nil {
			refusal.Message, refusal.Code, refusal.Issues = answer.Error.JSON.Message, answer.Error.JSON.Data.Code, answer.Error.JSON.Data.Issues
		}
		if wait, err := time.ParseDuration(reply.Header.Get("Retry-After") + "s"); err == nil {
			refusal.RetryAfter = wait
		}
		return refusal
	}
	if bad != nil {
		return fmt.Errorf("%s: the answer is no JSON: %w", name, bad)
	}
	if out == nil || len(answer.Result.Data.JSON) == 0 {
		return nil
	}
	if err := json.Unmarshal(answer.Result.Data.JSON, out); err != nil {
		return fmt.Errorf("%s: the answer does not fit: %w", name, err)
	}
	return nil
}

// Reply is what came back to a request.
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
	response, err := s.http.Do(request)
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

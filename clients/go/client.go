package blueprintd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	callTimeout  = time.Minute
	maxAnswer    = 256 << 20
	maxRetryWait = 30 * time.Second
	basePath     = "/api/trpc"
)

// Client calls the procedures of a server. It is safe for concurrent use.
type Client struct {
	Address string // http://127.0.0.1:8787, with or without /api/trpc
	Key     string // API key; "" = none

	// HTTP sends the requests. Nil means a client with a time limit of a minute that
	// follows no redirects, so that the key is not sent to another host.
	HTTP *http.Client

	// Attempts is the maximum number of attempts of a call while the server answers that it
	// is busy, with the delay that the server asks for, at most 30 s. Values below 2 mean
	// one attempt.
	Attempts int
}

var defaultHTTP = &http.Client{
	Timeout:       callTimeout,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// Query calls a procedure that reads. The input is encoded as JSON; nil sends none. The
// result is decoded into output, a pointer, like json.Unmarshal; nil ignores it, and a
// *json.RawMessage receives it unchanged.
func (c *Client) Query(ctx context.Context, procedure string, input, output any) error {
	path := procedure
	if input != nil {
		text, err := json.Marshal(envelope{input})
		if err != nil {
			return fmt.Errorf("%s: input: %w", procedure, err)
		}
		path += "?input=" + url.QueryEscape(string(text))
	}
	return c.call(ctx, http.MethodGet, procedure, path, nil, output)
}

// Mutate calls a procedure that changes something. Input and output are those of Query,
// except that a nil input means an empty object.
func (c *Client) Mutate(ctx context.Context, procedure string, input, output any) error {
	if input == nil {
		input = struct{}{}
	}
	body, err := json.Marshal(envelope{input})
	if err != nil {
		return fmt.Errorf("%s: input: %w", procedure, err)
	}
	return c.call(ctx, http.MethodPost, procedure, procedure, body, output)
}

// envelope wraps inputs and results on the wire.
type envelope struct {
	JSON any `json:"json"`
}

// call makes requests until the server is not busy or Attempts is reached.
func (c *Client) call(ctx context.Context, method, procedure, path string, body []byte, output any) error {
	for attempt := 1; ; attempt++ {
		err := c.once(ctx, method, procedure, path, body, output)
		var refused *Error
		if !errors.As(err, &refused) || !refused.Busy() || attempt >= c.Attempts {
			return err
		}
		timer := time.NewTimer(min(max(refused.RetryAfter, time.Second), maxRetryWait))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		}
	}
}

// once makes one request.
func (c *Client) once(ctx context.Context, method, procedure, path string, body []byte, output any) error {
	address := strings.TrimSuffix(strings.TrimRight(c.Address, "/"), basePath)
	request, err := http.NewRequestWithContext(ctx, method, address+basePath+"/"+path, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("%s: %w", procedure, err)
	}
	if c.Key != "" {
		request.Header.Set("Authorization", "Bearer "+c.Key)
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	client := c.HTTP
	if client == nil {
		client = defaultHTTP
	}
	response, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("%s: %s cannot be reached: %w", procedure, address, cause(err))
	}
	defer response.Body.Close()
	data, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("%s: the answer of %s broke off: %w", procedure, address, cause(err))
	}
	payload, err := open(procedure, response, data)
	if err != nil || output == nil || len(payload) == 0 {
		return err
	}
	if err := json.Unmarshal(payload, output); err != nil {
		return fmt.Errorf("%s: decode the answer: %w", procedure, err)
	}
	return nil
}

// cause returns the reason why a request failed, without its address, which may be long.
func cause(err error) error {
	if wrapped, ok := err.(*url.Error); ok { //nolint:errorlint // only the outermost one names the address
		return wrapped.Err
	}
	return err
}

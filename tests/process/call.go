package process

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	blueprintd "blueprintd/clients/go"
)

// Client calls a server. Several goroutines may use it at once.
type Client struct {
	Key  string // API key, for procedures
	HTTP *http.Client

	address atomic.Pointer[string]
}

// NewClient makes a client of the server at an address, http://host:port.
func NewClient(address, key string, client *http.Client) *Client {
	c := &Client{Key: key, HTTP: client}
	c.Open(address)
	return c
}

// Open sets the address of the server; "" = it is down.
func (c *Client) Open(address string) { c.address.Store(&address) }

// Address returns the address of the server; "" = it is down.
func (c *Client) Address() string { return *c.address.Load() }

// ErrDown is the error of a call while the server is known to be down.
var ErrDown = errors.New("the server is down")

// Answer is the response of a server. If there is none, Err is the reason, and the effect
// is unknown.
type Answer struct {
	Status int
	Header http.Header // of a procedure, nil
	Body   []byte      // of a successful procedure, its payload
	Value  any         // Body as JSON
	Err    error

	RetryAfter time.Duration // the requested delay; 0 = none
}

// OK reports whether the request succeeded.
func (a Answer) OK() bool { return a.Err == nil && a.Status >= 200 && a.Status < 300 }

// Text returns a string in the response by its path.
func (a Answer) Text(path ...string) string {
	text, _ := At(a.Value, path...).(string)
	return text
}

func (a Answer) String() string {
	if a.Err != nil {
		return a.Err.Error()
	}
	return fmt.Sprintf("%d %.300s", a.Status, strings.TrimSpace(string(a.Body)))
}

// At follows keys into a JSON value; a key may be several joined by dots. It returns nil
// for a missing one.
func At(value any, path ...string) any {
	for _, keys := range path {
		for key := range strings.SplitSeq(keys, ".") {
			o, _ := value.(map[string]any)
			value = o[key]
		}
	}
	return value
}

// Do makes a request. A non-nil body is sent as JSON; headers are alternating names and
// values.
func (c *Client) Do(ctx context.Context, method, path string, body any, headers ...string) Answer {
	address := c.Address()
	if address == "" {
		return Answer{Err: ErrDown}
	}
	var content io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return Answer{Err: err}
		}
		content = bytes.NewReader(data)
	}
	request, err := http.NewRequestWithContext(ctx, method, address+path, content)
	if err != nil {
		return Answer{Err: err}
	}
	request.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := c.HTTP.Do(request)
	if err != nil {
		return Answer{Err: err}
	}
	defer response.Body.Close()
	a := Answer{Status: response.StatusCode, Header: response.Header}
	if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil {
		a.RetryAfter = time.Duration(seconds) * time.Second
	}
	if a.Body, a.Err = io.ReadAll(response.Body); a.Err == nil && len(a.Body) > 0 {
		a.Err = json.Unmarshal(a.Body, &a.Value)
	}
	return a
}

// Mutate calls a mutation.
func (c *Client) Mutate(ctx context.Context, procedure string, input map[string]any) Answer {
	return c.call(ctx, (*blueprintd.Client).Mutate, procedure, input)
}

// Query calls a query.
func (c *Client) Query(ctx context.Context, procedure string, input map[string]any) Answer {
	return c.call(ctx, (*blueprintd.Client).Query, procedure, input)
}

// call converts the outcome of a call to an Answer, also for a refusal.
func (c *Client) call(ctx context.Context, call func(*blueprintd.Client, context.Context, string, any, any) error, procedure string, input map[string]any) Answer {
	address := c.Address()
	if address == "" {
		return Answer{Err: ErrDown}
	}
	a := Answer{Status: http.StatusOK}
	var body json.RawMessage
	var refused *blueprintd.Error
	switch err := call(&blueprintd.Client{Address: address, Key: c.Key, HTTP: c.HTTP}, ctx, procedure, input, &body); {
	case errors.As(err, &refused):
		a.Status, a.RetryAfter, a.Body = refused.HTTPStatus, refused.RetryAfter, refused.Body
		a.Err = json.Unmarshal(a.Body, &a.Value)
	case err != nil:
		return Answer{Err: err}
	case len(body) > 0:
		a.Body = body
		a.Err = json.Unmarshal(a.Body, &a.Value)
	}
	return a
}

// Create calls a procedure that creates something, and returns its id.
func (c *Client) Create(ctx context.Context, procedure string, input map[string]any) (id string, err error) {
	a := c.Mutate(ctx, procedure, input)
	if id = a.Text("id"); !a.OK() || id == "" {
		return "", fmt.Errorf("%s: %s", procedure, a)
	}
	return id, nil
}

package process

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
	"sync/atomic"
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

// Open says where the server is from now on; "" = it is down.
func (c *Client) Open(address string) { c.address.Store(&address) }

// Address is where the server is just now; "" = it is down.
func (c *Client) Address() string { return *c.address.Load() }

// ErrDown is the error of a call while the server is known to be down.
var ErrDown = errors.New("the server is down")

// Answer is what a server said. Without one, Err tells why, and what the server
// did is unknown.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
	Value  any // Body as JSON: of a procedure that went well, its payload
	Err    error
}

// OK tells whether the server did what was asked.
func (a Answer) OK() bool { return a.Err == nil && a.Status >= 200 && a.Status < 300 }

// Text gives a string of the answer by its path.
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

// At follows keys into a JSON value; what is not there is nil.
func At(value any, path ...string) any {
	for _, key := range path {
		o, _ := value.(map[string]any)
		value = o[key]
	}
	return value
}

// Do makes a request. A body that is not nil is sent as JSON; headers are names
// and values in turn.
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
	if a.Body, a.Err = io.ReadAll(response.Body); a.Err == nil && len(a.Body) > 0 {
		a.Err = json.Unmarshal(a.Body, &a.Value)
	}
	return a
}

// Mutate calls a procedure that changes something.
func (c *Client) Mutate(ctx context.Context, procedure string, input map[string]any) Answer {
	return c.call(ctx, http.MethodPost, procedure, map[string]any{"json": input})
}

// Query calls a procedure that changes nothing.
func (c *Client) Query(ctx context.Context, procedure string, input map[string]any) Answer {
	data, err := json.Marshal(map[string]any{"json": input})
	if err != nil {
		return Answer{Err: err}
	}
	return c.call(ctx, http.MethodGet, procedure+"?input="+url.QueryEscape(string(data)), nil)
}

func (c *Client) call(ctx context.Context, method, procedure string, body any) Answer {
	a := c.Do(ctx, method, "/api/trpc/"+procedure, body, "Authorization", "Bearer "+c.Key)
	if a.OK() {
		a.Value = At(a.Value, "result", "data", "json")
	}
	return a
}

// Create calls a procedure that makes something, and gives the id of that.
func (c *Client) Create(ctx context.Context, procedure string, input map[string]any) (id string, err error) {
	a := c.Mutate(ctx, procedure, input)
	if id = a.Text("id"); !a.OK() || id == "" {
		return "", fmt.Errorf("%s: %s", procedure, a)
	}
	return id, nil
}

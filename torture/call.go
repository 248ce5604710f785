package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"
)

// door is where the server is reached just now; "" while it is down.
type door struct {
	address atomic.Pointer[string]
	client  *http.Client
}

func newDoor() *door {
	d := &door{client: &http.Client{Timeout: 40 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 32, IdleConnTimeout: 5 * time.Second}}}
	d.open("")
	return d
}

func (d *door) open(address string) { d.address.Store(&address) }

// answer is what a server said. Without one, err tells why, and what the
// server did is unknown.
type answer struct {
	status int
	body   []byte
	value  any // the body as JSON: of a procedure that went well, its payload
	err    error
}

func (a answer) ok() bool { return a.err == nil && a.status >= 200 && a.status < 300 }

// text gives a string of the answer by its path.
func (a answer) text(path ...string) string {
	text, _ := at(a.value, path...).(string)
	return text
}

func (a answer) String() string {
	if a.err != nil {
		return a.err.Error()
	}
	return fmt.Sprintf("%d %.300s", a.status, a.body)
}

// at follows keys into a JSON value; what is not there is nil.
func at(value any, path ...string) any {
	for _, key := range path {
		o, _ := value.(object)
		value = o[key]
	}
	return value
}

func (d *door) do(ctx context.Context, method, path string, body any, headers ...string) answer {
	address := *d.address.Load()
	if address == "" {
		return answer{err: errDown}
	}
	var content io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return answer{err: err}
		}
		content = bytes.NewReader(data)
	}
	request, err := http.NewRequestWithContext(ctx, method, address+path, content)
	if err != nil {
		return answer{err: err}
	}
	request.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := d.client.Do(request)
	if err != nil {
		return answer{err: err}
	}
	defer response.Body.Close()
	a := answer{status: response.StatusCode}
	if a.body, a.err = io.ReadAll(response.Body); a.err == nil && len(a.body) > 0 {
		a.err = json.Unmarshal(a.body, &a.value)
	}
	return a
}

var errDown = fmt.Errorf("the server is down")

// mutate and query call a procedure.
func (d *door) mutate(ctx context.Context, name string, input object) answer {
	return payload(d.do(ctx, http.MethodPost, "/api/trpc/"+name, object{"json": input}, "Authorization", "Bearer "+apiKey))
}

func (d *door) query(ctx context.Context, name string, input object) answer {
	data, err := json.Marshal(object{"json": input})
	if err != nil {
		return answer{err: err}
	}
	return payload(d.do(ctx, http.MethodGet, "/api/trpc/"+name+"?input="+url.QueryEscape(string(data)), nil, "Authorization", "Bearer "+apiKey))
}

func payload(a answer) answer {
	if a.ok() {
		a.value = at(a.value, "result", "data", "json")
	}
	return a
}

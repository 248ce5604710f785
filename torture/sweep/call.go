package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

type object = map[string]any

// api calls a server.
type api struct {
	address string
	key     string
	client  *http.Client
}

func newAPI(address, key string) *api {
	return &api{address, key, &http.Client{Timeout: 15 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 16}}}
}

func (c *api) close() { c.client.CloseIdleConnections() }

// answer is what a server said; without one, err tells why.
type answer struct {
	status     int
	retryAfter string
	body       []byte
	value      any // the body as JSON: of a procedure that went well, its payload
	err        error
}

func (a answer) ok() bool { return a.err == nil && a.status >= 200 && a.status < 300 }

// refused tells whether the server said that it did not do what was asked.
func (a answer) refused() bool { return a.err == nil && a.status >= 400 }

// doubtful tells whether the server refused because its disk had failed: it
// could not know then what became of the writes under way.
func (a answer) doubtful() bool {
	return a.refused() && bytes.Contains(a.body, []byte("the database has failed"))
}

func (a answer) text(path ...string) string {
	found, _ := at(a.value, path...).(string)
	return found
}

func (a answer) String() string {
	if a.err != nil {
		return a.err.Error()
	}
	return fmt.Sprintf("%d %.200s", a.status, strings.TrimSpace(string(a.body)))
}

// at follows keys into a JSON value; what is not there is nil.
func at(value any, path ...string) any {
	for _, key := range path {
		o, _ := value.(object)
		value = o[key]
	}
	return value
}

func (c *api) do(method, path string, body any) answer {
	var content io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return answer{err: err}
		}
		content = bytes.NewReader(data)
	}
	request, err := http.NewRequest(method, c.address+path, content)
	if err != nil {
		return answer{err: err}
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+c.key)
	response, err := c.client.Do(request)
	if err != nil {
		return answer{err: err}
	}
	defer response.Body.Close()
	a := answer{status: response.StatusCode, retryAfter: response.Header.Get("Retry-After")}
	if a.body, a.err = io.ReadAll(response.Body); a.err == nil && len(a.body) > 0 {
		a.err = json.Unmarshal(a.body, &a.value)
	}
	return a
}

func (c *api) mutate(name string, input object) answer {
	return payload(c.do(http.MethodPost, "/api/trpc/"+name, object{"json": input}))
}

func (c *api) query(name string, input object) answer {
	data, err := json.Marshal(object{"json": input})
	if err != nil {
		return answer{err: err}
	}
	return payload(c.do(http.MethodGet, "/api/trpc/"+name+"?input="+url.QueryEscape(string(data)), nil))
}

func payload(a answer) answer {
	if a.ok() {
		a.value = at(a.value, "result", "data", "json")
	}
	return a
}

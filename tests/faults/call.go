package main

import (
	"bytes"
	"context"
	"net/http"
	"time"

	"blueprintd/tests/process"
)

type object = map[string]any

// api calls a server.
type api struct{ client *process.Client }

func newAPI(address, key string) *api {
	return &api{process.NewClient(address, key, &http.Client{Timeout: 15 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 16}})}
}

func (c *api) close() { c.client.HTTP.CloseIdleConnections() }

type answer = process.Answer

// refused tells whether the server said that it did not do what was asked.
func refused(a answer) bool { return a.Err == nil && a.Status >= 400 }

// doubtful tells whether the server refused because its disk had failed, and it
// could not know what became of the writes under way; or because the disk takes
// nothing now, and said that the order takes effect later.
func doubtful(a answer) bool {
	return refused(a) && (bytes.Contains(a.Body, []byte("the database has failed")) || bytes.Contains(a.Body, []byte("it takes effect once the disk does")))
}

func (c *api) deliver(webhook string, body any) answer {
	return c.client.Do(context.Background(), http.MethodPost, "/webhooks/blueprint/"+webhook, body, "Authorization", "Bearer "+c.client.Key)
}

func (c *api) mutate(name string, input object) answer {
	return c.client.Mutate(context.Background(), name, input)
}

func (c *api) query(name string, input object) answer {
	return c.client.Query(context.Background(), name, input)
}

package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"time"

	"blueprintd/tests/process"
)

// nextKey is the API key of the next server if no client received an earlier one.
const nextKey = "key-of-the-next-start"

// verify starts a server on the remaining files and compares its state with the responses.
func (w *worker) verify(folder string, known *expectations) (wrong []string, doubtful int, err error) {
	arguments := known.arguments()
	key := known.shared.key
	if key == "" {
		key = nextKey
		arguments = append(arguments, "--api-key", key)
	}
	s, err := w.launch(folder, arguments...)
	if err != nil {
		return nil, 0, err
	}
	defer s.Kill()
	began := now()
	address, _ := s.await(maxWait)
	if address == "" {
		return []string{fmt.Sprintf("the next start is not ready after %d ms: %s", now().Sub(began).Milliseconds(), s.logTail())}, 0, nil
	}
	c := newAPI(address, key)
	defer c.close()
	if known.form != nil {
		wrong = known.form.check(c)
	} else {
		found, err := c.state(known)
		if err != nil {
			return []string{fmt.Sprintf("the next server does not answer: %v; %s", err, s.logTail())}, 0, nil
		}
		if known.items[resource{"blueprint", sampleTitle}] == nil {
			delete(found, resource{"blueprint", sampleTitle}) // no client received its id
		}
		wrong, doubtful = known.compare(found)
	}
	c.close()
	stopped := now()
	if err := s.stop(); err != nil {
		wrong = append(wrong, fmt.Sprintf("the next server ended with %v: %s", err, s.logTail()))
	} else if late := now().Sub(stopped); late > 5*time.Second {
		wrong = append(wrong, fmt.Sprintf("the next server took %d ms to end", late.Milliseconds()))
	}
	damage, err := checkDatabase(folder)
	if err != nil {
		damage = append(damage, fmt.Sprintf("the database cannot be checked: %v", err))
	}
	if known.form != nil {
		damage = append(damage, known.form.checkFiles(folder)...)
	}
	return append(wrong, damage...), doubtful, nil
}

type object = map[string]any

// api calls a server.
type api struct{ client *process.Client }

func newAPI(address, key string) *api {
	return &api{process.NewClient(address, key, &http.Client{Timeout: 15 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 16}})}
}

func (c *api) close() { c.client.HTTP.CloseIdleConnections() }

type answer = process.Answer

// refused reports whether the server said that it did not carry out the request.
func refused(a answer) bool { return a.Err == nil && a.Status >= 400 }

// doubtful reports whether the server refused because its disk had failed and the result of
// pending writes is unknown, or because the disk rejects writes now and the change takes
// effect later.
func doubtful(a answer) bool {
	return refused(a) && (bytes.Contains(a.Body, []byte("the database has failed")) || bytes.Contains(a.Body, []byte("the command takes effect once it does")))
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

package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"blueprintd/tests/process"
)

const apiKey = "key-of-the-torturer"

type answer = process.Answer

// door is the way to the server with the key. It takes down what is changed
// through it.
type door struct {
	*process.Client
	minutes *minutes
}

// newDoor makes the client that everybody uses. The server is down as yet.
func newDoor() *door {
	client := &http.Client{Timeout: 40 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 32, IdleConnTimeout: 5 * time.Second}}
	return &door{process.NewClient("", apiKey, client), &minutes{}}
}

// Mutate calls a procedure that changes something.
func (d *door) Mutate(ctx context.Context, procedure string, input object) answer {
	sent := now()
	a := d.Client.Mutate(ctx, procedure, input)
	d.minutes.note(byKey, sent, procedure, input, a)
	return a
}

// Create calls a procedure that makes something, and gives the id of that.
func (d *door) Create(ctx context.Context, procedure string, input object) (id string, err error) {
	a := d.Mutate(ctx, procedure, input)
	if id = a.Text("id"); !a.OK() || id == "" {
		return "", fmt.Errorf("%s: %s", procedure, a)
	}
	return id, nil
}

// Do makes a request. One that fires a trigger changes something, unless it is
// answered with what another has started.
func (d *door) Do(ctx context.Context, method, path string, body any, headers ...string) answer {
	sent := now()
	a := d.Client.Do(ctx, method, path, body, headers...)
	rest, fires := strings.CutSuffix(path, "/fire")
	if trigger, fires2 := strings.CutPrefix(rest, "/v1/triggers/"); fires && fires2 && !(a.OK() && a.Status != http.StatusAccepted) {
		told := a
		told.Value = nil // its line does not say which run it was
		d.minutes.note(byKey, sent, "blueprintTriggers.fire", object{"triggerId": trigger}, told)
	}
	return a
}

package main

import (
	"slices"
	"sync"
)

// expectations records the responses of the server for each resource, and so the states in which it
// may be found later.
type expectations struct {
	mu     sync.Mutex
	items  map[resource]*expectation
	shared sharedObjects
	form   *form // nil = the database of the clients
}

// arguments returns the additional arguments of a server.
func (e *expectations) arguments() []string {
	if e.form == nil {
		return nil
	}
	return []string{"--clock", "virtual=" + e.form.Now}
}

// resource is something that a client created: a blueprint, trigger, key or run, by a unique
// name.
type resource struct{ kind, name string }

// absent is the state of a resource that does not exist.
const absent = "absent"

type expectation struct {
	allowed []string
	// doubtful is a state that was refused when the disk failed. The server cannot know
	// whether it was stored.
	doubtful string
}

// sharedObjects are shared by all clients.
type sharedObjects struct {
	key                           string
	main, human, slow             string // blueprints
	waitingWebhook, promptWebhook string // triggers
}

func newExpectations() *expectations { return &expectations{items: map[resource]*expectation{}} }

func (e *expectations) clone() *expectations {
	e.mu.Lock()
	defer e.mu.Unlock()
	other := newExpectations()
	other.shared, other.form = e.shared, e.form
	for name, f := range e.items {
		other.items[name] = &expectation{slices.Clone(f.allowed), f.doubtful}
	}
	return other
}

// record notes the response to an operation that changes the state of a resource: after
// a success the resource is in that state, after a refusal in the previous one, and
// without a response in either.
func (e *expectations) record(t resource, state string, a answer) {
	e.mu.Lock()
	defer e.mu.Unlock()
	f := e.items[t]
	if f == nil {
		f = &expectation{allowed: []string{absent}}
		e.items[t] = f
	}
	switch {
	case a.OK():
		f.allowed, f.doubtful = []string{state}, ""
	case doubtful(a):
		f.allowed, f.doubtful = append(f.allowed, state), state
	case !refused(a):
		f.allowed = append(f.allowed, state)
	}
}

// certain records a state that is known without a response.
func (e *expectations) certain(t resource, state string) {
	e.record(t, state, answer{Status: 200})
}

// compare compares the expectations with the resources that exist. It returns the contradictions, and
// the number of operations that were refused because the disk failed but carried out.
func (e *expectations) compare(found map[resource]string) (wrong []string, doubtful int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for t, f := range e.items {
		state, there := found[t]
		if !there {
			state = absent
		}
		switch {
		case !slices.Contains(f.allowed, state):
			wrong = append(wrong, t.kind+" "+t.name+" is "+state+", want "+list(f.allowed))
		case state == f.doubtful:
			doubtful++
		}
	}
	for t, state := range found {
		if e.items[t] == nil {
			wrong = append(wrong, t.kind+" "+t.name+" is "+state+", which no client requested")
		}
	}
	slices.Sort(wrong)
	return wrong, doubtful
}

func list(all []string) string {
	text := ""
	for i, one := range all {
		if i > 0 {
			text += " or "
		}
		text += one
	}
	return text
}

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"blueprintd/tests/process"
)

// connection is a connection of the load.
type connection struct {
	name, kind string
	config     object
	id         string
}

// connections are all connections of the load, in order of creation. One is renamed and gets
// another secret repeatedly.
type connections struct {
	all    []*connection
	random *rand.Rand

	mu        sync.Mutex
	published int // the latest acknowledged change
	sent      int // the latest sent change
	scratch   map[string]string
}

func newConnections(seed uint64, at sites) *connections {
	host := strings.TrimPrefix(at.services, "http://")
	bearer := func(name string) object { return object{"type": "bearer", "token": secretOf(name)} }
	mailHost, port, _ := net.SplitHostPort(at.mail)
	mailPort, _ := strconv.Atoi(port)
	return &connections{random: rand.New(rand.NewPCG(seed, 3000)), scratch: map[string]string{}, all: []*connection{
		{name: "guarded", kind: "http", config: object{"auth": object{"type": "bearer", "token": guardedToken(0)}, "hosts": []any{host}}},
		{name: "identity", kind: "oauth2", config: object{"flow": "client_credentials", "tokenUrl": at.services + "/oauth/token", "clientId": "torture", "clientSecret": secretOf("identity"), "scopes": []any{"calls"}, "hosts": []any{host}}},
		{name: "metered", kind: "http", config: object{"auth": object{"type": "oauth2", "connectionId": "@identity"}, "hosts": []any{host}}},
		{name: "model", kind: "ai-provider", config: object{"provider": "openai", "baseUrl": at.services + "/ai/v1", "apiKey": secretOf("model")}},
		{name: "tools", kind: "mcp-server", config: object{"url": at.services + "/tools", "auth": bearer("tools")}},
		{name: "mail", kind: "smtp", config: object{"host": mailHost, "port": mailPort, "username": "torture", "password": secretOf("mail"), "tls": "none", "from": "Torture <torture@example.org>"}},
		{name: "chat", kind: "slack", config: object{"botToken": secretOf("chat"), "baseUrl": at.services + "/slack/api"}},
	}}
}

// create stores them all and records their ids in names as @name.
func (l *connections) create(ctx context.Context, d *apiClient, names map[string]string) error {
	for _, one := range l.all {
		var err error
		if one.id, err = d.Create(ctx, "connection.create", object{"name": one.name, "type": one.kind, "config": resolved(one.config, names)}); err != nil {
			return err
		}
		names["@"+one.name] = one.id
	}
	return nil
}

// work changes the first connection, and creates and deletes others, until loaded ends.
func (l *connections) work(ctx, loaded context.Context, c *client) {
	for process.Pause(loaded, time.Duration(40+l.random.IntN(300))*time.Millisecond) {
		if l.random.IntN(3) > 0 {
			l.change(ctx, c)
		} else {
			l.createOrDelete(ctx, c)
		}
	}
}

func (l *connections) change(ctx context.Context, c *client) {
	l.mu.Lock()
	l.sent++
	n := l.sent
	l.mu.Unlock()
	a := c.api.Mutate(ctx, "connection.update", object{"id": l.all[0].id, "name": fmt.Sprintf("guarded %d", n), "config": object{"auth": object{"type": "bearer", "token": guardedToken(n)}}})
	if c.succeeded(a, "connection.update") {
		l.mu.Lock()
		l.published = n
		l.mu.Unlock()
		c.history.count(func(n *counts) { n.ConnectionChanges++ })
	}
}

// States of a scratch connection, as far as responses say.
const (
	made      = "made"
	requested = "deletion requested" // its deletion was requested, and no response came
	deleted   = "deleted"
)

// createOrDelete creates a connection, or deletes one that it created.
func (l *connections) createOrDelete(ctx context.Context, c *client) {
	id := ""
	for known, state := range l.scratch {
		if state == made {
			id = known
		}
	}
	if id == "" {
		a := c.api.Mutate(ctx, "connection.create", object{"name": "scratch", "type": "slack", "config": object{"botToken": secretOf("scratch")}})
		if c.succeeded(a, "connection.create") {
			l.setState(a.Text("id"), made)
		}
		return
	}
	l.setState(id, requested)
	if c.succeeded(c.api.Mutate(ctx, "connection.delete", object{"id": id}), "connection.delete") {
		l.setState(id, deleted)
		c.history.count(func(n *counts) { n.ConnectionChanges++ })
	}
}

func (l *connections) setState(id, state string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.scratch[id] = state
}

// acknowledged returns the latest acknowledged change.
func (l *connections) acknowledged() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.published
}

// list lists the connections and compares them with the acknowledged state. still means
// that no connection changes at the same time.
func (l *connections) list(ctx context.Context, c *client, still bool) {
	least := l.acknowledged()
	a := c.api.Query(ctx, "connection.list", object{})
	if !c.succeeded(a, "connection.list") {
		return
	}
	c.history.count(func(n *counts) { n.ConnectionLists++ })
	l.mu.Lock()
	defer l.mu.Unlock()
	l.check(c.history, a.Value, least, still)
}

// check checks a listing. The caller holds l.mu.
func (l *connections) check(b *history, listing any, least int, still bool) {
	listed := map[string]any{}
	list, _ := listing.([]any)
	for _, one := range list {
		id, _ := process.At(one, "id").(string)
		listed[id] = one
	}
	for i, one := range l.all {
		there := listed[one.id]
		name, _ := process.At(there, "name").(string)
		number, changed := 0, strings.HasPrefix(name, one.name+" ")
		if changed {
			fmt.Sscanf(name, one.name+" %d", &number)
		}
		switch {
		case there == nil:
			b.violated("I13", "", "the connection %s (%s) is missing", one.name, one.id)
		case process.At(there, "type") != one.kind, name != one.name && !(i == 0 && changed), i == 0 && (number < least || number > l.sent):
			b.violated("I13", "", "the connection %s is %v; change %d was acknowledged, change %d was sent last", one.name, there, least, l.sent)
		}
	}
	for id, state := range l.scratch {
		if still && (state == made && listed[id] == nil || state == deleted && listed[id] != nil) {
			b.violated("I13", "", "the connection %s was acknowledged as %s, and the listing has %v", id, state, listed[id])
		}
	}
}

// test tests a connection through the server, with a real call.
func (l *connections) test(ctx context.Context, c *client, one *connection) {
	a := c.api.Mutate(ctx, "connection.test", object{"id": one.id})
	if !c.succeeded(a, "connection.test") {
		return
	}
	if process.At(a.Value, "ok") != true {
		c.history.violated("I13", "", "the connection %s does not work: %s", one.name, a)
	}
	c.history.count(func(n *counts) { n.ConnectionTests++ })
}

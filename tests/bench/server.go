package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"blueprintd/clients/go/program"
	"blueprintd/tests/process"
)

const apiKey = "key-of-the-benchmark"

// server is the measured program, on its own database file.
type server struct {
	binary, folder string
	environment    []string     // nil = that of this program
	storage        []string     // flags that name the database, and others; nil = a file
	client         *http.Client // nil = the default client
	*program.Process
	address string        // http://host:port
	up      time.Duration // from its start to the first 200 of /readyz
	idle    int64         // resident memory when idle, before any work
}

func (s *server) database() string { return filepath.Join(s.folder, "bench.db") }

// start starts the server and waits until it says that it is ready.
func (s *server) start(ctx context.Context) (err error) {
	storage := s.storage
	if storage == nil {
		storage = []string{"--db", s.database()}
	}
	s.Process, err = program.Start(program.Command{
		Path: s.binary, Folder: s.folder, Env: s.environment, Log: filepath.Join(s.folder, "server.log"), Ready: program.ServerReady,
		Args: append([]string{"serve", "--addr", "127.0.0.1:0", "--api-key", apiKey, "--rate-limit", "0"}, storage...),
	})
	if err != nil {
		return err
	}
	if s.address, err = s.Process.Address(ctx, time.Minute); err == nil {
		err = s.awaitReady(ctx)
	}
	if err != nil {
		s.Kill()
		return fmt.Errorf("the server, see %s: %w", filepath.Join(s.folder, "server.log"), err)
	}
	s.up = now().Sub(s.Started)
	return nil
}

// stop stops the server, which must succeed.
func (s *server) stop() error { return s.Stop(30 * time.Second) }

func (s *server) awaitReady(ctx context.Context) error {
	for end := now().Add(time.Minute); ; {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.address+"/readyz", nil)
		if err != nil {
			return err
		}
		response, err := s.http().Do(request)
		if err != nil {
			return err
		}
		io.Copy(io.Discard, response.Body)
		response.Body.Close()
		if response.StatusCode == http.StatusOK {
			return nil
		}
		if now().After(end) || !process.Pause(ctx, time.Millisecond) {
			return fmt.Errorf("/readyz answers %d", response.StatusCode)
		}
	}
}

// host returns the address in the form of the load generator.
func (s *server) host() string {
	_, host, _ := strings.Cut(s.address, "://")
	return host
}

func (s *server) http() *http.Client { return cmp.Or(s.client, http.DefaultClient) }

type object = map[string]any

// three is the measured flow: three nodes without side effects, the first of which reads
// the name from the input of the run.
func three(name string) []any {
	return []any{
		process.Node("a", "set", object{"values": object{"who": name}}),
		process.Node("b", "template", object{"text": "Hello {{who}}"}),
		process.Node("c", "transform", object{"expression": "upper(input.text)"}),
	}
}

// payload is the body of a webhook, 222 bytes of JSON.
func payload() string { return `{"name":"Ada","pad":"` + strings.Repeat("x", 200) + `"}` }

// greeting is the result of the flow for that payload, as JSON.
const greeting = `"HELLO ADA"`

// flows are the blueprints and triggers stored in the server, by id.
type flows struct {
	wait, accept string // webhooks of the three nodes, by when they respond
	execute      string // the blueprint for blueprint.execute
	pause, ask   string // webhooks of runs that wait for an hour, and for a user
}

func storeFlows(ctx context.Context, s *server) (f flows, err error) {
	client := process.NewClient(s.address, apiKey, s.http())
	blueprint := func(title string, nodes []any) string {
		if err != nil {
			return ""
		}
		var id string
		id, err = client.Create(ctx, "blueprint.create", object{"title": title, "blueprint_map": object{"nodes": nodes}})
		return id
	}
	webhook := func(blueprint string, config object) string {
		if err != nil {
			return ""
		}
		var id string
		id, err = client.Create(ctx, "blueprintTriggers.create", object{"blueprintId": blueprint, "triggerType": "webhook", "config": config})
		return id
	}
	greet := blueprint("three nodes", three("{{inputData.name}}"))
	f.wait, f.accept = webhook(greet, object{"respond": "wait"}), webhook(greet, object{})
	f.execute = blueprint("three nodes, called", three("{{name}}"))
	f.pause = webhook(blueprint("wait", []any{process.Node("w", "wait", object{"durationMs": 3_600_000})}), object{})
	f.ask = webhook(blueprint("human", []any{process.Node("h", "human", object{"prompt": "Go on?"})}), object{})
	return f, err
}

// now returns real time: the server is a real process with a real clock.
func now() time.Time { return time.Now() }

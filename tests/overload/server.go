package main

import (
	"context"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"blueprintd/clients/go/program"
	"blueprintd/tests/process"
)

const apiKey = "key-of-the-crowd"

// server is the program under load.
type server struct {
	*program.Process
	client   *process.Client // leaves no connection open
	address  string          // host:port
	database string          // a file or a URL
	flags    []string        // for commands on the database
}

// launch starts the server on a database of this name and waits until it is
// ready.
func (s *stage) launch(ctx context.Context, name string, flags ...string) (_ *server, err error) {
	log := filepath.Join(s.folder, name+".log")
	p := &server{}
	if p.database, p.flags, err = s.storage(ctx, name); err != nil {
		return nil, err
	}
	p.Process, err = program.Start(program.Command{
		Path: s.options.binary, Folder: s.folder, Log: log, Ready: program.ServerReady,
		Args: slices.Concat([]string{"serve", "--addr", "127.0.0.1:0", "--api-key", apiKey, "--allow-net", "127.0.0.1/32", "--memory-limit", fmt.Sprint(mostMemory)}, p.flags, flags),
	})
	if err != nil {
		return nil, err
	}
	address, err := p.Address(ctx, time.Minute)
	if err != nil {
		p.Kill()
		return nil, fmt.Errorf("the server, see %s: %w", log, err)
	}
	p.address = strings.TrimPrefix(address, "http://")
	p.client = process.NewClient(address, apiKey, &http.Client{Transport: &http.Transport{DisableKeepAlives: true}})
	return p, nil
}

// storage returns the database of a server and the flags that name it.
func (s *stage) storage(ctx context.Context, name string) (database string, flags []string, err error) {
	if s.options.database == "" {
		database = filepath.Join(s.folder, name+".db")
		return database, []string{"--db", database}, nil
	}
	key := filepath.Join(s.folder, name+".key")
	if s.created[name] == "" {
		own := fmt.Sprintf("overload_%s_%d", name, now().UnixNano())
		if err := process.Administer(ctx, s.options.database, "CREATE DATABASE "+own); err != nil {
			return "", nil, err
		}
		s.created[name] = strings.TrimSuffix(s.options.database, "/") + "/" + own
		if out, err := exec.CommandContext(ctx, s.options.binary, "master-key", "create", key).CombinedOutput(); err != nil {
			return "", nil, fmt.Errorf("master-key create: %w: %s", err, out)
		}
	}
	return s.created[name], []string{"--database", s.created[name], "--master-key-file", key}, nil
}

// kill ends the server at once; nil counts as killed.
func (p *server) kill() {
	if p != nil {
		p.Kill()
	}
}

// stop asks the server to end and returns how long it took and how it ended.
func (p *server) stop() (time.Duration, error) {
	began := now()
	err := p.Stop(40 * time.Second)
	return now().Sub(began), err
}

type object = map[string]any

// webhook stores a blueprint with a webhook and returns its path. mode is when it responds:
// "" at once, "wait" at the end.
func (p *server) webhook(ctx context.Context, title, mode string, nodes ...any) (string, error) {
	blueprint, err := p.client.Create(ctx, "blueprint.create", object{"title": title, "blueprint_map": object{"nodes": nodes}})
	if err != nil {
		return "", err
	}
	config := object{}
	if mode != "" {
		config["respond"] = mode
	}
	trigger, err := p.client.Create(ctx, "blueprintTriggers.create", object{"blueprintId": blueprint, "triggerType": "webhook", "config": config})
	return "/webhooks/blueprint/" + strings.ToLower(trigger), err
}

// greet stores the blueprint of well-behaved clients: three nodes, the last of which names
// its run.
func (p *server) greet(ctx context.Context, mode string) (string, error) {
	return p.webhook(ctx, "greet "+mode, mode, process.Node("a", "set", object{"values": object{"who": "{{inputData.name}}"}}),
		process.Node("b", "template", object{"text": "Hello {{who}}"}), process.Node("c", "set", object{"values": object{"executionId": "{{execution.id}}"}}))
}

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

const apiKey = "key-of-the-crowd"

var readyLine = regexp.MustCompile(`is ready on http://(\S+)`)

// server is the program under load.
type server struct {
	cmd      *exec.Cmd
	address  string // host:port
	database string
	ended    chan struct{} // closed when it is gone; then err says how
	err      error
}

// launch starts the server on a database of this name and waits until it is
// ready.
func (s *stage) launch(ctx context.Context, name string, flags ...string) (*server, error) {
	log := filepath.Join(s.folder, name+".log")
	file, err := os.OpenFile(log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	p := &server{database: filepath.Join(s.folder, name+".db"), ended: make(chan struct{})}
	p.cmd = exec.Command(s.options.binary, slices.Concat([]string{"serve", "--addr", "127.0.0.1:0", "--db", p.database, "--api-key", apiKey, "--allow-net", "127.0.0.1/32"}, flags)...)
	p.cmd.Stderr, p.cmd.Dir = file, s.folder
	out, err := p.cmd.StdoutPipe()
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		return nil, err
	}
	ready := make(chan string, 1)
	go func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if match := readyLine.FindStringSubmatch(lines.Text()); match != nil {
				select {
				case ready <- match[1]:
				default:
				}
			}
		}
		p.err = p.cmd.Wait()
		close(p.ended)
	}()
	late := time.NewTimer(time.Minute)
	defer late.Stop()
	select {
	case p.address = <-ready:
		return p, nil
	case <-p.ended:
		return nil, fmt.Errorf("the server ended before it was ready, see %s: %w", log, p.err)
	case <-late.C:
		err = errors.New("the server is not ready after a minute")
	case <-ctx.Done():
		err = ctx.Err()
	}
	p.kill()
	return nil, err
}

func (p *server) pid() int { return p.cmd.Process.Pid }

// kill ends the server at once. No server, and one that has ended, are killed
// already.
func (p *server) kill() {
	if p == nil {
		return
	}
	p.cmd.Process.Kill()
	<-p.ended
}

// stop asks the server to end and gives how long that took and how it ended.
func (p *server) stop() (time.Duration, error) {
	began := now()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return 0, err
	}
	late := time.AfterFunc(40*time.Second, func() { p.cmd.Process.Kill() })
	defer late.Stop()
	<-p.ended
	return now().Sub(began), p.err
}

type object = map[string]any

// mutate calls a procedure and gives a text of its answer by name.
func (p *server) mutate(ctx context.Context, procedure string, input object, name string) (string, error) {
	data, err := json.Marshal(object{"json": input})
	if err != nil {
		return "", err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+p.address+"/api/trpc/"+procedure, bytes.NewReader(data))
	if err != nil {
		return "", err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+apiKey)
	request.Close = true
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return "", err
	}
	var answer struct {
		Result struct {
			Data struct {
				JSON object `json:"json"`
			} `json:"data"`
		} `json:"result"`
	}
	if err := json.Unmarshal(body, &answer); err != nil || response.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%s: %d %.300s", procedure, response.StatusCode, body)
	}
	text, _ := answer.Result.Data.JSON[name].(string)
	return text, nil
}

func node(id, kind string, config object) object {
	return object{"id": id, "type": kind, "title": id, "config": config}
}

// webhook stores a blueprint with a webhook and gives the path of it. mode is
// how it answers: "" at once, "wait" at the end.
func (p *server) webhook(ctx context.Context, title, mode string, nodes ...any) (string, error) {
	blueprint, err := p.mutate(ctx, "blueprint.create", object{"title": title, "blueprint_map": object{"nodes": nodes}}, "id")
	if err != nil {
		return "", err
	}
	config := object{}
	if mode != "" {
		config["respond"] = mode
	}
	trigger, err := p.mutate(ctx, "blueprintTriggers.create", object{"blueprintId": blueprint, "triggerType": "webhook", "config": config}, "id")
	return "/webhooks/blueprint/" + strings.ToLower(trigger), err
}

// greet stores the blueprint of well-behaved clients: three nodes, the last of
// which names its run.
func (p *server) greet(ctx context.Context, mode string) (string, error) {
	return p.webhook(ctx, "greet "+mode, mode, node("a", "set", object{"values": object{"who": "{{inputData.name}}"}}),
		node("b", "template", object{"text": "Hello {{who}}"}), node("c", "set", object{"values": object{"executionId": "{{execution.id}}"}}))
}

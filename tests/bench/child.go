package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"

	"blueprintd/clients/go/program"
)

// child runs the jobs that this program runs in separate processes, so that each has its
// own CPU time. name is the first argument.
func child(name string) (exitCode int, known bool) {
	var err error
	switch name {
	case loadArgument:
		err = serveLoad(os.Stdin, os.Stdout)
	case echoArgument:
		err = serveEcho(os.Stdin, os.Stdout)
	case insertArgument:
		err = serveInsert(os.Stdin, os.Stdout)
	default:
		return 0, false
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, name+":", err)
		return 1, true
	}
	return 0, true
}

// delegate runs a job in a child and returns its result.
func delegate(ctx context.Context, name string, job any) (*result, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(job)
	if err != nil {
		return nil, err
	}
	command := exec.CommandContext(ctx, self, name)
	var errors bytes.Buffer
	command.Stdin, command.Stderr = bytes.NewReader(data), &errors
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %s", name, err, bytes.TrimSpace(errors.Bytes()))
	}
	var r result
	if err := json.Unmarshal(out, &r); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &r, nil
}

// launchSelf starts a child that runs until it is killed.
func launchSelf(name, folder string, ready *regexp.Regexp) (*program.Process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return program.Start(program.Command{Path: self, Args: []string{name}, Folder: folder, Log: filepath.Join(folder, name+".log"), Ready: ready})
}

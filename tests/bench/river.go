package main

import (
	"context"
	_ "embed"
	"path/filepath"

	"blueprintd/clients/go/program"
)

const riverVersion = "0.51.2"

//go:embed peers/river.go.txt
var riverProgram string

// riverQueue is River in one process with as many connections to PostgreSQL as one of
// blueprintd. It completes jobs in batches, and reports a job once that is committed.
// cooldown is how often it fetches jobs at most.
func riverQueue(name, settings, cooldown string) peer {
	return peer{
		name: name, title: "River " + riverVersion + settings, folder: "river-" + riverVersion,
		flow: "a job inserted and waited for", path: "/webhook", answer: greeting,
		install: installRiver,
		command: func(at place) program.Command {
			return program.Command{Path: filepath.Join(at.installed, goPeerProgram), Args: []string{at.host, at.database, cooldown}}
		},
	}
}

func installRiver(ctx context.Context, folder string) error {
	const module = "github.com/riverqueue/river"
	err := writeFiles(folder, map[string]string{
		"go.mod":  "module peer\n\ngo 1.26\n\nrequire (\n\t" + module + " v" + riverVersion + "\n\t" + module + "/riverdriver/riverpgxv5 v" + riverVersion + "\n)\n",
		"main.go": riverProgram,
	})
	if err != nil {
		return err
	}
	return buildGoPeer(ctx, folder)
}

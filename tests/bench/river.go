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
// blueprintd. args are further arguments of its program.
func riverQueue(name, title string, args ...string) peer {
	return peer{
		name: name, title: "River " + riverVersion + ", " + title, folder: goPeerFolder("river-"+riverVersion, riverProgram),
		flow: "a job inserted and waited for", path: "/webhook", answer: greeting,
		install: installRiver,
		command: func(at place) program.Command {
			return program.Command{Path: filepath.Join(at.installed, goPeerProgram), Args: append([]string{at.host, at.database}, args...)}
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

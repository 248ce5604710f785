package main

import (
	"context"
	_ "embed"
	"path/filepath"
	"strconv"

	"blueprintd/clients/go/program"
)

// pocketBaseVersion is the last release for Go 1.26.
const pocketBaseVersion = "0.39.9"

//go:embed peers/pocketbase.go.txt
var pocketBaseProgram string

// pocketBase is a program with PocketBase that stores one record for each request. It runs no
// workflow: it shows what a record costs behind a small server.
var pocketBase = peer{
	name: "pocketbase", title: "PocketBase " + pocketBaseVersion, folder: goPeerFolder("pocketbase-"+pocketBaseVersion, pocketBaseProgram),
	flow: "one record of the same size on PocketBase, no workflow", stores: "one record, in SQLite with `synchronous=NORMAL`", path: "/webhook", answer: greeting,
	size: goPeerProgram,
	install: func(ctx context.Context, folder string) error {
		err := writeFiles(folder, map[string]string{
			"go.mod":  "module peer\n\ngo 1.26\n\nrequire github.com/pocketbase/pocketbase v" + pocketBaseVersion + "\n",
			"main.go": pocketBaseProgram,
		})
		if err != nil {
			return err
		}
		return buildGoPeer(ctx, folder)
	},
	command: func(at place) program.Command {
		return program.Command{
			Path: filepath.Join(at.installed, goPeerProgram), Args: []string{"serve", "--http", at.host, "--dir", at.data},
			Env: []string{"RUN_BYTES=" + strconv.Itoa(at.runSize)},
		}
	},
}

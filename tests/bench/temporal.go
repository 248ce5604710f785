package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"blueprintd/clients/go/program"
)

const (
	temporalModule  = "github.com/temporalio/cli"
	temporalVersion = "1.9.1"
)

var (
	//go:embed peers/temporal.go.txt
	temporalProgram string
	//go:embed peers/temporal_postgresql.go.txt
	temporalPostgreSQL string
)

// temporal is Temporal's development server with a database file, and a worker, in one
// process. Its three steps are local activities, the cheapest kind.
var temporal = peer{
	name: "temporal", title: "Temporal CLI " + temporalVersion + ", development server", folder: goPeerFolder("temporal-"+temporalVersion, temporalProgram+temporalPostgreSQL),
	flow: "a workflow of three local activities on Temporal's development server", stores: "the history of the workflow, in SQLite", path: "/webhook", answer: greeting,
	size:    goPeerProgram,
	install: installTemporal,
	command: func(at place) program.Command {
		return program.Command{Path: filepath.Join(at.installed, goPeerProgram), Args: []string{at.host, at.data}}
	},
}

// temporalOnPostgreSQL is that server with PostgreSQL in place of the file.
var temporalOnPostgreSQL = peer{
	name: "temporal-postgresql", title: "Temporal CLI " + temporalVersion + ", development server on PostgreSQL", folder: temporal.folder,
	flow: temporal.flow, path: temporal.path, answer: temporal.answer,
	install: installTemporal,
	command: func(at place) program.Command {
		command := temporal.command(at)
		command.Args = append(command.Args, at.database)
		return command
	},
}

// The parts of the development server that are replaced, so that it can use PostgreSQL.
var temporalChanges = strings.NewReplacer("func (s *StartOptions) buildSQLConfig()", "func (s *StartOptions) buildSQLiteConfig()", "NumHistoryShards = 1", "NumHistoryShards = historyShards()")

// installTemporal builds the development server from the module of Temporal's CLI. Go cannot
// install that module by its version, because it has a replace directive: the package of
// the server and the requirements are copied into a module of their own.
func installTemporal(ctx context.Context, folder string) error {
	if err := writeFiles(folder, map[string]string{"go.mod": "module peer\n"}); err != nil {
		return err
	}
	download := exec.CommandContext(ctx, "go", "mod", "download", "-json", temporalModule+"@v"+temporalVersion)
	download.Dir, download.Env = folder, append(os.Environ(), goPeerSettings...)
	out, err := download.Output()
	var module struct{ Dir, Error string }
	if json.Unmarshal(out, &module) == nil && module.Error != "" {
		return fmt.Errorf("go mod download: %s", module.Error)
	}
	if err != nil {
		return fmt.Errorf("go mod download: %w", err)
	}
	server := filepath.Join(folder, "devserver")
	if err := os.Mkdir(server, 0o700); err != nil {
		return err
	}
	files := map[string]string{"main.go": temporalProgram, "devserver/postgresql.go": temporalPostgreSQL}
	for name, from := range map[string]string{
		"go.mod": "go.mod", "go.sum": "go.sum",
		"devserver/server.go": "internal/devserver/server.go", "devserver/log.go": "internal/devserver/log.go", "devserver/freeport.go": "internal/devserver/freeport.go",
	} {
		text, err := os.ReadFile(filepath.Join(module.Dir, from))
		if err != nil {
			return err
		}
		files[name] = temporalChanges.Replace(string(text))
	}
	if err := writeFiles(folder, files); err != nil {
		return err
	}
	const nested = temporalModule + "/cliext"
	if err := runIn(ctx, folder, goPeerSettings, "go", "mod", "edit", "-module", "peer", "-dropreplace", nested, "-droprequire", nested); err != nil {
		return err
	}
	return buildGoPeer(ctx, folder)
}

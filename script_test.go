package main

import (
	"database/sql"
	"errors"
	"os/exec"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	// The command blueprintd in scripts is this test binary.
	testscript.Main(m, map[string]func(){"blueprintd": main})
}

// TestScripts runs the scripts of the command line in testdata/script.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", RequireUniqueNames: true, ContinueOnError: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("GOGC", "400") // the processes end before garbage matters
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "triggers": triggerIDs},
	})
}

// exits runs a command and checks its exit code: exits CODE COMMAND...
func exits(script *testscript.TestScript, negated bool, args []string) {
	if negated || len(args) < 2 {
		script.Fatalf("usage: exits CODE COMMAND...")
	}
	code := 0
	var ended *exec.ExitError
	if err := script.Exec(args[1], args[2:]...); errors.As(err, &ended) {
		code = ended.ExitCode()
	} else if err != nil {
		script.Fatalf("%v", err)
	}
	if strconv.Itoa(code) != args[0] {
		script.Fatalf("exit code %d, want %s", code, args[0])
	}
}

// triggerIDs sets $trigger_TYPE to the id of each trigger in a database: triggers FILE.
func triggerIDs(script *testscript.TestScript, negated bool, args []string) {
	if negated || len(args) != 1 {
		script.Fatalf("usage: triggers FILE")
	}
	pool, err := sql.Open("sqlite", "file:"+script.MkAbs(args[0])+"?mode=ro")
	script.Check(err)
	defer pool.Close()
	rows, err := pool.Query("SELECT type, id FROM triggers")
	script.Check(err)
	defer rows.Close()
	for rows.Next() {
		var kind, id string
		script.Check(rows.Scan(&kind, &id))
		script.Setenv("trigger_"+kind, id)
	}
	script.Check(rows.Err())
}

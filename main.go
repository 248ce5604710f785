// Command blueprintd stores blueprints (graphs of nodes), runs them, and
// starts them on a schedule, a webhook, an API call or by hand. It is one
// process with its database inside.
//
// The way of a webhook, socket to stored result: net/http hands the request to
// triggers, which finds the trigger's binding in memory, checks the signature
// over the raw body, and asks engine for a run. The engine walks the
// blueprint's plan; nodes without side effects cost no commit of their own.
// The run and its row in the firing ledger reach the disk in one transaction
// of store's single writer, together with whatever else queued up behind it,
// and only then is the sender answered.
//
// main hands the version and the schema of the database to package command. The folders
// are layers, from below: blueprint, foundation, then store, engine, triggers, rpc,
// connections and web, which do not know each other, then project, server and command.
// What a package needs of another one on its layer it declares as an interface, and
// server connects the two.
package main

import (
	_ "embed"
	"os"
	_ "time/tzdata" // zones on machines that have none

	"blueprintd/command"
	"blueprintd/engine/script"
)

// version is set by the release build.
var version = "0.1.0-dev"

//go:embed schema.sql
var schema string

func main() {
	script.Child() // a process for the code of blueprints is nothing else
	os.Exit(command.Main(command.Program{Version: version, Schema: schema}, os.Args, os.Stdin, os.Stdout, os.Stderr))
}

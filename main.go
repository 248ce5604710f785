// Command blueprintd stores blueprints (graphs of nodes), runs them, and
// starts them on a schedule, a webhook, an API call or by hand. It is one
// process with its database inside.
//
// A webhook takes this path: net/http passes the request to triggers, which finds the
// binding of the trigger in memory, checks the signature of the raw body, and starts a
// run in engine. The engine follows the plan of the blueprint; nodes without side
// effects need no commit of their own. The single writer of store commits the run and
// its row in the firing ledger in one transaction, together with other queued work. Then
// the sender receives the response.
//
// The folders are layers, from the bottom: blueprint, foundation, then store, engine,
// triggers, rpc, connections and web, which do not import each other, then project,
// server and command. A package declares what it needs of another one on its layer as an
// interface, and server connects the two.
package main

import (
	_ "embed"
	"os"
	_ "time/tzdata" // for machines without time zones

	"blueprintd/command"
	"blueprintd/engine/script"
)

// version is set by the release build.
var version = "0.1.0-dev"

//go:embed schema.sql
var schema string

func main() {
	script.Child() // does not return in a process that runs scripts
	os.Exit(command.Main(command.Program{Version: version, Schema: schema}, os.Args, os.Stdin, os.Stdout, os.Stderr))
}

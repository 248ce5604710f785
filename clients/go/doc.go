// Package blueprintd is a client of a blueprintd server.
//
//	client := &blueprintd.Client{Address: "http://127.0.0.1:8787", Key: os.Getenv("BLUEPRINTD_API_KEY")}
//	var made struct{ ID string }
//	err := client.Mutate(ctx, "blueprint.create", map[string]any{"title": "Greeting", "blueprint_map": greeting}, &made)
//
// A server lists its procedures, their inputs and their answers at /openapi.json: those
// under GET are called with Query, those under POST with Mutate. Runs have methods of their
// own: Execute, ExecuteWith, Execution, Wait, Resume and Runs.
//
// A call that the server refuses returns an *[Error]. Package blueprintdtest starts servers
// for tests. Both packages need only the standard library.
package blueprintd

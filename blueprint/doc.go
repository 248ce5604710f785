// Package blueprint defines the types of the service and its rules without I/O.
//
// A Map is a graph of Nodes joined by Edges. A Blueprint stores versions of a Map. A
// Trigger starts a Blueprint. An Execution is one run of one version and consists of
// Steps and LogEntries. Their JSON forms are those of the API: snake_case for blueprints
// and triggers, camelCase for executions.
//
// ParseMap checks the shape of a map, Compile its graph, and a Plan walks the compiled
// graph and determines which nodes may start. A Plan uses no clock, goroutines or I/O
// and does not depend on the iteration order of Go maps, so the same walk drives real
// runs, their recovery after a crash, and simulations.
//
// A NodeType defines what a node does; package engine/nodes has all of them.
//
// A plain JSON value is a Go value as Decode returns it: nil, bool, string, json.Number,
// []any or map[string]any. Numbers keep their digits.
//
// The package imports only the standard library and a library of edit distances.
package blueprint

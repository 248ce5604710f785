// Package blueprint defines the types of the service and its rules without I/O.
//
// The nouns: a Map is a graph of Nodes joined by Edges; a Blueprint stores a
// Map under versions; a Trigger starts it; an Execution is one run of one
// version, made of Steps and LogEntries. Their JSON forms are the ones that
// clients see: blueprints and triggers in snake_case, executions in camelCase.
//
// The rules: ParseMap checks the shape of a map, Compile its graph, and Plan
// walks the compiled graph: it determines which nodes may start. A Plan uses no
// clock, goroutines or I/O and never depends on map order, so the same walk drives
// real runs, their recovery after a crash, and simulations.
//
// A NodeType defines what a node does; package engine/nodes has them. JSON values are plain Go values as Decode makes them: nil, bool,
// string, json.Number, []any and map[string]any; numbers keep their digits.
//
// The package imports only the standard library and a library of edit distances.
package blueprint

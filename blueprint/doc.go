// Package blueprint is the vocabulary of the service and its pure rules.
//
// The nouns: a Map is a graph of Nodes joined by Edges; a Blueprint stores a
// Map under versions; a Trigger starts it; an Execution is one run of one
// version, made of Steps and LogEntries. Their JSON forms are the ones that
// clients see: blueprints and triggers in snake_case, executions in camelCase.
//
// The rules: ParseMap checks the shape of a map, Compile its graph, and Plan
// walks the compiled graph: it says which node may start, and what the end of
// one unlocks. A Plan knows no clock, no goroutine and no I/O and never
// depends on the order of a Go map, so the same walk drives real runs, their
// recovery after a crash, and simulations.
//
// What a node does is a NodeType: a value, made elsewhere, that the engine is
// given. JSON values are plain Go values as Decode makes them: nil, bool,
// string, json.Number, []any and map[string]any; numbers keep their digits.
//
// The package imports nothing but the standard library and what counts misspellings.
package blueprint

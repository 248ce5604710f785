// Package terminal prints for people: lines above a status line, colours, tables and
// JSON without characters that would do something to a terminal.
package terminal

// Package local runs a blueprint in this process, without a server: its journal is in
// memory, and its connections come from a file or are stubs that reach nothing real.
package local

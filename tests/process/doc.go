// Package process is what the tools share that try the real program from
// outside, bench and those of torture: build it, run it as a process, call its
// procedures, read from /proc what it costs. What a tool looks for, and how it
// judges it, is its own.
package process

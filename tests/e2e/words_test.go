package e2e

import "blueprintd/tests/process"

// The exit codes of the program.
const (
	exitFailed = 1
	exitUsage  = 2
)

type object = process.Object

func at(value any, path string) any { return process.At(value, path) }

func node(id, kind string, config object, more ...any) object {
	return process.Node(id, kind, config, more...)
}

func containsAll(text string, parts ...string) bool { return process.ContainsAll(text, parts...) }

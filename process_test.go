package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"blueprintd/engine/script"
	"blueprintd/tests/process"
)

func TestMain(m *testing.M) {
	script.Child() // for the servers that run in this process
	// Scripts call blueprintd as people do; it is this very program.
	testscript.Main(m, map[string]func(){"blueprintd": main})
}

const testKey = process.Key

type (
	object       = process.Object
	lockedBuffer = process.Output
)

// at follows a path of keys into a JSON value; what is not there is nil.
func at(value any, path string) any { return process.At(value, path) }

func node(id, kind string, config object, more ...any) object {
	return process.Node(id, kind, config, more...)
}

package main

import (
	"flag"
	"os"
	"testing"

	"blueprintd/rpc"
)

var update = flag.Bool("update", false, "write golden files")

// TestRouterType compares the type that the dashboard knows the procedures by
// with the procedures that there are.
func TestRouterType(t *testing.T) {
	const name = "web/src/api/router.gen.ts"
	s := &rpc.Service{}
	want := rpc.TypeScript(append(s.Procedures(), s.SessionProcedures()...))
	if *update {
		if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(name)
	if err != nil || string(got) != want {
		t.Errorf("%s is not what the procedures are (%v); go test -run RouterType -update .", name, err)
	}
}

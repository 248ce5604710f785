package trpc_test

import (
	"flag"
	"os"
	"testing"

	"blueprintd/rpc"
	"blueprintd/rpc/trpc"
	"blueprintd/tests/describe"
)

var update = flag.Bool("update", false, "write golden files")

// TestRouterType compares the TypeScript types of the procedures with the procedures: those
// of the dashboard with all of them, those of the npm package with the ones that an API key
// can call.
func TestRouterType(t *testing.T) {
	t.Parallel()
	for name, procedures := range map[string][]trpc.Procedure{
		"../../web/src/api/router.gen.ts":              append(rpc.Procedures(), rpc.DashboardProcedures()...),
		"../../clients/typescript/src/router.gen.d.ts": rpc.Procedures(),
	} {
		t.Run(name, func(t *testing.T) {
			want := describe.TypeScript(procedures)
			if *update {
				if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			got, err := os.ReadFile(name)
			if err != nil || string(got) != want {
				t.Errorf("%s is not what the procedures are (%v); run make goldens", name, err)
			}
		})
	}
}

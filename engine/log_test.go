package engine_test

import (
	"context"
	"strings"
	"testing"

	"blueprintd/engine"
)

// The server's log has one line for each run that failed, and none for others.
func TestFailedRunsAreLogged(t *testing.T) {
	for _, c := range []struct {
		name, lines, want string
		cancel            bool
	}{
		{"completed", "a pass", "", false},
		{"failed and went on", `a fail | {"onError": "continue"}`, "", false},
		{"stopped well", `a stop {"message": "enough"}`, "", false},
		{"failed", "a pass\nb fail {\"message\": \"with {{token}}\", \"code\": \"odd\"}\nc pass", `level=WARN msg="run failed" execution=ID blueprint=BLUEPRINT node=b code=odd error="failed: with ***"`, false},
		{"failed after attempts", `a fail {"times": 5} | {"retry": {"maxAttempts": 3, "delayMs": 0}}`, `level=WARN msg="run failed" execution=ID blueprint=BLUEPRINT node=a code=test error="failed: "`, false},
		{"cancelled", `a ask {"prompt": "?"}`, `level=INFO msg="run failed" execution=ID blueprint=BLUEPRINT node="" code=cancelled error="cancelled: enough"`, true},
	} {
		test(t, func(w *world) {
			d := w.defineWith(c.lines, `[{"name": "token", "secret": true, "default": "`+token+`"}]`)
			h := w.startWith(request(d), engine.Soon)
			w.settle(h.ID)
			if c.cancel {
				if err := w.Engine.Cancel(context.Background(), h.ID, "enough"); err != nil {
					t.Fatal(err)
				}
				w.settle(h.ID)
			}
			w.reboot() // a run that is over is told of once
			var found []string
			for line := range strings.Lines(w.logged()) {
				if strings.Contains(line, "run failed") {
					found = append(found, strings.TrimSpace(line[strings.Index(line, "level="):]))
				}
			}
			want := strings.NewReplacer("=ID ", "="+h.ID+" ", "=BLUEPRINT ", "="+d.BlueprintID+" ").Replace(c.want)
			if got := strings.Join(found, "\n"); got != want {
				t.Errorf("%s:\n got %s\nwant %s", c.name, got, want)
			}
		})
	}
}

package command

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// TestCompletion completes words at the cursor as a shell does.
func TestCompletion(t *testing.T) {
	for _, test := range []struct {
		line string   // the word at the cursor last, if it begins with a dash
		want []string // among the completions; none = there are none, and the shell offers files
		not  []string
	}{
		{"", []string{"serve", "run", "completion", "help"}, []string{"--help", "add"}},
		{"help", []string{"serve", "user"}, []string{"help"}},
		{"help user", []string{"add", "list"}, []string{"serve"}},
		{"user", []string{"add", "list", "link"}, []string{"serve"}},
		{"user add", nil, nil},
		{"user add --e", []string{"--email"}, []string{"--name"}},
		{"completion", []string{"bash"}, nil},
		{"schema", []string{"blueprint", "seed"}, nil},
		{"schema seed", nil, nil},
		{"run", nil, nil},
		{"run -", []string{"--var", "--input", "--help", "-h"}, nil},
		{"run --", []string{"--var", "--input", "--help"}, []string{"-h"}},
		// After an argument, as before it.
		{"run a.yaml", nil, nil},
		{"run a.yaml --", []string{"--var", "--input"}, nil},
		{"run a.yaml --inp", []string{"--input"}, []string{"--var"}},
		{"run a.yaml --input", nil, nil},
		{"run a.yaml --input {} --", []string{"--var"}, []string{"--input"}},
		{"run a.yaml --var a=b --v", []string{"--var"}, nil},
		{"run a.yaml --input - --v", []string{"--var"}, nil},
		{"run --input={} - --", []string{"--var"}, []string{"--input"}},
		{"validate a.yaml b.yaml --", []string{"--strict", "--json"}, nil},
		{"validate a.yaml b.yaml --strict", nil, nil},
		{"validate a.yaml --strict --", []string{"--json"}, []string{"--strict"}},
		{"validate a.yaml -- --strict", nil, nil},
		{"dev flows --cl", []string{"--clock"}, []string{"--db"}},
		{"dev flows --ephem", nil, nil},
		{"sync flows --db x.db", nil, nil},
		{"sync flows --db x.db --a", []string{"--apply", "--adopt"}, nil},
		{"nonsense --", []string{"--help"}, nil},
	} {
		t.Run(test.line, func(t *testing.T) {
			var out, bad bytes.Buffer
			args := append(append([]string{"blueprintd"}, strings.Fields(test.line)...), completionAsked)
			if code := run(t, args, strings.NewReader(""), &out, &bad); code != 0 || bad.Len() > 0 {
				t.Errorf("%d %s, want 0 and nothing", code, &bad)
			}
			got := strings.Fields(out.String())
			for _, want := range test.want {
				if !slices.Contains(got, want) {
					t.Errorf("%s is not offered, but %v", want, got)
				}
			}
			for _, not := range test.not {
				if slices.Contains(got, not) {
					t.Errorf("%s is offered", not)
				}
			}
			if len(test.want) == 0 && len(got) > 0 {
				t.Errorf("%v is offered, want %v", got, test.want)
			}
		})
	}
}

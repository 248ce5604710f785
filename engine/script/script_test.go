package script

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"blueprintd/blueprint"
)

func TestCheck(t *testing.T) {
	p := running(t)
	slow := strings.Builder{} // names are compared with all before them
	for i := range 26_000 {
		fmt.Fprintf(&slow, "let a%x;", i)
	}
	for _, test := range []struct{ source, want string }{
		{"return 1", ""},
		{"", ""},
		{"while (true) {}", ""}, // it would never end, if it ran
		{"return await nodes.a", ""},
		{"const x = ;", "1:11: unexpected token in expression: ';'"},
		{"\n  return [1,\n    2 3]", "3:7: "},
		{"const ä = '𝒳', b = ;", "1:20: unexpected token in expression: ';'"},
		{"\tconst x = ;", "1:12: "},
		{"return 1\r\nconst x = ;", "2:11: "},
		{"const a = '\u2028'\nconst x = ;", "2:11: "},
		{"const a = `\n\n`, b = ;", "3:8: "},
		{"if (1) {", "0:0: a bracket closes the function before its end, or one is not closed"},
		{"return 1 }", "0:0: a bracket closes the function before its end, or one is not closed"},
		{"} : 0; while (true) {} ; 0 ? async () => {", "1:3: "}, // what would close the function does not run, either
		{"}); while (true) {} (async () => {", "1:2: a bracket"},
		{"return /(/", "1:"},
		{"import x from 'y'", "1:"},
		{strings.Repeat("[", 100_000), "1:"},
		{strings.Repeat("x", MaxSource+1), "bad_config"},
		{"return 1 // ä\n// 𝒳\x00; ]", "2:5: the source holds a NUL character"},
		{slow.String(), CodeTimeout},
		{"return 2", ""},
	} {
		t.Run(test.want, func(t *testing.T) {
			timeout := 10 * time.Second
			if test.want == CodeTimeout {
				timeout = 300 * time.Millisecond
			}
			m, err := p.Check(t.Context(), Script{Owner: "check", Source: test.source, Timeout: timeout})
			got := ""
			if m != nil {
				got = fmt.Sprintf("%d:%d: %s", m.Line, m.Column, m.Message)
			} else if failure, ok := err.(*blueprint.Failure); ok {
				got = failure.Code + failure.Message
			} else if err != nil {
				got = err.Error()
			}
			if short := test.source[:min(40, len(test.source))]; !strings.HasPrefix(got, test.want) || test.want == "" != (got == "") {
				t.Errorf("%q\n got %s\nwant %s", short, got, test.want)
			}
		})
	}
}

// What ends the context ends a check too.
func TestCheckEnds(t *testing.T) {
	p := running(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if m, err := p.Check(ctx, Script{Owner: "check", Source: "return 1"}); m != nil || err == nil {
		t.Errorf("%v, %v; want nil and an error", m, err)
	}
}

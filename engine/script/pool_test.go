package script

import "testing"

func TestScripts(t *testing.T) {
	p := running(t)
	for _, test := range []struct{ source, want string }{
		{"return 1", "1"},
		{"", "null"},
		{"return", "null"},
		{"return undefined", "null"},
		{"return () => 1", "null"},
		{"return input.a + 1", "null"},
		{"return [input, inputData, variables, nodes]", `[{},{},{"name":"Ada"},{"first":{"output":"x"}}]`},
		{"return await Promise.resolve(7)", "7"},
		{"return Promise.resolve(7)", "7"},
		{"await null; throw new TypeError('no')", "script_error: TypeError: no (line 1, column 32)"},
		{"\n\n  foo()", "script_error: ReferenceError: 'foo' is not defined (line 3, column 3)"},
		{"const x = ;", "syntax_error: unexpected token in expression: ';' (line 1, column 11)"},
		{"\nif (1) {", "syntax_error: a bracket closes the function before its end, or one is not closed (at the end)"},
		{"return 1 }", "syntax_error: a bracket closes the function before its end, or one is not closed (at the end)"},
		{"return 12345678901234567890n", "12345678901234567890"},
		{"const late = Date.now() - 1769860800000; return late >= 0 && late < 60000", "true"},
	} {
		t.Run(test.source, func(t *testing.T) {
			if got := do(p, script(test.source)); got != test.want {
				t.Errorf("%q\n got %s\nwant %s", test.source, got, test.want)
			}
		})
	}
}

package engine_test

import (
	"testing"

	"blueprintd/engine"
)

// What code sees is what templates see: variables with those that nodes wrote,
// the nodes that led here, the innermost item; no secret that the principal may
// not use.
func TestScopeOfCode(t *testing.T) {
	const variables = `[{"name": "open", "default": "o"}, {"name": "token", "secret": true, "default": "tok-12345678"}]`
	lines := "s set {\"values\": {\"v\": 1}}\nb pass\n" + each("l", `"items": [7]`, "", each("m", `"items": [8, 9]`, "", "x set {\"values\": {\"v\": 2}}\nc scope"))
	for _, test := range []struct {
		name      string
		canManage bool
		want      string
	}{
		{"manager", true, `{"denied":[],"nodes":{"b":{"output":{"v":1}},"s":{"output":{"v":1}},"x":{"output":{"v":2}}},"variables":{"index":1,"item":9,"open":"o","token":"***","v":2}}`},
		{"stranger", false, `{"denied":["token"],"nodes":{"b":{"output":{"v":1}},"s":{"output":{"v":1}},"x":{"output":{"v":2}}},"variables":{"index":1,"item":9,"open":"o","v":2}}`},
	} {
		testWith(t, nil, func(w *world) {
			r := request(w.defineWith(lines, variables))
			r.CanManage = test.canManage
			x := w.wait(w.startWith(r, engine.Soon))
			out, _ := x.Output.([]any)
			if len(out) != 1 {
				t.Fatal(sum(x))
			}
			if got := encode(out[0].([]any)[1]); got != test.want {
				t.Errorf("%s\ngot  %s\nwant %s", test.name, got, test.want)
			}
		})
	}
}

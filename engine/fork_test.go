package engine_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
	"blueprintd/engine"
)

// fork forks a run from a node and waits for the end of the new run.
func (w *fixture) fork(id, from, input string) *blueprint.Execution {
	w.Helper()
	h, err := w.Fork(w.Context(), w.journal.stored(id), from, w.decode(input), owner, true)
	if err != nil {
		w.Fatal(err)
	}
	return w.wait(h)
}

// inputOf returns the input of a step as JSON.
func inputOf(x *blueprint.Execution, node string) string { return encode(step(x, node).Input) }

func TestFork(t *testing.T) {
	for _, test := range []struct {
		name, lines, from, input, begun, want string
		inputs                                map[string]string // by node
	}{
		{"from a node in between", `
			a act
			b echo {"value": "{{input.done}}{{nodes.a.output.done}}"}
			c act`, "b", `{"done": "edited"}`, "b c",
			`completed: a=completed b=completed c=completed -> {"done":"c"}`, map[string]string{"a": `{"n":1}`, "b": `{"done":"edited"}`, "c": `"editeda"`}},
		{"null is an input", `
			a act
			b echo {"value": "{{input}}"}`, "b", `null`, "b",
			`completed: a=completed b=completed`, map[string]string{"b": `null`}},
		{"a node that passes its input on", `
			a act
			b pass
			c echo {"value": "{{input.x}}"}`, "b", `{"x": 7}`, "b c",
			`completed: a=completed b=completed c=completed -> 7`, map[string]string{"b": `{"x":7}`, "c": `{"x":7}`}},
		{"a failed node", `
			a act
			b fail {"times": 1}
			c pass`, "b", `"x"`, "b c",
			`completed: a=completed b=completed c=completed -> 1`, map[string]string{"b": `"x"`}},
		{"where branches meet", `
			a act
			b act
			c inputs
			a -> c
			b -> c`, "c", `{"a": 1}`, "c",
			`completed: a=completed b=completed c=completed -> ["a",1]`, map[string]string{"c": `{"a":1}`}},
		{"beside it nothing runs again", `
			a act
			b pass
			c act
			d pass
			a -> b
			b -> c
			a -> d`, "b", `1`, "b c",
			`completed: a=completed b=completed c=completed d=completed -> {"c":{"done":"c"},"d":{"done":"a"}}`, map[string]string{"b": `1`, "d": `{"done":"a"}`}},
		{"the input data, for all that takes it", `
			a echo {"value": "{{inputData.n}}"}
			b echo {"value": "{{input.n}}"}
			c inputs
			a -> c
			b -> c`, "b", `{"n": 2}`, "a b c",
			`completed: a=completed b=completed c=completed -> ["a",2,"b",2]`, map[string]string{"a": `{"n":2}`, "b": `{"n":2}`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			testWith(t, nil, func(w *fixture) {
				x := w.run(w.define(test.lines))
				w.lab.begun = nil
				w.advance(time.Hour)
				y := w.fork(x.ID, test.from, test.input)
				w.expect(y, test.want)
				w.expect(w.view(y.ID), test.want)
				if got := sortedWords(w.begunNodes()); got != test.begun {
					t.Errorf("began %s, want %s", got, test.begun)
				}
				seen := map[string]string{}
				for node := range test.inputs {
					if seen[node] = inputOf(y, node); seen[node] != inputOf(w.view(y.ID), node) {
						t.Errorf("as stored, the input of %s is %s, want %s", node, inputOf(w.view(y.ID), node), seen[node])
					}
				}
				if diff := cmp.Diff(test.inputs, seen); diff != "" {
					t.Errorf("inputs (-want +got):\n%s", diff)
				}
				if y.RetryOf != x.ID || y.RetryFrom != test.from || !y.InputEdited || y.BlueprintVersion != x.BlueprintVersion {
					t.Errorf("RetryOf %q, RetryFrom %q, InputEdited %v; want %q, %q and true", y.RetryOf, y.RetryFrom, y.InputEdited, x.ID, test.from)
				}
				if row := w.journal.stored(y.ID).Row; row.RetryOf != x.ID {
					t.Errorf("the row retries %q, want %q", row.RetryOf, x.ID)
				}
				w.expect(w.view(x.ID), sum(x)) // the first run is as it was
			})
		})
	}
}

// An edited item replaces the item for all nodes that take it; other items keep their
// results. An edited input of a later node of an item replaces only that.
func TestForkItem(t *testing.T) {
	test(t, func(w *fixture) {
		x := w.run(w.define(each("l", `"items": [1, 2]`, "", "a echo {\"value\": \"{{item}}\"}\nb echo {\"value\": \"{{item}} {{input}}\"}") + "\nz pass"))
		_, err := w.Fork(w.Context(), w.journal.stored(x.ID), "l[1]/a", 7, owner, false)
		w.code(err, blueprint.CodeForbidden)
		w.lab.begun = nil
		y := w.fork(x.ID, "l[1]/a", `7`)
		w.expect(y, `completed: l=completed l[0]/a=completed l[0]/b=completed l[1]/a=completed l[1]/b=completed z=completed -> ["1 1","7 7"]`)
		if got := w.begunNodes(); got != "l l[1]/a l[1]/b z" {
			t.Errorf("began %s, want l l[1]/a l[1]/b z", got)
		}
		if got := inputOf(w.view(y.ID), "l[1]/a"); got != "7" {
			t.Errorf("the item is shown as %s, want 7", got)
		}
		w.lab.begun = nil
		z := w.fork(y.ID, "l[1]/b", `"edited"`)
		w.expect(z, `completed: l=completed l[0]/a=completed l[0]/b=completed l[1]/a=completed l[1]/b=completed z=completed -> ["1 1","7 edited"]`)
		if got := w.begunNodes(); got != "l l[1]/b z" {
			t.Errorf("then began %s, want l l[1]/b z", got)
		}
		// The whole for-each node again: its items are those that it computes.
		w.expect(w.repeat(z.ID, "l"), `completed: l=completed l[0]/a=completed l[0]/b=completed l[1]/a=completed l[1]/b=completed z=completed -> ["1 1","2 2"]`)
	})
}

// A retry of a fork keeps the edited input of a node that it begins at or keeps, and
// forgets that of a node whose input is computed again.
func TestRetryOfFork(t *testing.T) {
	test(t, func(w *fixture) {
		x := w.run(w.define(`
			a act
			b echo {"value": "{{input}}"}
			c fail {"times": 1}
			d echo {"value": "{{nodes.b.output}}"}`))
		y := w.fork(x.ID, "b", `"edited"`)
		w.expect(y, `completed: a=completed b=completed c=completed d=completed -> "edited"`)
		want := map[string]string{"b": `"edited"`, "c": `"edited"`, "a": `{"done":"a"}`}
		inputs, outputs, edited := map[string]string{}, map[string]string{}, map[string]bool{}
		for from := range want {
			z := w.repeat(y.ID, from)
			inputs[from], outputs[from], edited[from] = inputOf(w.view(z.ID), "b"), encode(step(z, "d").Output), z.InputEdited
		}
		if diff := cmp.Diff([]map[string]string{want, want}, []map[string]string{inputs, outputs}); diff != "" {
			t.Errorf("the input of b, and the output of d that repeats it, in a retry from each node (-want +got):\n%s", diff)
		}
		if edited["a"] || edited["b"] || edited["c"] {
			t.Errorf("InputEdited %v, want false", edited)
		}
	})
}

// A fork that waits continues after a restart with the edited input.
func TestForkSurvivesRestart(t *testing.T) {
	test(t, func(w *fixture) {
		x := w.run(w.define(`
			a act
			b pass
			c ask
			d echo {"value": "{{nodes.b.output}}"}`))
		w.answerOK(x.ID, "", "x")
		w.settle(x.ID)
		h, err := w.Fork(w.Context(), w.journal.stored(x.ID), "b", "edited", owner, true)
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		w.reboot()
		w.expect(w.view(h.ID), `paused: a=completed b=completed c=paused d=pending`)
		w.answerOK(h.ID, "", "y")
		w.expect(w.settle(h.ID), `completed: a=completed b=completed c=completed d=completed -> "edited"`)
	})
}

// Values that are masked where the run is shown keep their original when they come back as
// shown, and an edited input is masked like any other.
func TestForkKeepsMaskedValues(t *testing.T) {
	test(t, func(w *fixture) {
		x := w.run(w.defineWith(`
			a echo {"value": {"auth": "Bearer {{token}}", "list": ["{{token}}", 1], "id": 1}}
			b eval {"expression": "input"}`, secretVariables))
		w.noSecret("the record", x)
		shown := inputOf(x, "b")
		if !strings.Contains(shown, "***") {
			t.Fatalf("the input is shown as %s, want \"***\" in it", shown)
		}
		y := w.fork(x.ID, "b", strings.Replace(shown, `"id":1`, `"id":2`, 1))
		w.noSecret("the record of the fork", y)
		h, err := w.Retry(w.Context(), w.journal.stored(y.ID), "b", owner, true)
		if err != nil {
			t.Fatal(err)
		}
		w.wait(h)
		const want = `{"auth":"Bearer ` + token + `","id":2,"list":["` + token + `",1]}`
		if ending, err := h.Ending(w.Context()); err != nil || encode(ending.Output) != want {
			t.Errorf("it returned %s, %v; want %s", encode(ending.Output), err, want)
		}
		for _, step := range []string{`{"other": "***"}`, `{"auth": "Basic ***"}`, `{"list": ["***", {"more": "***"}]}`} {
			_, err := w.Fork(w.Context(), w.journal.stored(x.ID), "b", w.decode(step), owner, true)
			w.code(err, blueprint.CodeBadRequest)
		}
		_, err = w.Fork(w.Context(), w.journal.stored(x.ID), "b", w.decode(shown), blueprint.Principal{UserID: "another manager"}, true)
		w.code(err, blueprint.CodeForbidden)
	})
}

// In an input without masked values, asterisks are text.
func TestForkTakesAsterisks(t *testing.T) {
	test(t, func(w *fixture) {
		x := w.run(w.define("a act\nb pass"))
		w.expect(w.fork(x.ID, "b", `"***bold***"`), `completed: a=completed b=completed -> "***bold***"`)
	})
}

// Elements of a list keep their own originals, wherever they are moved.
func TestForkKeepsMaskedElements(t *testing.T) {
	test(t, func(w *fixture) {
		x := w.run(w.defineWith(`
			a echo {"value": [{"to": 1, "auth": "{{token}}"}, {"to": 2, "auth": "{{other}}"}]}
			b eval {"expression": "input"}`, `[{"name": "token", "secret": true, "default": "`+token+`"}, {"name": "other", "secret": true, "default": "another-secret-value"}]`))
		for _, step := range []struct{ input, want string }{
			{`[{"to":2,"auth":"***"}]`, `[{"auth":"another-secret-value","to":2}]`},
			{`[{"to":2,"auth":"***"},{"to":1,"auth":"***"}]`, `[{"auth":"another-secret-value","to":2},{"auth":"` + token + `","to":1}]`},
		} {
			h, err := w.Fork(w.Context(), w.journal.stored(x.ID), "b", w.decode(step.input), owner, true)
			if err != nil {
				t.Fatal(err)
			}
			w.wait(h)
			if ending, err := h.Ending(w.Context()); err != nil || encode(ending.Output) != step.want {
				t.Errorf("%s returned %s, %v; want %s", step.input, encode(ending.Output), err, step.want)
			}
		}
	})
}

func TestForkRefuses(t *testing.T) {
	stranger := blueprint.Principal{UserID: "stranger"}
	for _, c := range []struct {
		name, from string
		input      any
		by         blueprint.Principal
		want       blueprint.Code
	}{
		{"a value for several nodes", "m", 1, owner, blueprint.CodeBadRequest},
		{"an unknown node", "nobody", 1, owner, blueprint.CodeBadRequest},
		{"a node that did not run", "c", 1, owner, blueprint.CodeBadRequest},
		{"a skipped node", "no", 1, owner, blueprint.CodeBadRequest},
		{"an unknown item", "l[3]/x", 1, owner, blueprint.CodeBadRequest},
		{"a large input", "a", strings.Repeat("x", 2000), owner, blueprint.CodeBadRequest},
		{"data of another user", "a", 1, owner, blueprint.CodeForbidden},
		{"past other nodes, by a user who may only start the blueprint", "b", 1, stranger, blueprint.CodeForbidden},
	} {
		t.Run(c.name, func(t *testing.T) {
			testWith(t, func(o *engine.Options) { o.Limits.Value = 1000 }, func(w *fixture) {
				r := request(w.define("a choose {\"handle\": \"yes\"}\nb fail\nc pass\nno pass\n" + each("l", `"items": [1]`, "", "x pass") + "\np pass\nq pass\nm pass\na -yes> b\na -no> no\nb -> c\na -yes> l\na -yes> p\na -yes> q\np -> m\nq -> m"))
				if c.want == blueprint.CodeForbidden {
					r.CanManage, r.Principal = false, stranger
				}
				x := w.wait(w.startWith(r, engine.Soon))
				if _, err := w.Fork(w.Context(), w.journal.stored(x.ID), c.from, c.input, c.by, c.by == owner); blueprint.CodeOf(err) != c.want {
					t.Errorf("%v, want %v", err, c.want)
				}
			})
		})
	}
	t.Run("a run that has not ended", func(t *testing.T) {
		test(t, func(w *fixture) {
			x := w.run(w.define("a pass\nb ask"))
			_, err := w.Fork(w.Context(), w.journal.stored(x.ID), "a", 1, owner, true)
			w.code(err, blueprint.CodeConflict)
		})
	})
}

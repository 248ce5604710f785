package engine_test

import (
	"bytes"
	"encoding/base64"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"blueprintd/blueprint"
	"blueprintd/engine"
	"blueprintd/foundation/secret"
)

const token = "tok-12345678"

const secretVariables = `[{"name": "token", "secret": true, "default": "` + token + `"}, {"name": "flag", "type": "boolean", "secret": true}, {"name": "pin", "secret": true}, {"name": "open", "default": "visible"}]`

// secretLines leaks the secret wherever a blueprint can.
const secretLines = `
	a echo {"value": {"plain": "Bearer {{token}}", "{{token}}": 1, "b64": "{{= toBase64(token) }}"}}
	l log {"message": "uses {{token}}", "data": {"x": "{{token}}"}}
	h act {"host": "{{token}}.example"}
	f fail {"message": "{{token}}", "code": "{{token}}"} | {"onError": "continue"}
	w wait {"ms": 1000}
	q ask {"prompt": "is it {{token}}?"}
	r respond {"body": {"t": "{{token}}"}, "header": "{{token}}"}
	z echo {"value": "{{token}}{{open}}"}`

// noSecret checks that value contains the secret in none of its forms.
func (w *fixture) noSecret(where string, value any) {
	w.Helper()
	data := encode(value)
	for _, form := range []string{token, base64.RawStdEncoding.EncodeToString([]byte(token))} {
		if strings.Contains(data, form) {
			w.Errorf("%s shows the secret: %s, want no %q", where, data, form)
		}
	}
}

func TestSecretsAreMaskedAndSealed(t *testing.T) {
	test(t, func(w *fixture) {
		d := w.defineWith(secretLines, secretVariables)
		w.journal.keep = true
		r := request(d)
		r.Variables = map[string]any{"flag": true, "pin": "1234"}
		r.InputData = map[string]any{"copied": token}
		r.Trigger = &blueprint.TriggerContext{ID: "t", Type: blueprint.TriggerWebhook, Headers: map[string]any{"x": token}}
		h := w.startWith(r, engine.Soon)
		w.noSecret("a view of a run that waits", w.settle(h.ID))
		w.advance(time.Second)
		x := w.settle(h.ID)
		w.noSecret("a paused record", x)
		if x.AwaitingInput.Prompt != "is it ***?" {
			t.Errorf("asked %q, want is it ***?", x.AwaitingInput.Prompt)
		}
		if got := encode(x.InputVariables); got != `{"flag":"***","pin":"***"}` {
			t.Errorf("input variables %s, want {\"flag\":\"***\",\"pin\":\"***\"}", got)
		}
		w.answerOK(h.ID, "", token)
		w.noSecret("an ended record", w.settle(h.ID))
		x = w.view(h.ID)
		w.expect(x, `completed: a=completed l=completed h=completed f=failed(failed: ***) w=completed q=completed r=completed z=completed -> "***visible"`)
		if got := encode(step(x, "a").Output); !strings.Contains(got, `"plain":"Bearer ***"`) {
			t.Errorf("a gave %s, want \"plain\":\"Bearer ***\" in it", got)
		}
		if strings.Contains(w.logged(), token) {
			t.Error("the secret is in the server's log")
		}
		for _, disk := range w.journal.history {
			for _, stored := range disk.runs {
				for _, data := range append(stored.Entries, stored.Record, stored.State) {
					if bytes.Contains(data, []byte(token)) {
						t.Errorf("on the disk is %s", data)
					}
				}
			}
		}
	})
}

// The response of a respond node is unaltered data, whether or not the run continues.
func TestSecretsInResponses(t *testing.T) {
	for _, after := range []string{"", "\nb act"} {
		test(t, func(w *fixture) {
			h := w.start(w.defineWith(`a respond {"body": {"t": "x {{token}}"}, "header": "y {{token}}"}`+after, secretVariables))
			<-h.Responded()
			if got := encode(h.Response()); got != `{"status":200,"headers":{"x-a":"y `+token+`"},"body":{"t":"x `+token+`"}}` {
				t.Errorf("answered %s", got)
			}
			w.wait(h)
		})
	}
}

// Secrets of a child run reach its parent unaltered and are masked in its views: those
// of variables, parts of them, and those of connections.
func TestSecretsOfChildRuns(t *testing.T) {
	var l library
	testWith(t, func(o *engine.Options) { o.Blueprints, o.Connections = &l, known() }, func(w *fixture) {
		l.w = w
		inner := w.defineWith(`
			a leak {"connectionId": "http"}
			b eval {"expression": "{'key': input.key, 'pin': object.pin, 'whole': object}"}`, `[{"name": "object", "type": "json", "secret": true, "default": {"pin": "part-of-a-secret"}}]`)
		h := w.start(w.define(`
			s call {"blueprintId": "` + inner.BlueprintID + `"}
			q ask {"prompt": "{{input.pin}} {{input.key}}"}
			z eval {"expression": "nodes.s.output"}`))
		check := func(where string, x *blueprint.Execution) {
			w.noSecret(where, x)
			if strings.Contains(encode(x), "part-of-a-secret") {
				t.Errorf("%s shows %s, want no \"part-of-a-secret\"", where, encode(x))
			}
		}
		check("a paused record", w.settle(h.ID))
		w.reboot()
		w.answerOK(h.ID, "q", "yes")
		x := w.settle(h.ID)
		check("a record", x)
		w.expect(x, `completed: s=completed q=completed z=completed -> {"key":"***","pin":"***","whole":{"pin":"***"}}`)
		again, err := w.Retry(w.Context(), w.journal.stored(h.ID), "z", owner, true)
		if err != nil {
			t.Fatal(err)
		}
		check("a retried record", w.wait(again))
		if ending, err := again.Ending(w.Context()); err != nil || encode(ending.Output) != `{"key":"`+token+`","pin":"part-of-a-secret","whole":{"pin":"part-of-a-secret"}}` {
			t.Errorf("handed on %s, %v", encode(ending.Output), err)
		}
	})
}

// Everything stored of a run is encrypted, whether or not it has secrets.
func TestRunsAreSealed(t *testing.T) {
	test(t, func(w *fixture) {
		w.journal.keep = true
		r := request(w.define("a echo {\"value\": \"open-words\"}\nb ask {\"prompt\": \"open-words\"}\nc fail {\"message\": \"open-words\"}"))
		r.InputData = "open-words"
		x := w.wait(w.startWith(r, engine.Soon))
		w.answerOK(x.ID, "", "open-words")
		w.expect(w.settle(x.ID), `failed: a=completed b=completed c=failed(failed: open-words) !c:failed: open-words`)
		kinds := 0
		for _, disk := range w.journal.history {
			for _, stored := range disk.runs {
				for _, data := range append(stored.Entries, stored.Record, stored.State) {
					if bytes.Contains(data, []byte("open")) || bytes.Contains(data, []byte("{")) && bytes.Contains(data, []byte(`"t"`)) {
						t.Errorf("on the disk is %s", data)
					}
				}
				if len(stored.Record) > 0 {
					kinds |= 1
				}
				if len(stored.Entries) > 2 {
					kinds |= 2
				}
			}
		}
		if kinds != 3 {
			t.Errorf("there was no record or no journal: %v, want 3", kinds)
		}
	})
}

// A secret too short to search for is masked in its own place.
func TestShortSecret(t *testing.T) {
	test(t, func(w *fixture) {
		d := w.defineWith(`a ask`, `[{"name": "flag", "type": "boolean", "secret": true}]`)
		r := request(d)
		r.Variables = map[string]any{"flag": true}
		x := w.wait(w.startWith(r, engine.Soon))
		if got := encode(x.InputVariables); got != `{"flag":"***"}` {
			t.Errorf("input variables %s, want {\"flag\":\"***\"}", got)
		}
		w.answerOK(x.ID, "", 1)
		if x := w.settle(x.ID); x.Status != blueprint.StatusCompleted || encode(x.InputVariables) != `{"flag":"***"}` {
			t.Error(sum(x), encode(x.InputVariables))
		}
	})
}

// True values are available after a restart and for a retry.
func TestSecretsSurvive(t *testing.T) {
	test(t, func(w *fixture) {
		d := w.defineWith(`
			a ask
			b eval {"expression": "token == '`+token+`' && given == 'given-secret'"}
			c fail {"times": 1}
			d eval {"expression": "token == '`+token+`' && given == 'given-secret' && nodes.a.output.answer == '`+token+`'"}`,
			`[{"name": "token", "secret": true, "default": "`+token+`"}, {"name": "given", "secret": true, "required": true}]`)
		r := request(d)
		r.Variables = map[string]any{"given": "given-secret"}
		x := w.wait(w.startWith(r, engine.Soon))
		w.reboot()
		w.answerOK(x.ID, "", token)
		y := w.settle(x.ID)
		w.expect(y, `failed: a=completed b=completed c=failed(failed: ) d=pending !c:failed: `)
		if y.Outputs["b"] != true {
			t.Errorf("after a restart the values are others: %v, want b true", y.Outputs["b"])
		}
		z := w.repeat(x.ID, "")
		w.expect(z, `completed: a=completed b=completed c=completed d=completed -> true`)
		w.noSecret("a retried record", z)
	})
}

func TestSecretsAreDenied(t *testing.T) {
	for _, test := range []struct {
		name, lines string
		given       map[string]any
		denied      bool
	}{
		{"in a template", `a echo {"value": "{{token}}"} | {"retry": {"maxAttempts": 5}}`, nil, true},
		{"with a default", `a echo {"value": "{{token ?? \"none\"}}"}`, nil, true},
		{"in an expression of a template", `a echo {"value": "{{= open + token }}"}`, nil, true},
		{"in an expression", `a eval {"expression": "len(token)"}`, nil, true},
		{"in a branch not taken", `a eval {"expression": "false ? token : 1"}`, nil, true},
		{"deep in the config", `a act {"x": [{"y": "{{token}}"}]}`, nil, true},
		{"not used", `a echo {"value": "{{open}}"}`, nil, false},
		{"the caller's own", `a echo {"value": "{{token}}"}`, map[string]any{"token": "my-own-token"}, false},
	} {
		t.Run(test.name, func(t *testing.T) { testDenied(t, test.lines, test.given, test.denied) })
	}
}

func testDenied(t *testing.T, lines string, given map[string]any, denied bool) {
	t.Helper()
	test(t, func(w *fixture) {
		r := request(w.defineWith(lines, secretVariables))
		r.CanManage, r.Principal, r.Variables = false, blueprint.Principal{UserID: "stranger"}, given
		x := w.wait(w.startWith(r, engine.Soon))
		if !denied {
			if x.Status != blueprint.StatusCompleted {
				t.Errorf("%v, want Status %v", sum(x), blueprint.StatusCompleted)
			}
			return
		}
		if x.Failure == nil || x.Failure.Code != "secret_denied" || step(x, "a").Attempt != 1 {
			t.Errorf("%v, want Failure not nil, Code secret_denied and Attempt 1", sum(x))
		}
		if len(w.actions()) > 0 {
			t.Error("the node has acted")
		}
		// Not even after a restart, and not for a stranger's retry.
		y, err := w.Retry(w.Context(), w.journal.stored(x.ID), "", blueprint.Principal{UserID: "stranger"}, false)
		if err != nil {
			t.Fatal(err)
		}
		if x := w.wait(y); x.Failure == nil || x.Failure.Code != "secret_denied" {
			t.Errorf("%v, want Failure not nil and Code secret_denied", sum(x))
		}
		if x := w.repeat(x.ID, ""); x.Status != blueprint.StatusCompleted {
			t.Errorf("for a manager: %s, want Status %v", sum(x), blueprint.StatusCompleted)
		}
	})
}

// With another master key no run can be read, and nothing of it is logged.
func TestWrongMasterKey(t *testing.T) {
	test(t, func(w *fixture) {
		x := w.run(w.defineWith(`a ask`, secretVariables))
		w.stop()
		w.key = secret.NewKey()
		w.boot(w.clock.Now())
		synctest.Wait()
		if !strings.Contains(w.logged(), "run recovery failed") {
			t.Errorf("the log says %s, want \"run recovery failed\" in it", w.logged())
		}
		if err := w.answer(x.ID, "", 1); err == nil {
			t.Error("a run that cannot be read takes an answer, want an error")
		}
		if _, err := w.View(w.Context(), w.journal.stored(x.ID)); err == nil {
			t.Error("a run that cannot be read is shown, want an error")
		}
	})
}

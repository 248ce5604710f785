package nodes

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
)

func TestHuman(t *testing.T) {
	kind := typeOf(t, "human")
	config := `{"prompt":"How many, {{name}}?","schema":{"type":"object","properties":{"n":{"type":"integer"},"tags":{"items":{"type":"string"}}},"required":["n"],"description":"{{not resolved}}"},"expiresMs":60000}`
	task := newTask(t, kind, config, scope)
	result, code := run(t, kind, task)
	a := result.Await
	if code != "" || a == nil {
		t.Fatalf("got %+v, %s; want a pause", a, code)
	}
	if diff := cmp.Diff(&blueprint.Await{Kind: blueprint.AwaitHuman, Prompt: "How many, Ann?", Schema: a.Schema, Expires: time.Minute, OnExpire: "fail"}, a); diff != "" {
		t.Errorf("await (-want +got):\n%s", diff)
	}
	if schema := a.Schema.(map[string]any); schema["description"] != "{{not resolved}}" {
		t.Errorf("the schema was resolved: %v, want description {{not resolved}}", schema)
	}

	answer := object(t, `{"n":2,"extra":true}`)
	if result, err := kind.Answer(task, answer); err != nil || asJSON(t, result.Output) != `{"extra":true,"n":2}` || result.Handle != "" {
		t.Errorf("got %+v, %v; want {\"extra\":true,\"n\":2} and Handle nothing", result, err)
	}
	_, err := kind.Answer(task, object(t, `{"tags":["a",1]}`))
	var refused *blueprint.Error
	if !errors.As(err, &refused) || refused.Code != blueprint.CodeBadRequest || refused.Message != "input.n: required; input.tags[1]: must be a string" {
		t.Errorf("got %v, want Code %v and Message input.n: required; input.tags[1]: must be a string", err, blueprint.CodeBadRequest)
	}
	if got := asJSON(t, refused.Issues); got != `[{"path":["input","n"],"message":"required"},{"path":["input","tags",1],"message":"must be a string"}]` {
		t.Errorf("got %s", got)
	}
	if _, err := kind.Answer(task, nil); !errors.As(err, &refused) || refused.Message != "input: must be an object" {
		t.Errorf("got %v, want Message input: must be an object", err)
	}

	free := newTask(t, kind, `{"prompt":"?"}`, scope)
	for _, answer := range []any{nil, "yes", true, answer} {
		if result, err := kind.Answer(free, answer); err != nil || asJSON(t, result.Output) != asJSON(t, answer) {
			t.Errorf("%v: got %+v, %v", answer, result, err)
		}
	}
}

func TestHumanExpired(t *testing.T) {
	kind := typeOf(t, "human")
	if _, err := kind.Expired(newTask(t, kind, `{"prompt":"?","expiresMs":1}`, scope)); codeOf(err) != codeExpired {
		t.Errorf("got %v, want %v", err, codeExpired)
	}
	result, err := kind.Expired(newTask(t, kind, `{"prompt":"?","expiresMs":1,"onExpire":"continue"}`, scope))
	if err != nil || asJSON(t, result.Output) != `{"expired":true}` {
		t.Errorf("got %+v, %v; want {\"expired\":true}", result, err)
	}
}

func TestApproval(t *testing.T) {
	kind := typeOf(t, "approval-gate")
	tests := []struct {
		answer, output, handle, refusal, stop string
	}{
		{`{"approved":true}`, `{"approved":true}`, "approved", "", ""},
		{`{"approved":true,"comment":"fine","more":1}`, `{"approved":true,"comment":"fine"}`, "approved", "", ""},
		{`{"approved":false}`, `{"approved":false}`, "rejected", "", "rejected"},
		{`{"approved":false,"comment":"too dear"}`, `{"approved":false,"comment":"too dear"}`, "rejected", "", "rejected: too dear"},
		{`{}`, "", "", "input.approved: required", ""},
		{`{"approved":"yes","comment":1}`, "", "", "input.approved: must be true or false; input.comment: must be a string", ""},
		{`{"approved":null}`, "", "", "input.approved: must be true or false", ""},
		{`{"approved":true,"comment":null}`, "", "", "input.comment: must be a string", ""},
		{`true`, "", "", `input: must be an object such as {"approved": true}`, ""},
		{`null`, "", "", `input: must be an object such as {"approved": true}`, ""},
	}
	for _, test := range tests {
		t.Run(test.answer, func(t *testing.T) {
			for _, sequential := range []bool{false, true} {
				task := newTask(t, kind, `{"prompt":"Go, {{name}}?","expiresMs":5}`, scope)
				task.Sequential = sequential
				asked, _ := run(t, kind, task)
				if a := asked.Await; a == nil || a.Kind != blueprint.AwaitApproval || a.Prompt != "Go, Ann?" || a.Expires != 5*time.Millisecond {
					t.Fatalf("got %+v, want not nil, Kind %v, Prompt Go, Ann? and Expires %v", asked.Await, blueprint.AwaitApproval, 5*time.Millisecond)
				}
				answer, err := blueprint.Decode([]byte(test.answer))
				if err != nil {
					t.Fatal(err)
				}
				result, err := kind.Answer(task, answer)
				if test.refusal != "" {
					var refused *blueprint.Error
					if !errors.As(err, &refused) || refused.Code != blueprint.CodeBadRequest || refused.Message != test.refusal {
						t.Errorf("got %v, want Code %v and Message %v", err, blueprint.CodeBadRequest, test.refusal)
					}
					continue
				}
				if err != nil || asJSON(t, result.Output) != test.output || result.Handle != test.handle {
					t.Errorf("got %+v, %v; want %v and Handle %v", result, err, test.output, test.handle)
				}
				switch {
				case !sequential || test.stop == "":
					if result.Stop != nil {
						t.Errorf("stops with %+v, want nil", result.Stop)
					}
				case result.Stop == nil || !result.Stop.Failed || result.Stop.Message != test.stop:
					t.Errorf("got %+v", result.Stop)
				}
			}
		})
	}
}

func TestApprovalExpired(t *testing.T) {
	kind := typeOf(t, "approval-gate")
	for config, want := range map[string]struct{ code, output, handle, stop string }{
		`{"prompt":"?"}`:                      {code: codeExpired},
		`{"prompt":"?","onExpire":"fail"}`:    {code: codeExpired},
		`{"prompt":"?","onExpire":"approve"}`: {"", `{"approved":true,"expired":true}`, "approved", ""},
		`{"prompt":"?","onExpire":"reject"}`:  {"", `{"approved":false,"expired":true}`, "rejected", "rejected: no decision in time"},
	} {
		t.Run(config, func(t *testing.T) {
			task := newTask(t, kind, config, scope)
			task.Sequential = true
			result, err := kind.Expired(task)
			if codeOf(err) != want.code || result.Handle != want.handle || want.code == "" && asJSON(t, result.Output) != want.output {
				t.Errorf("got %+v, %v; want %v", result, err, want)
			}
			if want.stop != "" && (result.Stop == nil || !result.Stop.Failed || result.Stop.Message != want.stop) {
				t.Errorf("got %+v, want %v", result.Stop, want)
			}
		})
	}
}

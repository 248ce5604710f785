package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/engine"
)

// withLinks makes links whose secret names the question and its user.
func withLinks(o *engine.Options) {
	o.Link = func(executionID, question, usedBy string) (link, secret string) {
		secret = "secret-" + question + "-by-" + usedBy + "-" + executionID[len(executionID)-8:]
		return "https://host/answer/" + secret, secret
	}
}

// sentLink returns the link that a node has used: the journal has it, no view.
func (w *fixture) sentLink(h *engine.Handle, question, usedBy string) string {
	return "https://host/answer/secret-" + question + "-by-" + usedBy + "-" + h.ID[len(h.ID)-8:]
}

// A link exists before its question is asked, is the same after a crash, and is redacted in
// every view of the run.
func TestLinkOfAQuestion(t *testing.T) {
	testWith(t, withLinks, func(w *fixture) {
		gate := w.hold("mail")
		h := w.start(w.define("text echo {\"value\": \"see {{nodes.gate.link}}\"}\nexpr eval {\"expression\": \"nodes.gate.link\"}\nmail act {\"text\": \"{{nodes.gate.link}}\"}\ngate ask {\"prompt\": \"Sure?\"}\ntext -> expr\nexpr -> mail\nmail -> gate"))
		<-gate.came
		w.crash()
		close(gate.open)
		x := w.settle(h.ID)
		if shown := encode([]any{step(x, "text").Output, step(x, "expr").Output}); shown != `["see https://host/answer/***","https://host/answer/***"]` || strings.Contains(encode(x), "secret-gate") {
			t.Errorf("the nodes that use links show %s; the view is %s", shown, encode(x))
		}
		q, err := w.Question(w.Context(), h.ID, "gate")
		if err != nil || q.State != blueprint.QuestionOpen || q.PrincipalID != owner.UserID {
			t.Fatalf("the question: %+v, %v", q, err)
		}
		if got := q.Title + ": " + q.Input.Prompt; got != "GATE: Sure?" {
			t.Errorf("it asks %q", got)
		}
		if want := q.Input.RequestedAt.Time().Add(blueprint.DefaultLinkLife); !q.Input.LinkExpiresAt.Time().Equal(want) {
			t.Errorf("links expire at %v, want %v", q.Input.LinkExpiresAt, want)
		}
		w.crash()
		use := &blueprint.LinkUse{ID: "1234", ByNode: true, Question: q.ID}
		other := *use
		other.Question.Attempt++
		w.code(w.Resume(w.Context(), blueprint.ResumeAnswer{ExecutionID: h.ID, NodeID: "gate", Input: "yes", Link: &other}), blueprint.CodeConflict)
		w.code(w.Resume(w.Context(), blueprint.ResumeAnswer{ExecutionID: h.ID, NodeID: "gate", Input: "yes", Link: &blueprint.LinkUse{Question: q.ID}}), blueprint.CodeForbidden)
		if err := w.Resume(w.Context(), blueprint.ResumeAnswer{ExecutionID: h.ID, NodeID: "gate", Input: "yes", Link: use}); err != nil {
			t.Fatal(err)
		}
		w.code(w.Resume(w.Context(), blueprint.ResumeAnswer{ExecutionID: h.ID, NodeID: "gate", Input: "yes", Link: use}), blueprint.CodeConflict)
		x = w.settle(h.ID)
		if x.Status != blueprint.StatusCompleted || !strings.Contains(encode(x.Logs), "answered with the approval link 1234") {
			t.Errorf("in the end: %s, %s", sum(x), encode(x.Logs))
		}
		if q, err := w.Question(w.Context(), h.ID, "gate"); err != nil || q.State != blueprint.QuestionAnswered || q.Input != nil {
			t.Errorf("the answered question: %+v, %v", q, err)
		}
		if strings.Contains(encode(x), "secret-gate") || strings.Contains(w.logged(), "secret-gate") {
			t.Errorf("a record or the log has a link: %s", encode(x))
		}
	})
}

// The data that nodes exchange has the link itself.
func TestLinkIsPassedOn(t *testing.T) {
	testWith(t, withLinks, func(w *fixture) {
		h := w.start(w.define("a eval {\"expression\": \"nodes.gate.link\"}\nb choose {\"handle\": \"x\"}\ngate ask {\"prompt\": \"?\"}\nc eval {\"expression\": \"nodes.a.output\"}\na -> b\nb -y> gate\nb -x> c"))
		w.wait(h)
		ending, err := h.Ending(w.Context())
		if q, err := w.Question(w.Context(), h.ID, "gate"); err != nil || q.State != blueprint.QuestionClosed {
			t.Errorf("a question that is not asked: %+v, %v", q, err)
		}
		if err != nil || ending.Output != w.sentLink(h, "gate", "a") {
			t.Errorf("the bare output is %s, %v; want the link", encode(ending.Output), err)
		}
	})
}

// A question has no link where the node that would use it cannot reach it.
func TestLinkOfNoQuestion(t *testing.T) {
	for name, test := range map[string]struct {
		options func(*engine.Options)
		lines   string
	}{
		"no question":         {withLinks, "a echo {\"value\": \"{{nodes.b.link}}\"}\nb pass"},
		"in another node":     {withLinks, "a echo {\"value\": \"{{nodes.q.link}}\"}\n" + each("l", `"items": [1]`, "", "q ask {\"prompt\": \"?\"}")},
		"without links":       {nil, "a echo {\"value\": \"{{nodes.q.link}}\"}\nq ask {\"prompt\": \"?\"}\na -> q"},
		"with a dynamic name": {withLinks, "a eval {\"expression\": \"nodes[string(inputData.n)].link + 1\"}\nq ask {\"prompt\": \"?\"}\na -> q"},
	} {
		t.Run(name, func(t *testing.T) {
			testWith(t, test.options, func(w *fixture) {
				x := w.run(w.define(test.lines))
				if got := step(x, "a"); got.Status != blueprint.StepFailed {
					t.Errorf("the node that uses it: %s", sum(x))
				}
			})
		})
	}
}

// A child run stores the secrets that its input contains, not all of its parent: with many
// items, each with a link, what is stored of all children would grow with their square.
func TestChildRunStoresWhatItSees(t *testing.T) {
	stored := func(items int) (perChild int) {
		var l library
		testWith(t, func(o *engine.Options) { withLinks(o); o.Blueprints = &l }, func(w *fixture) {
			l.w = w
			child := w.define("x eval {\"expression\": \"inputData\"}\nq ask {\"prompt\": \"ok?\"}")
			h := w.start(w.define(each("l", `"items": [`+strings.TrimSuffix(strings.Repeat("1, ", items), ", ")+`]`, "",
				"a eval {\"expression\": \"nodes.gate.link\"}\nb choose {\"handle\": \"x\"}\ngate ask {\"prompt\": \"?\"}\n"+
					fmt.Sprintf("c call {\"blueprintId\": %q}\na -> b\nb -y> gate\na -> c", child.BlueprintID))))
			for done := 0; done < items; {
				w.settle(h.ID)
				all := w.children()
				if len(all) == done {
					t.Fatalf("%d children, want %d", len(all), items)
				}
				for _, c := range all {
					if c.Row.Status.Terminal() {
						continue
					}
					done++
					x := w.view(c.Row.ID)
					if shown := encode(step(x, "x").Output); shown != `"https://host/answer/***"` {
						t.Errorf("a child shows %s, want its link masked", shown)
					}
					for _, entry := range c.Entries {
						perChild = max(perChild, len(entry))
					}
					w.answerOK(c.Row.ID, "q", "x")
				}
			}
			if x := w.settle(h.ID); x.Status != blueprint.StatusCompleted {
				t.Errorf("the run is %s, want it completed", sum(x))
			}
		})
		return perChild
	}
	few, many := stored(20), stored(80)
	t.Logf("the largest entry of a child: %d bytes with 20 items, %d with 80", few, many)
	if many > few+few/10 {
		t.Errorf("the largest entry of a child has %d bytes with 20 items and %d with 80, want about as many", few, many)
	}
}

package command

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
)

func TestQuestions(t *testing.T) {
	const order = `{"type": "object", "required": ["size", "copies"], "properties": {
		"copies": {"type": "integer", "minimum": 1, "title": "Copies", "description": "how many to print"},
		"size": {"enum": ["small", "large", 3], "default": "small"},
		"gift": {"type": "boolean"}, "note": {"type": ["string", "null"]}, "tags": {"type": "array"}}}`
	for _, c := range []struct {
		name, kind, schema, typed string
		answer                    string // JSON; "" for none
		printed                   string
	}{
		{"approved", "approval", "", "maybe\nY\n", `{"approved":true}`, "n asks: Sure?\nApprove? [y/N]   answer y or n\nApprove? [y/N] "},
		{"rejected", "approval", "", "\n", `{"approved":false}`, "n asks: Sure?\nApprove? [y/N] "},
		{"the end of the input", "approval", "", "", "", "n asks: Sure?\nApprove? [y/N] \n"},
		{"any answer", "human", "", "hello\n", `"hello"`, "n asks: Sure?\nAnswer (text or JSON): "},
		{"any JSON", "human", "", `{"a": [1]}` + "\n", `{"a":[1]}`, "n asks: Sure?\nAnswer (text or JSON): "},
		{"a text", "human", `{"type": "string", "minLength": 3}`, "\nab\n123\n", `"123"`, "n asks: Sure?\nAnswer (text):   required\nAnswer (text):   must have at least 3 characters\nAnswer (text): "},
		{"a number", "human", `{"type": "number"}`, "a\n\"1\"\n1.50\n", `1.50`, "n asks: Sure?\nAnswer (a number):   want a number\nAnswer (a number):   want a number\nAnswer (a number): "},
		{"a form", "human", order, "\n0\n2.5\n2\nperhaps\nno\n\n[1]\n", `{"copies":2,"gift":false,"size":"small","tags":[1]}`,
			"n asks: Sure?\nsize (small or large or 3; default small):   Copies: how many to print\ncopies (a whole number):   must be at least 1\ncopies (a whole number):   must be a whole number\ncopies (a whole number): " +
				"gift (y or n; optional):   want y or n\ngift (y or n; optional): note (text or null; optional): tags (a JSON array; optional): "},
		{"a choice", "human", order, "3\n1\n\nnull\n\n", `{"copies":1,"note":null,"size":3}`,
			"n asks: Sure?\nsize (small or large or 3; default small):   Copies: how many to print\ncopies (a whole number): gift (y or n; optional): note (text or null; optional): tags (a JSON array; optional): "},
		{"a form that is left", "human", order, "large\n", "", "n asks: Sure?\nsize (small or large or 3; default small):   Copies: how many to print\ncopies (a whole number): \n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			asked := &blueprint.AwaitingInput{NodeID: "n", Kind: blueprint.AwaitKind(c.kind), Prompt: "Sure?"}
			if c.schema != "" {
				var err error
				if asked.Schema, err = blueprint.Decode([]byte(c.schema)); err != nil {
					t.Fatal(err)
				}
			}
			var out strings.Builder
			q := &questions{in: strings.NewReader(c.typed), out: &out}
			answer, answered := q.ask(t.Context(), asked, "")
			got := ""
			if answered {
				data, err := blueprint.Encode(answer)
				if err != nil {
					t.Fatal(err)
				}
				got = string(data)
			}
			if got != c.answer {
				t.Errorf("the answer is %q, want %q", got, c.answer)
			}
			if diff := cmp.Diff(c.printed, out.String()); diff != "" {
				t.Errorf("it printed (-want +got):\n%s", diff)
			}
		})
	}
}

// TestQuestionAgain checks that a refused answer is explained, that the text of a blueprint
// cannot control the terminal, and that an interrupt ends the question.
func TestQuestionAgain(t *testing.T) {
	var out strings.Builder
	typed, terminal := io.Pipe()
	defer terminal.Close()
	q := &questions{in: typed, out: &out}
	asked := &blueprint.AwaitingInput{NodeID: "n", Kind: blueprint.AwaitHuman, Prompt: "One\x1b[2J\ntwo"}
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	for _, step := range []struct{ problem, want string }{
		{"", "n asks: One\uFFFD[2J\ntwo\nAnswer (text or JSON): \n"},
		{"input: must be a string", "input: must be a string\nAnswer (text or JSON): \n"},
	} {
		out.Reset()
		if answer, answered := q.ask(ctx, asked, step.problem); answered || out.String() != step.want {
			t.Errorf("%v, %t, printed %q, want %q", answer, answered, out.String(), step.want)
		}
	}
}

package command

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/blueprint/jsonschema"
)

// questions asks the user of a terminal for what a run waits for.
type questions struct {
	in    io.Reader
	out   io.Writer
	lines chan string // nil until the first question
}

// maxAnswer is the length of the longest answer, in bytes.
const maxAnswer = 1 << 20

// ask returns the answer to an approval or a human node. answered is false at the end of
// the input and of ctx. problem says what is wrong with the previous answer, "" for the
// first one.
func (q *questions) ask(ctx context.Context, asked *blueprint.AwaitingInput, problem string) (answer any, answered bool) {
	if problem != "" {
		q.say(problem)
	} else {
		q.say(fmt.Sprintf("%s asks: %s", asked.NodeID, asked.Prompt))
	}
	if asked.Kind == blueprint.AwaitApproval {
		approved, answered := q.until(ctx, "Approve? [y/N] ", yesOrNo)
		return map[string]any{"approved": approved}, answered
	}
	fields := fieldsOf(asked.Schema)
	if fields == nil {
		whole := field{name: "Answer", schema: asked.Schema, required: true}
		return q.until(ctx, whole.label(), whole.parse)
	}
	object := map[string]any{}
	for _, f := range fields {
		if f.about != "" {
			q.say("  " + f.about)
		}
		value, answered := q.until(ctx, f.label(), f.parse)
		if !answered {
			return nil, false
		}
		if value != left {
			object[f.name] = value
		}
	}
	return object, true
}

// say prints a text, which may be that of a blueprint, without control characters.
func (q *questions) say(text string) {
	for line := range strings.Lines(text) {
		fmt.Fprintln(q.out, blueprint.OneLine(strings.TrimRight(line, "\r\n")))
	}
}

// until asks until an answer can be parsed.
func (q *questions) until(ctx context.Context, label string, parse func(text string) (any, error)) (value any, answered bool) {
	for {
		text, ok := q.line(ctx, label)
		if !ok {
			fmt.Fprintln(q.out)
			return nil, false
		}
		value, err := parse(text)
		if err == nil {
			return value, true
		}
		q.say("  " + err.Error())
	}
}

// line reads a line. A goroutine waits for it, because a read of a terminal cannot be
// interrupted; it ends with the process.
func (q *questions) line(ctx context.Context, label string) (text string, ok bool) {
	if q.lines == nil {
		q.lines = make(chan string)
		go func() {
			defer close(q.lines)
			lines := bufio.NewScanner(q.in)
			lines.Buffer(nil, maxAnswer)
			for lines.Scan() {
				q.lines <- lines.Text()
			}
		}()
	}
	fmt.Fprint(q.out, blueprint.OneLine(label))
	select {
	case text, ok = <-q.lines:
		return strings.TrimSpace(text), ok
	case <-ctx.Done():
		return "", false
	}
}

func yesOrNo(text string) (any, error) {
	switch strings.ToLower(text) {
	case "y", "yes", "true":
		return true, nil
	case "", "n", "no", "false":
		return false, nil
	}
	return nil, errors.New("answer y or n")
}

// left is the value of an optional field without an answer.
var left = new(any)

// field is one member of an answer, or a whole answer.
type field struct {
	name     string
	about    string // title and description, may be ""
	schema   any
	required bool
}

// fieldsOf returns the members of an answer. It returns nil if the schema does not list members.
func fieldsOf(schema any) (fields []field) {
	for _, member := range jsonschema.Members(schema) {
		title, _ := member.Schema["title"].(string)
		description, _ := member.Schema["description"].(string)
		about := title
		if title != "" && description != "" {
			about += ": "
		}
		fields = append(fields, field{name: member.Name, about: about + description, schema: member.Schema, required: member.Required})
	}
	return fields
}

// kinds are the words for the types of JSON Schema.
var kinds = map[string]string{"string": "text", "integer": "a whole number", "number": "a number", "boolean": "y or n", "array": "a JSON array", "object": "a JSON object", "null": "null"}

// types returns the types that the schema allows; none if it does not say.
func (f *field) types() (types []string) {
	object, _ := f.schema.(map[string]any)
	list, several := object["type"].([]any)
	if !several {
		list = []any{object["type"]}
	}
	for _, element := range list {
		if name, _ := element.(string); kinds[name] != "" {
			types = append(types, name)
		}
	}
	return types
}

// choices returns the values that the schema allows, as text; none if it does not list them.
func (f *field) choices() (texts []string, values []any) {
	object, _ := f.schema.(map[string]any)
	values, _ = object["enum"].([]any)
	for _, value := range values {
		texts = append(texts, textOf(value))
	}
	return texts, values
}

func textOf(value any) string {
	if text, is := value.(string); is {
		return text
	}
	data, err := blueprint.Encode(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(data)
}

// accepts returns what the field accepts, in words.
func (f *field) accepts() string {
	words, _ := f.choices()
	if words == nil {
		for _, name := range f.types() {
			words = append(words, kinds[name])
		}
	}
	if words == nil {
		return "text or JSON"
	}
	return strings.Join(words, " or ")
}

// label returns the prompt for the field: its name and what it accepts.
func (f *field) label() string {
	accepts := f.accepts()
	if value, given := f.standard(); given {
		accepts += "; default " + textOf(value)
	} else if !f.required {
		accepts += "; optional"
	}
	return fmt.Sprintf("%s (%s): ", f.name, accepts)
}

// standard returns the default value of the field.
func (f *field) standard() (value any, given bool) {
	object, _ := f.schema.(map[string]any)
	value, given = object["default"]
	return value, given
}

// parse reads an answer by the types of the schema, and checks it against the schema.
func (f *field) parse(text string) (any, error) {
	value, given := f.standard()
	switch {
	case text == "" && given:
		return value, nil
	case text == "" && !f.required:
		return left, nil
	case text == "" && f.schema != nil:
		return nil, errors.New("required")
	}
	if value, given = f.read(text); !given {
		return nil, fmt.Errorf("want %s", f.accepts())
	}
	// A schema that refers to others compiles only as a part of the whole; the node checks
	// the complete answer.
	if compiled, err := jsonschema.Compile(f.schema); f.schema != nil && err == nil {
		if issues := compiled.Validate(value); len(issues) > 0 {
			return nil, errors.New(issues[0].Message)
		}
	}
	return value, nil
}

// read returns the value of a text by the types of the schema.
func (f *field) read(text string) (value any, ok bool) {
	if texts, values := f.choices(); texts != nil {
		if i := slices.Index(texts, text); i >= 0 {
			return values[i], true
		}
		return nil, false
	}
	decoded, err := blueprint.Decode([]byte(text))
	types := f.types()
	for _, name := range types {
		_, number := decoded.(json.Number)
		switch {
		case name == "boolean":
			if value, err := yesOrNo(text); err == nil {
				return value, true
			}
		case err != nil || name == "string":
		case name == jsonschema.TypeName(decoded), number && (name == "integer" || name == "number"):
			return decoded, true
		}
	}
	switch {
	case slices.Contains(types, "string"):
		return text, true
	case types == nil && err == nil:
		return decoded, true
	}
	return text, types == nil
}

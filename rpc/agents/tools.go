package agents

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"blueprintd/blueprint"
	"blueprintd/blueprint/jsonschema"
)

// Prefix begins the names of all tools. Tools that are blueprints have names without
// underscores, apart from _by_ before a part of an owner's id.
const Prefix = "build_"

// Caller is the caller of a tool.
type Caller struct {
	Scopes blueprint.KeyScopes
	// Call calls a procedure with the authority of the caller, for the tool of a name.
	Call func(ctx context.Context, tool, procedure string, input map[string]any) (any, error)
}

// May reports whether a caller is offered the tools.
func (c *Caller) May() bool { return c.Scopes.Allow(blueprint.ScopeWrite) }

// Tool is a tool as it is listed.
type Tool struct {
	Name, Title, Description string
	Input                    map[string]any // the JSON Schema of the arguments
	Reads                    bool           // it changes nothing
	run                      func(t *task, arguments map[string]any) (any, error)
}

// Tools are the tools, with what they need from the server.
type Tools struct {
	sandbox Sandbox
}

// New returns the tools.
func New(sandbox Sandbox) *Tools { return &Tools{sandbox} }

// List returns all tools.
func (*Tools) List() []Tool { return table }

// task is one call of a tool.
type task struct {
	context.Context
	caller  *Caller
	tool    string
	sandbox Sandbox
}

// call calls a procedure and returns its result, which is an object.
func (t *task) call(procedure string, input map[string]any) (map[string]any, error) {
	out, err := t.caller.Call(t, t.tool, procedure, input)
	if err != nil {
		return nil, err
	}
	object, ok := out.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%s returned no object", procedure)
	}
	return object, nil
}

// callList is call for a procedure whose result is a list.
func (t *task) callList(procedure string, input map[string]any) ([]any, error) {
	out, err := t.caller.Call(t, t.tool, procedure, input)
	if err != nil {
		return nil, err
	}
	list, ok := out.([]any)
	if !ok {
		return nil, fmt.Errorf("%s returned no list", procedure)
	}
	return list, nil
}

// Call calls a tool. found is false if there is none of the name. Errors that are
// *blueprint.Error are for the caller.
func (b *Tools) Call(ctx context.Context, caller *Caller, name string, arguments map[string]any) (result any, found bool, err error) {
	index := slices.IndexFunc(table, func(t Tool) bool { return t.Name == name })
	if index < 0 {
		return nil, false, nil
	}
	if !caller.May() {
		return nil, true, &blueprint.Error{
			Code: blueprint.CodeForbidden, Message: fmt.Sprintf("this API key lacks the scope %q; it has %s", blueprint.ScopeWrite, caller.Scopes),
			Hint: "create a key with the scopes read, run and write",
		}
	}
	tool := &table[index]
	if issues := schemas()[name].Validate(arguments); len(issues) > 0 {
		return nil, true, blueprint.InvalidInput(issues)
	}
	result, err = tool.run(&task{ctx, caller, name, b.sandbox}, arguments)
	return result, true, err
}

var schemas = sync.OnceValue(func() map[string]*jsonschema.Schema {
	compiled := make(map[string]*jsonschema.Schema, len(table))
	for i := range table {
		schema, err := jsonschema.Compile(table[i].Input)
		if err != nil {
			panic("agents: the schema of " + table[i].Name + ": " + err.Error())
		}
		compiled[table[i].Name] = schema
	}
	return compiled
})

// takes returns a schema of arguments. The names of required ones end in "!".
func takes(properties map[string]any) map[string]any {
	schema := map[string]any{"type": "object", "additionalProperties": false}
	known, required := map[string]any{}, []any{}
	for name, property := range properties {
		bare, needed := strings.CutSuffix(name, "!")
		if known[bare] = property; needed {
			required = append(required, bare)
		}
	}
	schema["properties"] = known
	if len(required) > 0 {
		slices.SortFunc(required, func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
		schema["required"] = required
	}
	return schema
}

// described returns a schema with a description, unless that is "".
func described(schema map[string]any, description string) map[string]any {
	if description != "" {
		schema["description"] = description
	}
	return schema
}

func text(description string) map[string]any {
	return described(map[string]any{"type": "string"}, description)
}

func whole(description string, least, most int) map[string]any {
	return described(map[string]any{"type": "integer", "minimum": number(least), "maximum": number(most)}, description)
}

func object(description string) map[string]any {
	return described(map[string]any{"type": "object"}, description)
}

func list(description string, items map[string]any) map[string]any {
	return described(map[string]any{"type": "array", "items": items}, description)
}

func anything(description string) map[string]any {
	return map[string]any{"description": description}
}

func oneOf(description string, words ...any) map[string]any {
	return described(map[string]any{"enum": words}, description)
}

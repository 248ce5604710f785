package nodes

import (
	"cmp"
	"context"
	"reflect"
	"slices"

	"blueprintd/blueprint"
)

// definition declares a node type. C is the struct of its config.
type definition[C any] struct {
	name, title, description string

	category string // one of categories
	order    int    // place within the category, from 1

	handles     []string
	effect      blueprint.Effect           // default: pure
	quick       bool                       // it only computes
	passesInput bool                       // its output is its input
	waits       string                     // for "time", "person" or "runs"
	connections []blueprint.ConnectionType // types that connectionId may name, the usual one first
	answeredBy  blueprint.Answerer         // in tests; default: none for pure types, else a cassette
	stub        string                     // for a service with a protocol of its own; see blueprint.NodeType
	example     string                     // a valid config as JSON
	starter     string                     // config of a new node as JSON; default: empty required values
	output      string                     // JSON Schema of the output, as far as known

	// check reports problems that the tags of C cannot express; see report.
	check func(c *C, r *report)
	run   func(ctx context.Context, task *blueprint.Task, c *C) (blueprint.Result, error)

	answer  func(task *blueprint.Task, c *C, answer any) (blueprint.Result, error)
	expired func(task *blueprint.Task, c *C) (blueprint.Result, error)
}

// define converts a definition to a blueprint.NodeType. Mistakes in it panic.
func define[C any](d definition[C]) *blueprint.NodeType {
	shape := shapeOf(reflect.TypeFor[C]())
	kind := &blueprint.NodeType{
		Type:        d.name,
		Title:       d.title,
		Description: d.description,
		Schema:      shape.schema(),
		Handles:     d.handles,
		Effect:      cmp.Or(d.effect, blueprint.EffectPure),
		Quick:       d.quick,
		Category:    d.category,
		Order:       100*(slices.Index(categories, d.category)+1) + d.order,
		PassesInput: d.passesInput,
		Waits:       d.waits,
		Connections: d.connections,
		AnsweredBy:  d.answeredBy,
		Stub:        d.stub,
		Example:     mustDecode(d.example).(map[string]any),
		Verbatim:    shape.untouched,
		Expressions: shape.expressions(""),
		References: func(config map[string]any) []blueprint.Reference {
			return shape.references(config, nil)
		},
		Check: func(config map[string]any) []blueprint.Issue {
			r := &report{config: config, static: true}
			d.decode(shape, r)
			r.warnEmpty(shape)
			return r.issues
		},
		Run: func(ctx context.Context, task *blueprint.Task) (blueprint.Result, error) {
			result, err := d.with(shape, task, func(c *C) (blueprint.Result, error) { return d.run(ctx, task, c) })
			result.PassInput = d.passesInput && err == nil
			return result, err
		},
	}
	kind.Starter = starterOf(kind.Schema)
	if d.starter != "" {
		kind.Starter = mustDecode(d.starter).(map[string]any)
	}
	if d.output != "" {
		kind.Output = mustDecode(d.output).(map[string]any)
	}
	if kind.AnsweredBy == "" && kind.Effect != blueprint.EffectPure {
		kind.AnsweredBy = blueprint.AnsweredByCassette
	}
	if d.answer != nil {
		kind.Answer = func(task *blueprint.Task, answer any) (blueprint.Result, error) {
			return d.with(shape, task, func(c *C) (blueprint.Result, error) { return d.answer(task, c, answer) })
		}
		kind.Expired = func(task *blueprint.Task) (blueprint.Result, error) {
			return d.with(shape, task, func(c *C) (blueprint.Result, error) { return d.expired(task, c) })
		}
	}
	return kind
}

// with calls f with the config of a task, unless the config is invalid.
func (d *definition[C]) with(shape *shape, task *blueprint.Task, f func(c *C) (blueprint.Result, error)) (blueprint.Result, error) {
	r := &report{config: task.Config}
	c := d.decode(shape, r)
	if len(r.issues) > 0 {
		return blueprint.Result{}, &blueprint.Failure{Code: codeBadConfig, Message: "config: " + issueText(r.issues), Permanent: true}
	}
	return f(c)
}

func (d *definition[C]) decode(shape *shape, r *report) *C {
	c := new(C)
	r.decode(shape, reflect.ValueOf(c).Elem(), r.config)
	if d.check != nil {
		d.check(c, r)
	}
	return c
}

// categories are the groups of the catalogue in display order.
var categories = []string{"flow", "data", "people", "services", "events"}

// starterOf returns a config with empty values for the required keys of a schema.
func starterOf(schema map[string]any) map[string]any {
	empty := map[string]any{"string": "", "object": map[string]any{}, "array": []any{}, "boolean": false}
	config := map[string]any{}
	properties, _ := schema["properties"].(map[string]any)
	required, _ := schema["required"].([]any)
	for _, name := range required {
		property, _ := properties[name.(string)].(map[string]any)
		kind, _ := property["type"].(string)
		if value, ok := empty[kind]; ok {
			config[name.(string)] = value
		}
	}
	return config
}

func mustDecode(text string) any {
	value, err := blueprint.Decode([]byte(text))
	if err != nil {
		panic("nodes: " + text + ": " + err.Error())
	}
	return value
}

package nodes

import (
	"cmp"
	"context"
	"reflect"
	"slices"

	"blueprintd/blueprint"
)

// definition is what a file of this package says of its type. C is the struct
// of its config.
type definition[C any] struct {
	name, title, description string

	category string // as in categories
	order    int    // its place within the category, from 1: what is used most comes first

	handles     []string
	effect      blueprint.Effect           // pure unless said otherwise
	quick       bool                       // it only computes
	passesInput bool                       // its output is its input
	waits       string                     // what it spends its time waiting for: "time", "person" or "runs"
	connections []blueprint.ConnectionType // that connectionId may name, the usual one first
	answeredBy  blueprint.Answerer         // itself when it is pure, else a cassette, unless said otherwise
	example     string                     // a config that works, as JSON
	starter     string                     // the config of a new node, as JSON; empty values of what is required when absent
	output      string                     // what is known of the output before a run, as a JSON Schema

	// check finds what the tags of C cannot say. It is asked before a run and
	// in it; see report.
	check func(c *C, r *report)
	run   func(ctx context.Context, task *blueprint.Task, c *C) (blueprint.Result, error)

	answer  func(task *blueprint.Task, c *C, answer any) (blueprint.Result, error)
	expired func(task *blueprint.Task, c *C) (blueprint.Result, error)
}

// define turns a definition into the type that everybody else sees. A mistake
// in a definition is a bug and panics.
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
		Example:     mustDecode(d.example).(map[string]any),
		Verbatim:    shape.untouched,
		Expressions: shape.expressions(""),
		References: func(config map[string]any) []blueprint.Reference {
			return shape.references(config, nil)
		},
		Check: func(config map[string]any) []blueprint.Issue {
			r := &report{config: config, static: true}
			d.decode(shape, r)
			r.empty(shape)
			return r.issues
		},
		Run: func(ctx context.Context, task *blueprint.Task) (blueprint.Result, error) {
			c, err := d.read(shape, task)
			if err != nil {
				return blueprint.Result{}, err
			}
			result, err := d.run(ctx, task, c)
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
	d.addAnswers(kind, shape)
	return kind
}

// addAnswers lets a type whose nodes ask for input take it.
func (d *definition[C]) addAnswers(kind *blueprint.NodeType, shape *shape) {
	if d.answer == nil {
		return
	}
	kind.Answer = func(task *blueprint.Task, answer any) (blueprint.Result, error) {
		c, err := d.read(shape, task)
		if err != nil {
			return blueprint.Result{}, err
		}
		return d.answer(task, c, answer)
	}
	kind.Expired = func(task *blueprint.Task) (blueprint.Result, error) {
		c, err := d.read(shape, task)
		if err != nil {
			return blueprint.Result{}, err
		}
		return d.expired(task, c)
	}
}

// read returns the config of a task, which is refused when it is wrong.
func (d *definition[C]) read(shape *shape, task *blueprint.Task) (*C, error) {
	r := &report{config: task.Config}
	c := d.decode(shape, r)
	if len(r.issues) > 0 {
		return nil, badConfig(r.issues)
	}
	return c, nil
}

// decode reads the config of a report, which takes what is wrong with it.
func (d *definition[C]) decode(shape *shape, r *report) *C {
	c := new(C)
	r.decode(shape, reflect.ValueOf(c).Elem(), r.config)
	if d.check != nil {
		d.check(c, r)
	}
	return c
}

// categories are the groups of the catalogue, in the order in which they are
// shown.
var categories = []string{"flow", "data", "people", "services", "events"}

// starterOf returns a config that holds what a schema requires, each key with
// the empty value of its type, so that a form and its warnings begin with it.
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

// mustDecode reads JSON that stands in this package.
func mustDecode(text string) any {
	value, err := blueprint.Decode([]byte(text))
	if err != nil {
		panic("nodes: " + text + ": " + err.Error())
	}
	return value
}

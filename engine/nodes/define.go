package nodes

import (
	"context"
	"reflect"

	"blueprintd/blueprint"
)

// definition is what a file of this package says of its type. C is the struct
// of its config.
type definition[C any] struct {
	name, title, description string

	handles []string
	effect  blueprint.Effect // pure unless said otherwise
	quick   bool             // it only computes
	example string           // a config that works, as JSON

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
	read := func(task *blueprint.Task) (*C, error) {
		c := new(C)
		r := &report{config: task.Config}
		r.decode(shape, reflect.ValueOf(c).Elem(), task.Config)
		if d.check != nil {
			d.check(c, r)
		}
		if len(r.issues) > 0 {
			return nil, badConfig(r.issues)
		}
		return c, nil
	}
	kind := &blueprint.NodeType{
		Type:        d.name,
		Title:       d.title,
		Description: d.description,
		Schema:      shape.schema(),
		Handles:     d.handles,
		Effect:      d.effect,
		Quick:       d.quick,
		Example:     mustDecode(d.example).(map[string]any),
		Untouched:   shape.untouched,
		Expressions: shape.expressions(""),
		References: func(config map[string]any) []blueprint.Reference {
			return shape.references(config, nil)
		},
		Check: func(config map[string]any) []blueprint.Issue {
			c := new(C)
			r := &report{config: config, static: true}
			r.decode(shape, reflect.ValueOf(c).Elem(), config)
			if d.check != nil {
				d.check(c, r)
			}
			r.empty(shape)
			return r.issues
		},
		Run: func(ctx context.Context, task *blueprint.Task) (blueprint.Result, error) {
			c, err := read(task)
			if err != nil {
				return blueprint.Result{}, err
			}
			return d.run(ctx, task, c)
		},
	}
	if kind.Effect == "" {
		kind.Effect = blueprint.EffectPure
	}
	if d.answer != nil {
		kind.Answer = func(task *blueprint.Task, answer any) (blueprint.Result, error) {
			c, err := read(task)
			if err != nil {
				return blueprint.Result{}, err
			}
			return d.answer(task, c, answer)
		}
		kind.Expired = func(task *blueprint.Task) (blueprint.Result, error) {
			c, err := read(task)
			if err != nil {
				return blueprint.Result{}, err
			}
			return d.expired(task, c)
		}
	}
	return kind
}

// mustDecode reads JSON that stands in this package.
func mustDecode(text string) any {
	value, err := blueprint.Decode([]byte(text))
	if err != nil {
		panic("nodes: " + text + ": " + err.Error())
	}
	return value
}

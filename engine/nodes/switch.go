package nodes

import (
	"context"

	"blueprintd/blueprint"
)

type switchConfig struct {
	Value anyValue     `key:"value" doc:"The value that the cases compare with; not needed if all of them have a condition."`
	Cases []switchWhen `key:"cases" required:"true" doc:"The cases in order; the run continues at the first one that matches, or at \"default\"."`
}

type switchWhen struct {
	Equals anyValue   `key:"equals" doc:"Matches a value that is the same JSON value; 1 and 1.0 are the same, 1 and \"1\" are not."`
	When   expression `key:"when" form:"condition" doc:"Matches when this expression, without braces, returns true."`
	Handle string     `key:"handle" required:"true" doc:"The handle at which the run continues."`
}

const defaultHandle = "default"

func switchCase() *blueprint.NodeType {
	return define(definition[switchConfig]{
		name:        "switch",
		category:    "flow",
		order:       2,
		passesInput: true,
		starter:     `{"value": "", "cases": []}`,
		quick:       true,
		title:       "Switch",
		description: "Continues at the handle of the first case that matches, or at \"default\". The output is the input.",
		handles:     []string{defaultHandle},
		example:     `{"value": "{{inputData.country ?? \"\"}}", "cases": [{"equals": "CH", "handle": "home"}, {"when": "len(inputData.items ?? []) > 5", "handle": "bulk"}]}`,
		check:       checkSwitch,
		run: func(_ context.Context, task *blueprint.Task, c *switchConfig) (blueprint.Result, error) {
			for i := range c.Cases {
				matches, err := c.matches(task, i)
				if err != nil {
					return blueprint.Result{}, err
				}
				if matches {
					return blueprint.Result{Handle: c.Cases[i].Handle}, nil
				}
			}
			return blueprint.Result{Handle: defaultHandle}, nil
		},
	})
}

func checkSwitch(c *switchConfig, r *report) {
	if r.isTemplate(r.config["cases"]) {
		r.issue("must be an array: its expressions cannot come from a template", "cases")
	}
	compares := false
	for i := range c.Cases {
		each := &c.Cases[i]
		r.condition(each.When, "cases", i, "when")
		compares = compares || each.Equals.Given
		if object, ok := r.config["cases"].([]any)[i].(map[string]any); ok && object["handle"] == "" {
			r.warn("is empty, so the case continues only at edges without a sourceHandle", "cases", i, "handle")
		}
		if each.Equals.Given && each.When != "" {
			r.issue("must have equals or when, not both", "cases", i)
		}
		if object, ok := r.config["cases"].([]any)[i].(map[string]any); ok && !each.Equals.Given && object["when"] == nil {
			r.issue("must have equals or when", "cases", i)
		}
	}
	if _, given := r.config["value"]; compares && !given {
		r.issue("required when a case has equals", "value")
	}
}

func (c *switchConfig) matches(task *blueprint.Task, i int) (bool, error) {
	each := &c.Cases[i]
	if each.Equals.Given {
		return blueprint.EqualValues(c.Value.Value, each.Equals.Value), nil
	}
	return condition(task, blueprint.PathText([]any{"cases", i, "when"}), each.When)
}

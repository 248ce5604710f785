package nodes

import (
	"cmp"
	"context"
	"slices"

	"blueprintd/blueprint"
	"blueprintd/engine/script"
	"blueprintd/foundation/clock"
)

type codeConfig struct {
	Language  string     `key:"language" enum:"javascript" default:"\"javascript\"" doc:"The language of the source."`
	Source    sourceCode `key:"source" required:"true" doc:"The body of a function with the parameters input, inputData, variables and nodes. Its return value is the output. It may use await. Templates are not resolved in it."`
	TimeoutMs *int64     `key:"timeoutMs" title:"Time limit" form:"duration-ms" default:"10000" minimum:"1" maximum:"300000" doc:"The time limit, in milliseconds of real time."`
	MemoryMb  *int64     `key:"memoryMb" title:"Memory in MiB" default:"64" minimum:"1" maximum:"512" doc:"The memory limit in MiB."`
}

// code runs a script. Date begins at {{now}}, and stands still on a virtual clock;
// Math.random is random unless the task has a seed.
func code(d Dependencies) *blueprint.NodeType {
	return define(definition[codeConfig]{
		name:        "code",
		category:    "data",
		order:       4,
		starter:     `{"language": "javascript", "source": "return input"}`,
		title:       "Code",
		description: "Runs JavaScript (ES2023) in a sandbox without files, network, environment or timers. The output is its return value: JSON, at most 1 MiB. Console output is written to the log of the run.",
		example:     `{"language": "javascript", "source": "const items = inputData.items ?? []\nreturn {count: items.length, names: items.map(item => item.name)}"}`,
		check: func(c *codeConfig, r *report) {
			if len(c.Source) > script.MaxSource {
				r.issue("is longer than 256 KiB", "source")
			}
		},
		run: func(ctx context.Context, task *blueprint.Task, c *codeConfig) (blueprint.Result, error) {
			return runScript(ctx, d, task, c)
		},
	})
}

func runScript(ctx context.Context, d Dependencies, task *blueprint.Task, c *codeConfig) (blueprint.Result, error) {
	if d.Scripts == nil {
		return blueprint.Result{}, &blueprint.Failure{Code: script.CodeUnavailable, Message: "this program was started without a sandbox for code", Permanent: true, NotSent: true}
	}
	_, virtual := d.Clock.(*clock.Virtual)
	values, err := scriptValues(task, string(c.Source))
	if err != nil {
		return blueprint.Result{}, err
	}
	program := script.Script{
		Owner: cmp.Or(task.BlueprintID, task.ExecutionID), Tenant: task.OrganizationID, Source: string(c.Source), Values: values, Now: task.Now, Still: virtual, Seed: task.Seed,
	}
	program.Timeout, program.Memory = milliseconds(c.TimeoutMs), numberOr(c.MemoryMb, 0)<<20
	outcome, err := d.Scripts.Do(ctx, program)
	for _, line := range outcome.Log {
		task.Log(line.Level, line.Message, nil)
	}
	return blueprint.Result{Output: outcome.Output}, err
}

// scriptValues returns the values that a source mentions; the others, such as the outputs
// of a thousand nodes, are not encoded. A source that mentions a secret variable without
// the required grant is refused.
func scriptValues(task *blueprint.Task, source string) (script.Values, error) {
	values := script.Values{Variables: map[string]any{}, Nodes: map[string]any{}}
	mentions := func(name string) bool { return script.Mentions(source, name) }
	if mentions("input") {
		values.Input, values.InputData = task.Input, task.InputData
	}
	if task.Scope == nil || !mentions("variables") && !mentions("nodes") {
		return values, nil
	}
	scope := task.Scope()
	if mentions("variables") {
		if scope.Variables != nil {
			values.Variables = scope.Variables
		}
		values.Denied = scope.Denied
		if scope.Missing != nil && slices.ContainsFunc(scope.Denied, mentions) {
			return values, scope.Missing
		}
	}
	if mentions("nodes") && scope.Nodes != nil {
		values.Nodes = scope.Nodes
	}
	return values, nil
}

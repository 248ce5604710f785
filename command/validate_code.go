package command

import (
	"context"
	"errors"
	"slices"
	"time"

	"blueprintd/blueprint"
	"blueprintd/engine/script"
	"blueprintd/foundation/clock"
	"blueprintd/project"
)

// The compiler's time for one node and for all files. A normal script takes a
// millisecond.
const (
	compileOneTime = 2 * time.Second
	compileAllTime = 10 * time.Second
)

type validation struct {
	files       *project.Inputs
	scripts     *script.Pool  // compiles the code of blueprints; nil skips that
	compileTime time.Duration // the rest of compileAllTime
}

type codeSource struct {
	text string
	path []any
}

// codeIn appends the sources of the code nodes of a map at a path, including those
// inside for-each nodes.
func codeIn(found []codeSource, m any, path []any) []codeSource {
	object, _ := m.(map[string]any)
	list, _ := object["nodes"].([]any)
	for i, element := range list {
		node, _ := element.(map[string]any)
		name, _ := node["type"].(string)
		config, _ := node["config"].(map[string]any)
		at := append(slices.Clone(path), "nodes", i, "config")
		switch blueprint.NormalType(name) {
		case "code":
			if text, ok := config["source"].(string); ok && len(text) <= script.MaxSource {
				found = append(found, codeSource{text, append(at, "source")})
			}
		case "for-each":
			found = codeIn(found, config, at)
		}
	}
	return found
}

// codeOfSeed returns the sources of the blueprints of a seed file.
func codeOfSeed(value any) (found []codeSource) {
	object, _ := value.(map[string]any)
	list, _ := object["blueprints"].([]any)
	for i, element := range list {
		b, _ := element.(map[string]any)
		found = codeIn(found, b["blueprint_map"], []any{"blueprints", i, "blueprint_map"})
	}
	return found
}

// compiled returns the sources that do not compile. They are compiled, and not run, in
// the isolated processes that run scripts. A source that cannot be checked is a warning.
func (in *validation) compiled(owner string, sources []codeSource) (issues []blueprint.Issue) {
	if in.scripts == nil || len(sources) == 0 {
		return nil
	}
	began := clock.Real{}.Now()
	defer func() { in.compileTime -= clock.Real{}.Now().Sub(began) }()
	ctx, cancel := context.WithTimeout(context.Background(), in.compileTime)
	defer cancel()
	for _, source := range sources {
		if len(issues) >= blueprint.MaxIssues {
			break
		}
		mistake, err := in.scripts.Check(ctx, script.Script{Owner: owner, Source: source.text, Timeout: compileOneTime})
		var failure *blueprint.Failure
		switch {
		case mistake != nil:
			issues = append(issues, blueprint.Issue{Path: source.path, Message: mistake.Message, Severity: blueprint.SeverityError, Spot: blueprint.Spot{Line: mistake.Line, Column: mistake.Column}})
		case ctx.Err() != nil:
			return append(issues, uncompiled(source, "too many scripts are slow to compile; the rest is not checked"))
		case errors.As(err, &failure):
			issues = append(issues, uncompiled(source, failure.Message))
			if failure.Code == script.CodeUnavailable { // for all sources
				return issues
			}
		case err != nil:
			return append(issues, uncompiled(source, err.Error()))
		}
	}
	return issues
}

func uncompiled(source codeSource, why string) blueprint.Issue {
	return blueprint.Issue{Path: source.path, Message: "was not compiled: " + why, Severity: blueprint.SeverityWarning}
}

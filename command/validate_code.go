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

// How long the compiler of code may take: for one node, and for all files. It
// takes a millisecond where nobody means harm.
const (
	compileOneTime = 2 * time.Second
	compileAllTime = 10 * time.Second
)

// validation looks for what is wrong with files.
type validation struct {
	files       *project.Inputs
	scripts     *script.Pool  // compiles the code of blueprints; nil = nobody does
	compileTime time.Duration // that is left for compiling
}

// codeSource is the source of a code node.
type codeSource struct {
	text string
	path []any
}

// codeIn adds the sources of the code nodes of a map, and of those that run for
// each item; path is that of the map.
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

// compiled tells which sources do not compile. Nothing of them runs, and they are
// compiled where code runs: in a process that may do nothing else. What cannot be
// found out is a warning.
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
			return append(issues, uncompiled(source, "there are too many that take long; the rest is not looked at"))
		case errors.As(err, &failure):
			issues = append(issues, uncompiled(source, failure.Message))
			if failure.Code == script.CodeUnavailable { // it will not be for the next one, either
				return issues
			}
		case err != nil:
			return append(issues, uncompiled(source, err.Error()))
		}
	}
	return issues
}

func uncompiled(source codeSource, why string) blueprint.Issue {
	return blueprint.Issue{Path: source.path, Message: "is not checked for mistakes: " + why, Severity: blueprint.SeverityWarning}
}

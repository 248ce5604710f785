package engine

import (
	"context"
	"maps"

	"blueprintd/blueprint"
)

// authority returns under whose rights the run uses resources. It is final once the
// run is set up, and must not be changed.
func (r *fold) authority() blueprint.Authority {
	if r.begin.Map == nil && len(r.begin.Lineage) == 0 {
		return blueprint.Authority{PrincipalID: r.begin.UserID, Versions: r.program.versions}
	}
	own := r.program.definition.Ref
	if r.begin.Map != nil { // not the stored one
		own = blueprint.VersionRef{BlueprintID: own.BlueprintID, Author: r.begin.MapAuthor}
	}
	lineage := r.begin.Lineage
	return blueprint.Authority{PrincipalID: r.begin.UserID, Versions: append(lineage[:len(lineage):len(lineage)], own)}
}

// authorize asks whether a run may use a resource now.
func (e *Engine) authorize(ctx context.Context, authority blueprint.Authority, resource blueprint.Resource) error {
	if e.Authority == nil {
		return nil
	}
	return e.Authority.Authorize(ctx, authority, resource)
}

// mayUse checks that the run may use those of the named variables that are secret.
// What its caller passed is the caller's own.
func (a *attempt) mayUse(ctx context.Context, names []string) error {
	r := a.run
	for _, name := range names {
		if _, own := r.begin.Given[name]; own || !r.program.secret(name) {
			continue
		}
		if !r.begin.CanManage {
			return deniedFailure(name)
		}
		err := r.engine.authorize(ctx, r.authority(), blueprint.Resource{Kind: blueprint.ResourceSecret, ID: r.program.definition.BlueprintID, Name: name})
		if blueprint.CodeOf(err) == blueprint.CodeNotFound {
			return deniedFailure(name)
		}
		return err // who may use one may use them all
	}
	return nil
}

// withoutSecrets returns the variables that a caller passed without the secret ones,
// for a run of another user. One that has no default is a CodeBadRequest error: a
// secret that a run may not use must not seem to be empty.
func (p *program) withoutSecrets(given map[string]any) (map[string]any, error) {
	out := maps.Clone(given)
	var issues []blueprint.Issue
	for _, variable := range p.definition.Variables {
		if _, passed := given[variable.Name]; !passed || !variable.Secret {
			continue
		}
		delete(out, variable.Name)
		if !variable.HasDefault {
			issues = append(issues, blueprint.Issue{Path: []any{variable.Name}, Message: "is a secret of the user who started the run, and has no default; start the blueprint with a value of your own"})
		}
	}
	if len(issues) > 0 {
		return nil, variableError(issues)
	}
	return out, nil
}

// collect returns what code may see of the run: all but the secret variables that
// it may not use.
func (a *attempt) collect(ctx context.Context) blueprint.NodeScope {
	err := a.mayUse(ctx, a.run.program.secrets)
	out := a.scope.collect(err != nil)
	if err != nil {
		out.Missing = failureOf(err).Grant
	}
	return out
}

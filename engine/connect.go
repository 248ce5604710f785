package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"slices"

	"blueprintd/blueprint"
	"blueprintd/foundation/secret"
)

// use is a connection that a node opened, as the record keeps it.
type use struct {
	Connection string                   `json:"id"`
	Type       blueprint.ConnectionType `json:"k"`
	Auth       string                   `json:"auth,omitempty"`
	SignIn     bool                     `json:"signIn,omitempty"`
}

// connect opens a connection for the node. Its secrets are hidden in all that
// is shown of the run from now on.
func (a *attempt) connect(ctx context.Context, id string) (*blueprint.OpenConnection, error) {
	r := a.run
	if r.engine.Connections == nil {
		return nil, unconnected("connections are not available to a file that runs by itself: import it, and run it on a server")
	}
	open, err := r.engine.Connections.Open(ctx, blueprint.ConnectionUse{ConnectionID: id, UserID: r.begin.UserID, Versions: r.authority().Versions, ExecutionID: r.id, Address: a.address, OnSecret: a.learn})
	switch code := blueprint.CodeOf(err); {
	case err == nil:
	case code == blueprint.CodeNotFound, code == blueprint.CodeForbidden, code == blueprint.CodeBadRequest:
		return nil, unconnected("there is no connection " + id + " that this run may use")
	default:
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.learn(open.Secrets)
	a.credentials = append(a.credentials, open.Secrets...)
	a.uses = append(a.uses, use{open.ID, open.Type, open.Auth, open.SignIn})
	return open, nil
}

// learn hides a secret that came into the run while a node was at work.
func (a *attempt) learn(value string) {
	a.run.mu.Lock()
	defer a.run.mu.Unlock()
	a.run.learn([]string{value})
	a.credentials = append(a.credentials, value)
}

// learn notes values that nobody may see. r.mu is held.
func (r *run) learn(secrets []string) {
	fresh := slices.DeleteFunc(slices.Clone(secrets), func(s string) bool { return s == "" || slices.Contains(r.hidden, s) })
	if len(fresh) > 0 && !r.gone && !r.ended {
		r.record(&entry{Kind: entryHide, At: blueprint.TimeOf(r.engine.Clock.Now()), Secrets: fresh})
	}
}

func unconnected(message string) *blueprint.Failure {
	return &blueprint.Failure{Code: "connection_unavailable", Message: message, Permanent: true, NotSent: true}
}

// hide masks values besides those of secret variables. The run's mu is held.
func (r *fold) hide(values []string) {
	r.hidden = append(r.hidden, values...)
	slices.Sort(r.hidden)
	r.hidden = slices.Compact(r.hidden)
	all := slices.Clone(r.secrets)
	for _, value := range r.hidden {
		all = append(all, value)
	}
	r.masker.Store(secret.NewMasker(all))
}

// server is an MCP server that a node asked, as the record keeps it.
type server struct {
	Name string `json:"n"`
	At   string `json:"at"` // a digest of its address, which may hold a secret
}

func serversOf(list []blueprint.MCPServer) []server {
	var out []server
	for _, one := range list {
		sum := sha256.Sum256([]byte(one.Address))
		out = append(out, server{one.Name, hex.EncodeToString(sum[:8])})
	}
	return out
}

// note keeps which services a node used.
func (n *nodeRun) note(uses []use, servers []server) {
	for _, u := range uses {
		if !slices.Contains(n.uses, u) {
			n.uses = append(n.uses, u)
		}
	}
	for _, server := range servers {
		if !slices.Contains(n.servers, server) {
			n.servers = append(n.servers, server)
		}
	}
}

// SignedIn lets a node that waits for a sign-in, or is about to, look again
// whether there was one. It returns once that is durable. A run that does not wait for it (any
// more) is left alone.
func (e *Engine) SignedIn(ctx context.Context, executionID, address string) error {
	r, err := e.acquire(ctx, executionID)
	if code := blueprint.CodeOf(err); code == blueprint.CodeConflict || code == blueprint.CodeNotFound {
		return nil
	}
	if err != nil {
		return err
	}
	if n := r.find(address); n != nil && n.phase == working {
		n.signedIn = true // it is about to ask, and need not
	} else if n != nil && n.phase == awaiting && n.await.Kind == blueprint.AwaitOAuth {
		r.record(&entry{Kind: entryAgain, Node: address, At: blueprint.TimeOf(e.Clock.Now()), Attempt: n.attempt})
		r.armNode(n)
		r.mu.Unlock()
		err = r.flush()
		e.changed(r.id)
		r.mu.Lock()
		if err != nil {
			e.release(r)
			return err
		}
	}
	e.release(r)
	return nil
}

// emitter returns what raises events for the node; nil when nobody listens.
func (a *attempt) emitter() func(ctx context.Context, event string, data any) (int, error) {
	r := a.run
	if r.engine.Emit == nil {
		return nil
	}
	return func(ctx context.Context, event string, data any) (int, error) {
		if r.begin.privateTo() != "" { // a user who may only start the blueprint starts nothing else with it
			return 0, nil
		}
		r.mu.Lock()
		hidden := r.allSecrets()
		r.mu.Unlock()
		definition := r.program.definition
		started, err := r.engine.Emit(ctx, blueprint.Event{
			Name: event, OrganizationID: definition.OrganizationID, BlueprintID: definition.BlueprintID, ExecutionID: r.id,
			Key: r.idempotencyKey(a.address), Data: data, Hidden: hidden, Depth: r.chain(), Root: r.cause(), At: blueprint.TimeOf(r.engine.Clock.Now()),
		})
		if err != nil && r.engine.stopping.Load() && blueprint.CodeOf(err) == blueprint.CodeUnavailable {
			return started, errStopping // the node is cut off, and runs again at the next start
		}
		if err != nil && !errors.Is(err, context.Canceled) && blueprint.CodeOf(err) == blueprint.CodeInternal {
			r.engine.Logger.Error("an event could not be raised", "execution", r.id, "node", a.address, "error", err)
		}
		return started, err
	}
}

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

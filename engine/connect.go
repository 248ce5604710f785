package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/secret"
)

// usedConnection is a connection that a node opened.
type usedConnection struct {
	Connection string                   `json:"id"`
	Type       blueprint.ConnectionType `json:"k"`
	Auth       string                   `json:"auth,omitempty"` // "" if no credentials were sent
	SignIn     bool                     `json:"signIn,omitempty"`
}

// openedConnection is a connection that an attempt opened.
type openedConnection struct {
	usedConnection
	authorized atomic.Bool // a request got its credentials
	sent       atomic.Bool // its credentials were sent other than with a request
}

// watch records the use of the credentials of a connection.
func (o *openedConnection) watch(open *blueprint.OpenConnection) {
	open.Sent = func() { o.sent.Store(true) }
	if authorize := open.Authorize; authorize != nil {
		open.Authorize = func(ctx context.Context, request *http.Request) error {
			err := authorize(ctx, request)
			if err == nil {
				o.authorized.Store(true)
			}
			return err
		}
	}
}

// uses returns the connections that the attempt opened. A request that got credentials was
// not sent if there was no connection to any server.
func (a *attempt) uses() []usedConnection {
	requested := a.evidence.Sent()
	var list []usedConnection
	for _, o := range a.opened {
		used := o.usedConnection
		if !o.sent.Load() && (!requested || !o.authorized.Load()) {
			used.Auth = ""
		}
		list = append(list, used)
	}
	return list
}

// connect opens a connection. Its secrets are redacted wherever the run is shown.
func (a *attempt) connect(ctx context.Context, id string) (*blueprint.OpenConnection, error) {
	r := a.run
	if r.engine.Connections == nil {
		return nil, unconnected("connections are not available to a local run of a file: import the file and run it on a server")
	}
	use := blueprint.ConnectionUse{ConnectionID: id, UserID: r.begin.UserID, Versions: r.authority().Versions, ExecutionID: r.id, Address: a.address, OnSecret: a.hideSecret}
	open, err := throughOutages(ctx, r.engine, func() (*blueprint.OpenConnection, error) { return r.engine.Connections.Open(ctx, use) })
	switch code := blueprint.CodeOf(err); {
	case err == nil:
	case code == blueprint.CodeNotFound, code == blueprint.CodeForbidden, code == blueprint.CodeBadRequest:
		return nil, unconnected("there is no connection " + id + " that this run may use")
	default:
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hideSecrets(open.Secrets)
	a.credentials = append(a.credentials, open.Secrets...)
	opened := &openedConnection{usedConnection: usedConnection{open.ID, open.Type, open.Auth, open.SignIn}}
	opened.watch(open)
	a.opened = append(a.opened, opened)
	return open, nil
}

// hideSecret redacts a secret that enters the run while a node is running.
func (a *attempt) hideSecret(value string) {
	a.run.mu.Lock()
	defer a.run.mu.Unlock()
	a.run.hideSecrets([]string{value})
	a.credentials = append(a.credentials, value)
}

// hideSecrets redacts values wherever the run is shown. The caller holds r.mu.
func (r *run) hideSecrets(secrets []string) {
	fresh := slices.DeleteFunc(slices.Clone(secrets), func(s string) bool {
		_, known := slices.BinarySearch(r.hidden, s)
		return s == "" || known
	})
	if len(fresh) > 0 && !r.evicted && !r.ended {
		r.record(&entry{Kind: entryHide, At: r.engine.now(), details: &details{Secrets: fresh}})
	}
}

func unconnected(message string) *blueprint.Failure {
	return &blueprint.Failure{Code: "connection_unavailable", Message: message, Permanent: true, NotSent: true}
}

// hide adds secrets to those of secret variables.
func (r *fold) hide(values []string) {
	for _, value := range values {
		if at, known := slices.BinarySearch(r.hidden, value); !known {
			r.hidden = slices.Insert(r.hidden, at, value)
			r.masker.add(value)
		}
	}
}

// lazyMasker makes the Masker of a run once it is needed: a run may hide many secrets, one
// after the other, and each Masker takes time for all of them. It is safe for concurrent use.
type lazyMasker struct {
	mu     sync.Mutex
	values []any
	masker *secret.Masker // of the values, unless there are newer ones
	stale  bool
}

func (m *lazyMasker) add(values ...any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.values, m.stale = append(m.values, values...), m.stale || len(values) > 0
}

// Load returns the Masker, nil if there is nothing to mask.
func (m *lazyMasker) Load() *secret.Masker {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stale {
		m.masker, m.stale = secret.NewMasker(m.values), false
	}
	return m.masker
}

// usedServer is an MCP server that a node used.
type usedServer struct {
	Name string `json:"n"`
	At   string `json:"at"` // digest of its address, which may hold a secret
}

func usedServers(list []blueprint.MCPServer) []usedServer {
	var out []usedServer
	for _, one := range list {
		sum := sha256.Sum256([]byte(one.Address))
		out = append(out, usedServer{one.Name, hex.EncodeToString(sum[:8])})
	}
	return out
}

// SignedIn lets a node that waits for a sign-in, or is about to, check for it again. It
// returns once that is durable. A run that does not wait for it (any more) stays unchanged.
func (e *Engine) SignedIn(ctx context.Context, executionID, address string) error {
	return e.elsewhere(ctx, executionID, &command{SignedIn: &address}, func() error { return e.signedIn(ctx, executionID, address) })
}

func (e *Engine) signedIn(ctx context.Context, executionID, address string) error {
	r, err := e.acquire(ctx, executionID)
	if code := blueprint.CodeOf(err); code == blueprint.CodeConflict || code == blueprint.CodeNotFound {
		return nil
	}
	if err != nil {
		return err
	}
	if n := r.find(address); n != nil && n.phase == working {
		n.signedIn = true // it is about to ask, which is no longer necessary
	} else if n != nil && n.phase == awaiting && n.await.Kind == blueprint.AwaitOAuth {
		r.record(&entry{Kind: entryAgain, Node: address, At: e.now(), Attempt: n.attempt})
		r.ensureTimerFor(n)
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

// emitter returns the function that publishes events of the node; nil without triggers.
func (a *attempt) emitter() func(ctx context.Context, event string, data any) (int, error) {
	r := a.run
	if r.engine.Emit == nil {
		return nil
	}
	return func(ctx context.Context, event string, data any) (int, error) {
		if r.begin.privateTo() != "" { // the principal may start this blueprint only, nothing else
			return 0, nil
		}
		definition := r.program.definition
		// The principal may have left since the start.
		err := r.engine.authorize(ctx, blueprint.Authority{PrincipalID: r.begin.UserID}, blueprint.Resource{Kind: blueprint.ResourceEvents, ID: definition.BlueprintID})
		if err != nil {
			if blueprint.CodeOf(err) == blueprint.CodeNotFound {
				err = nil
			}
			return 0, err
		}
		r.mu.Lock()
		hidden := r.secretsFor(nil, data)
		r.mu.Unlock()
		published := blueprint.Event{
			Name: event, OrganizationID: definition.OrganizationID, BlueprintID: definition.BlueprintID, ExecutionID: r.id,
			Key: r.idempotencyKey(a.address), Data: data, Hidden: hidden, Depth: r.eventDepth(), Root: r.rootEvent(), At: r.engine.now(),
		}
		started, err := throughOutages(ctx, r.engine, func() (int, error) { return r.engine.Emit(ctx, published) })
		if err != nil && r.engine.stopping.Load() && blueprint.CodeOf(err) == blueprint.CodeUnavailable {
			return started, errStopping // the node runs again at the next start
		}
		if err != nil && ctx.Err() == nil && !errors.Is(err, errStopping) && blueprint.CodeOf(err) == blueprint.CodeInternal {
			r.engine.Logger.Error("event publication failed", "execution", r.id, "node", a.address, "error", err)
		}
		return started, err
	}
}

// authority returns the users and versions whose rights limit the run's use of resources.
// It is final once the run is set up, and must not be changed.
func (r *fold) authority() blueprint.Authority {
	if r.begin.Map == nil && len(r.begin.Lineage) == 0 {
		return blueprint.Authority{PrincipalID: r.begin.UserID, Versions: r.program.versions}
	}
	own := r.program.definition.Ref
	if r.begin.Map != nil { // an ad hoc map
		own = blueprint.VersionRef{BlueprintID: own.BlueprintID, Author: r.begin.MapAuthor}
	}
	lineage := r.begin.Lineage
	return blueprint.Authority{PrincipalID: r.begin.UserID, Versions: append(lineage[:len(lineage):len(lineage)], own)}
}

func (e *Engine) authorize(ctx context.Context, authority blueprint.Authority, resource blueprint.Resource) error {
	if e.Authority == nil {
		return nil
	}
	_, err := throughOutages(ctx, e, func() (struct{}, error) { return struct{}{}, e.Authority.Authorize(ctx, authority, resource) })
	return err
}

// throughOutages calls the database for a node, and repeats the call during an outage, so that
// the run does not fail. The caller must not hold a lock.
func throughOutages[T any](ctx context.Context, e *Engine, call func() (T, error)) (result T, err error) {
	for delay := firstCommitDelay; ; delay = min(2*delay, lastCommitDelay) {
		if result, err = call(); !blueprint.IsOutage(err) {
			return result, err
		}
		if e.stopping.Load() {
			return result, errStopping // the node runs again at the next start
		}
		if !clock.Sleep(ctx, delay) {
			return result, context.Cause(ctx)
		}
	}
}

// mayUse checks that the run may use those of the named variables that are secret.
// Values that its caller passed are the caller's own.
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
		return err // access to one secret variable is access to all
	}
	return nil
}

// withoutSecrets returns the variables passed by a caller without the secret ones, for a
// run of another user. A secret variable without a default is a CodeBadRequest error,
// because an unavailable secret must not look empty.
func (p *program) withoutSecrets(given map[string]any) (map[string]any, error) {
	out := maps.Clone(given)
	var issues []blueprint.Issue
	for _, variable := range p.definition.Variables {
		if _, passed := given[variable.Name]; !passed || !variable.Secret {
			continue
		}
		delete(out, variable.Name)
		if !variable.HasDefault {
			issues = append(issues, blueprint.Issue{Path: []any{variable.Name}, Message: "is a secret of the user who started the run and has no default; start the blueprint with a value of your own"})
		}
	}
	if len(issues) > 0 {
		return nil, variableError(issues)
	}
	return out, nil
}

// collect returns the values that code may see of the run: everything except secret
// variables that it may not use.
func (a *attempt) collect(ctx context.Context) blueprint.NodeScope {
	err := a.mayUse(ctx, a.run.program.secrets)
	out := a.scope.collect(err != nil)
	if err != nil {
		out.Missing = failureOf(err).Grant
	}
	return out
}

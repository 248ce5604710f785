package trpc

import (
	"context"
	"net/http"
	"reflect"

	"blueprintd/blueprint"
)

// Kind is the kind of a procedure, which determines how it is called.
type Kind string

const (
	KindQuery        Kind = "query"        // GET; changes nothing
	KindMutation     Kind = "mutation"     // POST
	KindSubscription Kind = "subscription" // GET, answered as server-sent events
)

// method is the one HTTP method that calls a procedure of this kind.
func (k Kind) method() string {
	if k == KindMutation {
		return http.MethodPost
	}
	return http.MethodGet
}

// Procedure is one callable operation, made with Query, Mutation or Subscription.
type Procedure struct {
	Name   string       // "blueprint.list"
	Kind   Kind         //
	Input  reflect.Type // the struct that the input is decoded into
	Output reflect.Type // of a subscription: each value that it sends
	Public bool         // callable without a key
	// Scope is what a key needs to call it. Public procedures ask for no key.
	Scope blueprint.KeyScope

	// call runs a query or a mutation, stream a subscription. Both decode
	// the input first.
	call   func(ctx context.Context, caller *Caller, in rawInput) (any, error)
	stream func(ctx context.Context, caller *Caller, in rawInput, emit func(value any) error) error
}

// Caller is the authenticated caller of a procedure. Each call of a batch has its own.
type Caller struct {
	blueprint.Admission
	RequestID string // names the request in the log
	Via       string // "api" or "dashboard", for the audit log
	Tool      string // the tool of /mcp that makes the call, for the audit log; "" = none

	// Header holds headers to add to the response, such as Set-Cookie. Streams and
	// subscriptions ignore it.
	Header http.Header

	Request *http.Request
	from    origin
	Noted   Note // set by Note and NoteNothing
}

// Streams reports whether the call is part of a streamed batch, which ignores Header.
func (c *Caller) Streams() bool { return asksForLines(c.Request.Header) }

// Query returns a procedure that changes nothing.
func Query[In, Out any](name string, scope blueprint.KeyScope, run func(context.Context, *Caller, In) (Out, error)) Procedure {
	return procedureOf(name, KindQuery, scope, run)
}

// Mutation returns a procedure that changes something.
func Mutation[In, Out any](name string, scope blueprint.KeyScope, run func(context.Context, *Caller, In) (Out, error)) Procedure {
	return procedureOf(name, KindMutation, scope, run)
}

func procedureOf[In, Out any](name string, kind Kind, scope blueprint.KeyScope, run func(context.Context, *Caller, In) (Out, error)) Procedure {
	decode := inputDecoder[In](name)
	return Procedure{
		Name: name, Kind: kind, Scope: scope, Input: reflect.TypeFor[In](), Output: reflect.TypeFor[Out](),
		call: func(ctx context.Context, caller *Caller, raw rawInput) (any, error) {
			in, err := decode(raw)
			if err != nil {
				return nil, err
			}
			out, err := run(ctx, caller, in)
			if list := reflect.ValueOf(&out).Elem(); list.Kind() == reflect.Slice && list.IsNil() {
				list.Set(reflect.MakeSlice(list.Type(), 0, 0)) // null in JSON otherwise
			}
			return out, err
		},
	}
}

// Subscription returns a procedure that sends values until it returns. emit fails once
// the subscriber has disconnected; it is safe for concurrent use.
func Subscription[In, Out any](name string, scope blueprint.KeyScope, run func(ctx context.Context, caller *Caller, in In, emit func(value Out) error) error) Procedure {
	decode := inputDecoder[In](name)
	return Procedure{
		Name: name, Kind: KindSubscription, Scope: scope, Input: reflect.TypeFor[In](), Output: reflect.TypeFor[Out](),
		stream: func(ctx context.Context, caller *Caller, raw rawInput, emit func(value any) error) error {
			in, err := decode(raw)
			if err != nil {
				return err
			}
			return run(ctx, caller, in, func(value Out) error { return emit(value) })
		},
	}
}

// Around wraps the calls of a query or a mutation in run, which decides whether to make
// the call. The input is decoded within call.
func (p *Procedure) Around(run func(ctx context.Context, caller *Caller, call func(context.Context) (any, error)) (any, error)) {
	inner := p.call
	p.call = func(ctx context.Context, caller *Caller, in rawInput) (any, error) {
		return run(ctx, caller, func(ctx context.Context) (any, error) { return inner(ctx, caller, in) })
	}
}

// Public returns a copy of a procedure that needs no key. Its Caller has no principal.
func Public(procedure Procedure) Procedure {
	procedure.Public = true
	return procedure
}

// inputDecoder compiles the decoder of an input type. It panics for an unusable one.
func inputDecoder[In any](name string) func(rawInput) (In, error) {
	plan := compileInput(name, reflect.TypeFor[In]())
	return func(raw rawInput) (In, error) {
		var in In
		err := plan.decode(raw, reflect.ValueOf(&in).Elem())
		return in, err
	}
}

// Note is the audit entry of a call, unless the database wrote it with the change.
type Note struct {
	Kind, ID     string // of what was changed
	Organization string // "" = that of the target
	Detail       map[string]any
	Always       bool // the entry is written even if the call fails afterwards
	Nothing      bool // nothing was changed: there is no entry
}

// Note sets the audit entry of a call as soon as the change is made: the entry is written
// even if the call fails afterwards, as when the caller disconnects. detail must not hold
// a secret.
func (c *Caller) Note(kind, id string, detail map[string]any) {
	c.Noted = Note{Kind: kind, ID: id, Detail: detail, Always: true}
}

// NoteNothing suppresses the audit entry of a call that has changed nothing.
func (c *Caller) NoteNothing() { c.Noted.Nothing = true }

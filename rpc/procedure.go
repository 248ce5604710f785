package rpc

import (
	"context"
	"net/http"
	"reflect"

	"blueprintd/blueprint"
)

// Kind is what a procedure does to the world, and so how it is called.
type Kind string

// The kinds, by the names that appear in messages.
const (
	Query        Kind = "query"        // GET; changes nothing
	Mutation     Kind = "mutation"     // POST
	Subscription Kind = "subscription" // GET, answered as server-sent events
)

// method is the one HTTP method that calls a procedure of this kind.
func (k Kind) method() string {
	if k == Mutation {
		return http.MethodPost
	}
	return http.MethodGet
}

// The scopes, as tables of procedures name them.
const (
	scopeRead  = blueprint.ScopeRead
	scopeRun   = blueprint.ScopeRun
	scopeWrite = blueprint.ScopeWrite
	scopeAdmin = blueprint.ScopeAdmin
)

// Procedure is one callable operation. Tables of procedures are made with
// query, mutation and subscription.
type Procedure struct {
	Name   string       // "blueprint.list"
	Kind   Kind         //
	Input  reflect.Type // the struct that the input is decoded into
	Output reflect.Type // nil for a subscription
	Public bool         // callable without a key
	// Scope is what a key needs to call it. Public procedures ask for no key.
	Scope blueprint.KeyScope

	// call runs a query or a mutation, stream a subscription. Both decode
	// the input first.
	call   func(ctx context.Context, caller *Caller, in rawInput) (any, error)
	stream func(ctx context.Context, caller *Caller, in rawInput, emit func(value any) error) error
}

// Caller is who calls, carried to every procedure. Each call of a batch has
// its own.
type Caller struct {
	blueprint.Admission
	RequestID string // names the request in the log
	Via       string // "api" or "dashboard", for the audit log

	// Header takes headers for the answer, such as Set-Cookie. Streams and
	// subscriptions have sent theirs already and ignore it.
	Header http.Header

	// request is for procedures that deal in cookies and addresses.
	request *http.Request
	from    origin
	// noted is for the audit log; see note.
	noted noted
}

// query makes a procedure that changes nothing.
func query[In, Out any](name string, scope blueprint.KeyScope, run func(context.Context, *Caller, In) (Out, error)) Procedure {
	return procedureOf(name, Query, scope, run)
}

// mutation makes a procedure that changes something.
func mutation[In, Out any](name string, scope blueprint.KeyScope, run func(context.Context, *Caller, In) (Out, error)) Procedure {
	return procedureOf(name, Mutation, scope, run)
}

// procedureOf erases the types of a query or a mutation.
func procedureOf[In, Out any](name string, kind Kind, scope blueprint.KeyScope, run func(context.Context, *Caller, In) (Out, error)) Procedure {
	decode := inputDecoder[In](name)
	return Procedure{
		Name: name, Kind: kind, Scope: scope, Input: reflect.TypeFor[In](), Output: reflect.TypeFor[Out](),
		call: func(ctx context.Context, caller *Caller, raw rawInput) (any, error) {
			in, err := decode(raw)
			if err != nil {
				return nil, err
			}
			return run(ctx, caller, in)
		},
	}
}

// subscription makes a procedure that sends values until it returns. emit
// fails once the subscriber is gone; it is safe for concurrent use.
func subscription[In any](name string, scope blueprint.KeyScope, run func(ctx context.Context, caller *Caller, in In, emit func(value any) error) error) Procedure {
	decode := inputDecoder[In](name)
	return Procedure{
		Name: name, Kind: Subscription, Scope: scope, Input: reflect.TypeFor[In](),
		stream: func(ctx context.Context, caller *Caller, raw rawInput, emit func(value any) error) error {
			in, err := decode(raw)
			if err != nil {
				return err
			}
			return run(ctx, caller, in, emit)
		},
	}
}

// public opens a procedure to callers without a key. Its Caller has no
// principal, and no rate limit holds for it.
func public(procedure Procedure) Procedure {
	procedure.Public = true
	return procedure
}

// inputDecoder compiles the decoder of one input type, once, at start. It
// panics when the type cannot be an input.
func inputDecoder[In any](name string) func(rawInput) (In, error) {
	plan := compileInput(name, reflect.TypeFor[In]())
	return func(raw rawInput) (In, error) {
		var in In
		err := plan.decode(raw, reflect.ValueOf(&in).Elem())
		return in, err
	}
}

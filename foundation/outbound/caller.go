package outbound

import (
	"context"

	"blueprintd/foundation/secret"
)

// Caller is the node on whose behalf something goes out.
type Caller struct {
	ExecutionID string
	BlueprintID string
	Address     string // of the node
	NodeType    string
	Attempt     int // from 1
	// Secrets gives what masks the secrets of the run, as far as they are known by
	// now; nil = none are. It is safe for concurrent use.
	Secrets interface{ Load() *secret.Masker }
}

type callerKey struct{}

// WithCaller gives a context under which whatever goes out is known to come from
// a node.
func WithCaller(ctx context.Context, caller Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, caller)
}

// CallerOf gives the node that a context belongs to; empty when it is none's.
func CallerOf(ctx context.Context) Caller {
	caller, _ := ctx.Value(callerKey{}).(Caller)
	return caller
}

package blueprint

import "time"

// MaxNodes is how many nodes one map may hold.
const MaxNodes = 10_000

// Map is a graph of nodes. Without edges its nodes run strictly one after the
// other in the order of the array. A Map is never changed once parsed.
type Map struct {
	Nodes []Node
	Edges []Edge
	// Raw is the map as it was given, with whatever else it holds
	// (positions, colours); it is what clients get back.
	Raw map[string]any
}

// Node is one element of a map. Config may hold templates.
type Node struct {
	ID       string
	Type     string // as NormalType gives it
	Title    string
	Config   map[string]any
	Disabled bool
	Retry    *Retry
	Timeout  time.Duration // of one attempt; 0 = none of its own
	OnError  OnError
	Effect   Effect // "" = the default of the type
	// Invalid lists what is wrong with the optional members. It does not keep
	// a map from being stored; such a node fails when it runs.
	Invalid []Issue
}

// Retry says how often and how soon a failed node is tried again.
type Retry struct {
	MaxAttempts int           // in all, the first included; at least 1
	Delay       time.Duration // before the second attempt
	Backoff     float64       // factor from one delay to the next; at least 1
}

// OnError says what the failure of a node does to the run.
type OnError string

// The reactions to a node's failure.
const (
	OnErrorStop     OnError = "stop"     // the run fails; nothing new starts
	OnErrorContinue OnError = "continue" // the run goes on; the output is {"error": ...}
	OnErrorBranch   OnError = "branch"   // only edges with sourceHandle "error" are taken
)

// Effect says what a second run of a node after a crash may do.
type Effect string

// The effects, from harmless to dangerous.
const (
	EffectPure       Effect = "pure"       // changes nothing outside; runs again
	EffectIdempotent Effect = "idempotent" // runs again with the same idempotency key
	EffectOnce       Effect = "once"       // never runs again unasked
)

// Edge joins the end of one node to the start of another. It is taken when
// its source completes; with a Handle, only when the source chose that handle.
type Edge struct {
	ID     string
	Source string
	Target string
	Handle string // sourceHandle; "" is the default handle, "main"
}

// mainHandle is the name of the default handle.
const mainHandle = "main"

// ErrorHandle is the handle that a failed node takes under OnErrorBranch.
const ErrorHandle = "error"

// Sequential reports whether the nodes run one after the other.
func (m *Map) Sequential() bool { return len(m.Edges) == 0 }

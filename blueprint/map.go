package blueprint

import (
	"maps"
	"reflect"
	"slices"
	"time"
)

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

// Equivalent reports whether two maps run in the same way. Titles, positions, explicit
// defaults, and mistakes with the same effect make no difference.
func (m *Map) Equivalent(other *Map) bool {
	if m == nil || other == nil {
		return m == other
	}
	return m.sameNodes(other) && m.sameEdges(other)
}

// EquivalentNodes is Equivalent without edges.
func (m *Map) EquivalentNodes(other *Map) bool {
	return m != nil && other != nil && m.sameNodes(other)
}

func (m *Map) sameNodes(other *Map) bool {
	return slices.EqualFunc(m.Nodes, other.Nodes, func(a, b Node) bool { return sameNode(&a, &b) })
}

func (m *Map) sameEdges(other *Map) bool {
	return slices.EqualFunc(m.Edges, other.Edges, func(a, b Edge) bool {
		return a.Source == b.Source && a.Target == b.Target && a.Handle == b.Handle
	})
}

func sameNode(a, b *Node) bool {
	return a.ID == b.ID && a.Type == b.Type && a.Disabled == b.Disabled && a.Timeout == b.Timeout && a.OnError == b.OnError && a.Effect == b.Effect &&
		sameRetry(a.Retry, b.Retry) && reflect.DeepEqual(a.Invalid, b.Invalid) && Equal(a.Config, b.Config)
}

func sameRetry(a, b *Retry) bool {
	once := func(r *Retry) bool { return r == nil || r.MaxAttempts == 1 }
	if once(a) || once(b) {
		return once(a) == once(b)
	}
	return *a == *b
}

// EquivalentVariables reports whether two lists of variables differ only in
// descriptions.
func EquivalentVariables(a, b []Variable) bool {
	return slices.EqualFunc(a, b, func(one, other Variable) bool {
		same := Equal(one.Default, other.Default)
		one.Description, other.Description = "", ""
		one.Default, other.Default = nil, nil
		return same && one == other
	})
}

// StripUnknownConfig returns a blueprint_map without the keys of configs that the types of
// their nodes do not know. Nobody can tell what they hold; somebody may have put a
// credential there by mistake. Of a type that is not in the catalogue no key is
// known. Members of nodes besides the config stay.
func (c Catalogue) StripUnknownConfig(value any) any {
	m, ok := value.(map[string]any)
	if !ok {
		return value
	}
	m = maps.Clone(m)
	m["nodes"] = c.knownNodes(m["nodes"])
	return m
}

func (c Catalogue) knownNodes(value any) any {
	list, ok := value.([]any)
	if !ok {
		return value
	}
	out := make([]any, len(list))
	for i, element := range list {
		node, ok := element.(map[string]any)
		if !ok {
			continue // no node; nobody knows what it is
		}
		name, _ := node["type"].(string)
		node = maps.Clone(node)
		node["config"] = c.knownConfig(c[NormalType(name)], node["config"])
		out[i] = node
	}
	return out
}

func (c Catalogue) knownConfig(kind *NodeType, value any) map[string]any {
	config, ok := value.(map[string]any)
	if !ok || kind == nil {
		return map[string]any{}
	}
	config, _ = knownMembers(kind.Schema, config).(map[string]any)
	if config["nodes"] != nil && kind.Body != nil {
		config["nodes"] = c.knownNodes(config["nodes"])
	}
	return config
}

// knownMembers returns a value without the members of objects that their schema
// does not name. An object that may have any member keeps all.
func knownMembers(schema map[string]any, value any) any {
	switch v := value.(type) {
	case map[string]any:
		if properties, closed := schema["properties"].(map[string]any); closed {
			out := map[string]any{}
			for name, member := range v {
				if inner, known := properties[name].(map[string]any); known {
					out[name] = knownMembers(inner, member)
				}
			}
			return out
		}
	case []any:
		if items, given := schema["items"].(map[string]any); given {
			out := make([]any, len(v))
			for i, element := range v {
				out[i] = knownMembers(items, element)
			}
			return out
		}
	}
	choices, _ := schema["anyOf"].([]any)
	for _, choice := range choices {
		if inner, ok := choice.(map[string]any); ok {
			value = knownMembers(inner, value)
		}
	}
	return value
}

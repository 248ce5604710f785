package blueprint

import (
	"maps"
	"reflect"
	"slices"
	"time"
)

// MaxNodes is the maximum number of nodes of a map.
const MaxNodes = 10_000

// Map is a graph of nodes. Without edges its nodes run one after the other in the
// order of the array. A parsed Map is immutable.
type Map struct {
	Nodes []Node
	Edges []Edge
	// Raw is the original map with unknown members, which clients get back.
	Raw map[string]any
}

// Node is an element of a map. Config may contain templates.
type Node struct {
	ID       string
	Type     string // see NormalType
	Title    string
	Config   map[string]any
	Disabled bool
	Retry    *Retry
	Timeout  time.Duration // of one attempt; 0 = the default
	OnError  OnError
	Effect   Effect // "" = the default of the type
	// Invalid lists the issues of optional members. The map can be stored; the node
	// fails when it runs.
	Invalid []Issue
}

// Retry is the retry policy of a node.
type Retry struct {
	MaxAttempts int           // including the first; at least 1
	Delay       time.Duration // before the second attempt
	Backoff     float64       // factor from one delay to the next; at least 1
}

// OnError is the effect of a node's failure on the run.
type OnError string

// The reactions to a node's failure.
const (
	OnErrorStop     OnError = "stop"     // the run fails; nothing new starts
	OnErrorContinue OnError = "continue" // the run continues; the output is {"error": ...}
	OnErrorBranch   OnError = "branch"   // only edges with sourceHandle "error" are taken
)

// Effect is whether a node may run again after a crash.
type Effect string

// The effects, from harmless to dangerous.
const (
	EffectPure       Effect = "pure"       // changes nothing outside; runs again
	EffectIdempotent Effect = "idempotent" // runs again with the same idempotency key
	EffectOnce       Effect = "once"       // runs again only on request
)

// Edge connects two nodes. It is taken when its source completes; with a Handle, only
// if the source chose that handle.
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

// EquivalentVariables reports whether two lists of variables differ only in descriptions.
func EquivalentVariables(a, b []Variable) bool {
	return slices.EqualFunc(a, b, func(one, other Variable) bool {
		same := Equal(one.Default, other.Default)
		one.Description, other.Description = "", ""
		one.Default, other.Default = nil, nil
		return same && one == other
	})
}

// StripUnknownConfig returns a blueprint_map without unknown keys in the configs of
// nodes, which may hold credentials by mistake. For an unknown type all keys are
// unknown. Other members of nodes stay.
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
			continue // not a node
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

// knownMembers removes members that are not in the schema of their object. Objects
// without properties in the schema keep all.
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

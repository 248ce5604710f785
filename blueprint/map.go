package blueprint

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
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

// The effects, ordered by the risk of running twice.
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

// ParseMap parses a decoded blueprint_map. It returns a nil map and at most MaxIssues
// issues, with paths from the map, if nodes is not an array of nodes with unique id,
// type, title and config, or edges do not connect known nodes.
func ParseMap(value any) (*Map, []Issue) {
	p := parseMap(value)
	if len(p.issues) > 0 {
		return nil, p.issues[:min(len(p.issues), MaxIssues)]
	}
	return p.m, nil
}

// parseMap parses a map as far as its shape allows. If it has issues, its nodes and edges are
// those up to the limit of issues, at their places; m is nil if it has no list of nodes.
func parseMap(value any) *mapParser {
	p := &mapParser{index: map[string]int{}, unusable: map[int]bool{}, loose: map[int]bool{}}
	raw, ok := value.(map[string]any)
	if !ok {
		p.issue("must be an object with a nodes array")
		return p
	}
	nodes, ok := raw["nodes"].([]any)
	if !ok {
		p.issue("must be an array", "nodes")
		return p
	}
	if len(nodes) > MaxNodes {
		p.issue(fmt.Sprintf("must hold at most %d nodes", MaxNodes), "nodes")
		return p
	}
	p.m = &Map{Raw: raw}
	for i, node := range nodes {
		if p.full() {
			break
		}
		p.node(i, node)
	}
	if edges, given := raw["edges"]; given && edges != nil {
		list, ok := edges.([]any)
		if !ok {
			p.issue("must be an array", "edges")
		}
		for i, edge := range list {
			if p.full() {
				break
			}
			p.edge(i, edge)
		}
	}
	return p
}

type mapParser struct {
	m        *Map
	index    map[string]int
	issues   []Issue
	unusable map[int]bool // nodes without a type or a config
	loose    map[int]bool // edges that do not connect two nodes
	unclear  bool         // an id is missing or taken, so it is not known what edges and references mean
}

// connected returns the map with the edges that connect two nodes.
func (p *mapParser) connected() *Map {
	if len(p.loose) == 0 {
		return p.m
	}
	m := *p.m
	m.Edges = nil
	for i, edge := range p.m.Edges {
		if !p.loose[i] {
			m.Edges = append(m.Edges, edge)
		}
	}
	return &m
}

func (p *mapParser) full() bool { return len(p.issues) >= MaxIssues }

func (p *mapParser) issue(message string, path ...any) {
	p.issues = append(p.issues, Issue{Path: path, Message: message})
}

// text returns a member that must be a string if present; null counts as absent.
func (p *mapParser) text(object map[string]any, required bool, path ...any) (text string, ok bool) {
	value, given := object[path[len(path)-1].(string)]
	text, ok = value.(string)
	switch {
	case !given && required:
		p.issue("required", path...)
	case given && !ok && (value != nil || required):
		p.issue("must be a string", path...)
	}
	return text, ok
}

func (p *mapParser) node(i int, value any) {
	node := Node{OnError: OnErrorStop}
	object, ok := value.(map[string]any)
	if !ok {
		p.issue("must be an object", "nodes", i)
		p.unclear, p.unusable[i] = true, true
		p.m.Nodes = append(p.m.Nodes, node)
		return
	}
	var named bool
	if node.ID, named = p.text(object, true, "nodes", i, "id"); named && node.ID == "" {
		p.issue("must not be empty", "nodes", i, "id")
	}
	kind, typed := p.text(object, true, "nodes", i, "type")
	node.Type = NormalType(kind)
	node.Title, _ = p.text(object, true, "nodes", i, "title")
	config, given := object["config"]
	if node.Config, ok = config.(map[string]any); !ok {
		if given {
			p.issue("must be an object", "nodes", i, "config")
		} else {
			p.issue("required", "nodes", i, "config")
		}
	}
	if !ok || !typed {
		p.unusable[i] = true
	}
	if first, taken := p.index[node.ID]; taken {
		p.issue(fmt.Sprintf("%q is the id of nodes[%d] already", node.ID, first), "nodes", i, "id")
		p.unclear = true
	} else if node.ID != "" {
		p.index[node.ID] = i
	} else {
		p.unclear = true
	}
	optionalMembers(&node, object, i)
	p.m.Nodes = append(p.m.Nodes, node)
}

func (p *mapParser) edge(i int, value any) {
	before := len(p.issues)
	var edge Edge
	if object, ok := value.(map[string]any); ok {
		edge.ID, _ = p.text(object, false, "edges", i, "id")
		edge.Source = p.end(object, i, "source")
		edge.Target = p.end(object, i, "target")
		edge.Handle, _ = p.text(object, false, "edges", i, "sourceHandle")
	} else {
		p.issue("must be an object", "edges", i)
	}
	if edge.Handle == mainHandle {
		edge.Handle = ""
	}
	if len(p.issues) > before || p.unclear {
		p.loose[i] = true
	}
	p.m.Edges = append(p.m.Edges, edge)
}

// end returns the node id at one end of an edge.
func (p *mapParser) end(object map[string]any, i int, name string) string {
	id, given := p.text(object, true, "edges", i, name)
	if _, known := p.index[id]; given && !known && !p.unclear {
		p.issue(fmt.Sprintf("no node has the id %q", id), "edges", i, name)
	}
	return id
}

// optionalMembers parses the optional members of a node; issues go to node.Invalid.
func optionalMembers(node *Node, object map[string]any, i int) {
	wrong := func(message string, path ...any) {
		node.Invalid = append(node.Invalid, Issue{Path: append([]any{"nodes", i}, path...), NodeID: node.ID, Message: message, Severity: "error"})
	}
	if value := object["disabled"]; value != nil { // null counts as absent
		var ok bool
		if node.Disabled, ok = value.(bool); !ok {
			wrong("must be true or false", "disabled")
		}
	}
	if value := object["timeoutMs"]; value != nil {
		ms, ok := number(value)
		if !ok || ms <= 0 || ms > float64(math.MaxInt64/int64(time.Millisecond)) {
			wrong("must be a number of milliseconds above 0", "timeoutMs")
		} else {
			node.Timeout = max(1, time.Duration(ms*float64(time.Millisecond)))
		}
	}
	if value := object["onError"]; value != nil {
		text, _ := value.(string)
		switch choice := OnError(text); choice {
		case OnErrorStop, OnErrorContinue, OnErrorBranch:
			node.OnError = choice
		default:
			wrong(`must be "stop", "continue" or "branch"`, "onError")
		}
	}
	if value := object["effect"]; value != nil {
		text, _ := value.(string)
		switch effect := Effect(text); effect {
		case EffectPure, EffectIdempotent, EffectOnce:
			node.Effect = effect
		default:
			wrong(`must be "pure", "idempotent" or "once"`, "effect")
		}
	}
	if value := object["retry"]; value != nil {
		retry, ok := value.(map[string]any)
		if !ok {
			wrong("must be an object", "retry")
			return
		}
		node.Retry = parseRetry(retry, wrong)
	}
}

func parseRetry(object map[string]any, wrong func(string, ...any)) *Retry {
	within := func(name string, least, most, standard float64, message string) float64 {
		if object[name] == nil {
			return standard
		}
		n, ok := number(object[name])
		if !ok || n < least || n > most {
			wrong(message, "retry", name)
			return standard
		}
		return n
	}
	const attemptsRange = "must be a whole number from 1 to 1000"
	attempts := within("maxAttempts", 1, 1000, 1, attemptsRange)
	if value, present := object["maxAttempts"]; !present {
		wrong("required", "retry", "maxAttempts")
	} else if value == nil || attempts != math.Trunc(attempts) {
		wrong(attemptsRange, "retry", "maxAttempts")
		attempts = 1
	}
	delay := within("delayMs", 0, 86_400_000, 1000, "must be a number of milliseconds from 0 to 86400000")
	backoff := within("backoff", 1, 100, 2, "must be a number from 1 to 100")
	return &Retry{MaxAttempts: int(attempts), Delay: time.Duration(delay * float64(time.Millisecond)), Backoff: backoff}
}

func number(value any) (float64, bool) {
	n, ok := value.(json.Number)
	if !ok {
		return 0, false
	}
	f, err := n.Float64()
	return f, err == nil
}

// NormalType returns the canonical name of a node type: "_" becomes "-", and
// human-checkpoint becomes human.
func NormalType(name string) string {
	name = strings.ReplaceAll(name, "_", "-")
	if name == "human-checkpoint" {
		return "human"
	}
	return name
}

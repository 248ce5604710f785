package blueprint

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"
)

// ParseMap reads a blueprint_map as Decode gives it. The issues it returns
// break the shape that every map must have (nodes is an array, each node has
// id, type, title and config, ids differ, edges join known nodes); their
// paths start at the map. With issues the map is nil; behind the first
// MaxIssues nothing is read any more.
func ParseMap(value any) (*Map, []Issue) {
	raw, ok := value.(map[string]any)
	if !ok {
		return nil, []Issue{{Path: []any{}, Message: "must be an object with a nodes array"}}
	}
	p := mapParser{m: &Map{Raw: raw}, index: map[string]int{}}
	nodes, ok := raw["nodes"].([]any)
	if !ok {
		return nil, []Issue{{Path: []any{"nodes"}, Message: "must be an array"}}
	}
	if len(nodes) > MaxNodes {
		return nil, []Issue{{Path: []any{"nodes"}, Message: fmt.Sprintf("must hold at most %d nodes", MaxNodes)}}
	}
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
	if len(p.issues) > 0 {
		return nil, p.issues[:min(len(p.issues), MaxIssues)]
	}
	return p.m, nil
}

type mapParser struct {
	m      *Map
	index  map[string]int
	issues []Issue
}

func (p *mapParser) full() bool { return len(p.issues) >= MaxIssues }

func (p *mapParser) issue(message string, path ...any) {
	p.issues = append(p.issues, Issue{Path: path, Message: message})
}

// text reads a member that must be a string, when it is given; null counts as
// absent. ok is false when there is none.
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
	object, ok := value.(map[string]any)
	if !ok {
		p.issue("must be an object", "nodes", i)
		return
	}
	node := Node{OnError: OnErrorStop}
	var named bool
	if node.ID, named = p.text(object, true, "nodes", i, "id"); named && node.ID == "" {
		p.issue("must not be empty", "nodes", i, "id")
	}
	kind, _ := p.text(object, true, "nodes", i, "type")
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
	if first, taken := p.index[node.ID]; taken {
		p.issue(fmt.Sprintf("%q is the id of nodes[%d] already", node.ID, first), "nodes", i, "id")
	} else if node.ID != "" {
		p.index[node.ID] = i
	}
	optionalMembers(&node, object, i)
	p.m.Nodes = append(p.m.Nodes, node)
}

func (p *mapParser) edge(i int, value any) {
	object, ok := value.(map[string]any)
	if !ok {
		p.issue("must be an object", "edges", i)
		return
	}
	var edge Edge
	edge.ID, _ = p.text(object, false, "edges", i, "id")
	edge.Source = p.end(object, i, "source")
	edge.Target = p.end(object, i, "target")
	edge.Handle, _ = p.text(object, false, "edges", i, "sourceHandle")
	if edge.Handle == mainHandle {
		edge.Handle = ""
	}
	p.m.Edges = append(p.m.Edges, edge)
}

// end reads one end of an edge: the id of a node.
func (p *mapParser) end(object map[string]any, i int, name string) string {
	id, given := p.text(object, true, "edges", i, name)
	if _, known := p.index[id]; given && !known {
		p.issue(fmt.Sprintf("no node has the id %q", id), "edges", i, name)
	}
	return id
}

// optionalMembers reads what only this service knows of a node. Mistakes land
// in node.Invalid.
func optionalMembers(node *Node, object map[string]any, i int) {
	wrong := func(message string, path ...any) {
		node.Invalid = append(node.Invalid, Issue{Path: append([]any{"nodes", i}, path...), NodeID: node.ID, Message: message, Severity: "error"})
	}
	if value, given := object["disabled"]; given && value != nil {
		var ok bool
		if node.Disabled, ok = value.(bool); !ok {
			wrong("must be true or false", "disabled")
		}
	}
	if value, given := object["timeoutMs"]; given && value != nil {
		ms, ok := number(value)
		if !ok || ms <= 0 || ms > float64(math.MaxInt64/int64(time.Millisecond)) {
			wrong("must be a number of milliseconds above 0", "timeoutMs")
		} else {
			node.Timeout = max(1, time.Duration(ms*float64(time.Millisecond)))
		}
	}
	if value, given := object["onError"]; given && value != nil {
		text, _ := value.(string)
		switch choice := OnError(text); choice {
		case OnErrorStop, OnErrorContinue, OnErrorBranch:
			node.OnError = choice
		default:
			wrong(`must be "stop", "continue" or "branch"`, "onError")
		}
	}
	if value, given := object["effect"]; given && value != nil {
		text, _ := value.(string)
		switch effect := Effect(text); effect {
		case EffectPure, EffectIdempotent, EffectOnce:
			node.Effect = effect
		default:
			wrong(`must be "pure", "idempotent" or "once"`, "effect")
		}
	}
	if value, given := object["retry"]; given && value != nil {
		retry, ok := value.(map[string]any)
		if !ok {
			wrong("must be an object", "retry")
			return
		}
		node.Retry = parseRetry(retry, wrong)
	}
}

func parseRetry(object map[string]any, wrong func(string, ...any)) *Retry {
	retry := &Retry{MaxAttempts: 1, Delay: time.Second, Backoff: 2}
	if value, given := object["maxAttempts"]; given {
		attempts, ok := number(value)
		if !ok || attempts != math.Trunc(attempts) || attempts < 1 || attempts > 1000 {
			wrong("must be a whole number from 1 to 1000", "retry", "maxAttempts")
		} else {
			retry.MaxAttempts = int(attempts)
		}
	} else {
		wrong("required", "retry", "maxAttempts")
	}
	if value, given := object["delayMs"]; given && value != nil {
		ms, ok := number(value)
		if !ok || ms < 0 || ms > 86_400_000 {
			wrong("must be a number of milliseconds from 0 to 86400000", "retry", "delayMs")
		} else {
			retry.Delay = time.Duration(ms * float64(time.Millisecond))
		}
	}
	if value, given := object["backoff"]; given && value != nil {
		factor, ok := number(value)
		if !ok || factor < 1 || factor > 100 {
			wrong("must be a number from 1 to 100", "retry", "backoff")
		} else {
			retry.Backoff = factor
		}
	}
	return retry
}

func number(value any) (float64, bool) {
	n, ok := value.(json.Number)
	if !ok {
		return 0, false
	}
	f, err := n.Float64()
	return f, err == nil
}

// NormalType returns the form under which a node type is looked up: "-" and "_"
// are the same in it, and human-checkpoint is another name of human.
func NormalType(name string) string {
	name = strings.ReplaceAll(name, "_", "-")
	if name == "human-checkpoint" {
		return "human"
	}
	return name
}

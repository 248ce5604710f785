package blueprint

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"
)

// ParseMap parses a decoded blueprint_map. It returns a nil map and at most MaxIssues
// issues, with paths from the map, if nodes is not an array of nodes with unique id,
// type, title and config, or edges do not connect known nodes.
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

// end returns the node id at one end of an edge.
func (p *mapParser) end(object map[string]any, i int, name string) string {
	id, given := p.text(object, true, "edges", i, name)
	if _, known := p.index[id]; given && !known {
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

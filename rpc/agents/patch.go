package agents

import (
	"fmt"
	"slices"
	"strings"

	"blueprintd/blueprint"
)

// plan is the content of a draft that is being changed.
type plan struct {
	title       string
	description string
	m           map[string]any
	variables   []any
}

// patchError is a change that cannot be made.
func patchError(index int, key, format string, args ...any) *blueprint.Error {
	path := []any{"changes", index}
	if key != "" {
		path = append(path, key)
	}
	return blueprint.InvalidInput([]blueprint.Issue{{Path: path, Message: fmt.Sprintf(format, args...)}})
}

// apply makes the changes in their order; none is stored if one fails.
func (p *plan) apply(changes []any) error {
	for i, element := range changes {
		change, _ := element.(map[string]any)
		if err := p.change(i, change); err != nil {
			return err
		}
	}
	return nil
}

func (p *plan) change(i int, c map[string]any) *blueprint.Error {
	op := str(c, "op")
	need := func(keys ...string) *blueprint.Error {
		for _, key := range keys {
			if c[key] == nil {
				return patchError(i, key, "required for %s", op)
			}
		}
		return nil
	}
	switch op {
	case "add_node":
		if err := need("node"); err != nil {
			return err
		}
		return p.addNode(i, c)
	case "change_node":
		if err := need("id", "node"); err != nil {
			return err
		}
		return p.changeNode(i, c)
	case "remove_node":
		if err := need("id"); err != nil {
			return err
		}
		return p.removeNode(i, c)
	case "move_node":
		if err := need("id"); err != nil {
			return err
		}
		return p.moveNode(i, c)
	case "add_edge", "remove_edge":
		if err := need("edge"); err != nil {
			return err
		}
		return p.changeEdge(i, c, op == "add_edge")
	case "set_variable":
		if err := need("variable"); err != nil {
			return err
		}
		return p.setVariable(i, obj(c, "variable"))
	case "remove_variable":
		if err := need("name"); err != nil {
			return err
		}
		return p.removeVariable(i, str(c, "name"))
	case "set_title":
		if err := need("title"); err != nil {
			return err
		}
		p.title = str(c, "title")
	case "set_description":
		if err := need("description"); err != nil {
			return err
		}
		p.description = str(c, "description")
	}
	return nil
}

// place is a node in the map that holds it: the blueprint's, or one in the config of a
// for-each node.
type place struct {
	in    map[string]any // has nodes and edges
	index int            // -1: none
}

func (at place) node() map[string]any { return arr(at.in, "nodes")[at.index].(map[string]any) }

// find returns the place of a node by its address: the id, or loop/inner for a node in a
// loop; loop[*]/inner and loop[3]/inner mean the same.
func (p *plan) find(i int, key, address string) (place, *blueprint.Error) {
	at := place{p.m, -1}
	parts := strings.Split(address, "/")
	for depth, part := range parts {
		id, _, _ := strings.Cut(part, "[")
		if depth > 0 {
			config := obj(at.node(), "config")
			if config == nil || arr(config, "nodes") == nil {
				return at, patchError(i, key, "the node %q has no nodes inside", parts[depth-1])
			}
			at = place{config, -1}
		}
		if at.index = indexOf(arr(at.in, "nodes"), "id", id); at.index < 0 {
			return at, patchError(i, key, "there is no node %q%s; the nodes are %s", address, blueprint.DidYouMean(id, idsOf(at.in)), strings.Join(idsOf(at.in), ", "))
		}
	}
	return at, nil
}

// holder returns the map that holds the nodes with a prefix of an address.
func (p *plan) holder(i int, key, prefix string) (map[string]any, *blueprint.Error) {
	if prefix == "" {
		return p.m, nil
	}
	at, err := p.find(i, key, prefix)
	if err != nil {
		return nil, err
	}
	config := obj(at.node(), "config")
	if config == nil {
		config = map[string]any{}
		at.node()["config"] = config
	}
	return config, nil
}

// maxNamed is the maximum number of ids in a message.
const maxNamed = 30

func idsOf(m map[string]any) (ids []string) {
	for _, element := range arr(m, "nodes") {
		if node, ok := element.(map[string]any); ok && len(ids) < maxNamed {
			ids = append(ids, str(node, "id"))
		}
	}
	return ids
}

// indexOf returns the index of the object whose member is text, -1 if there is none.
func indexOf(list []any, member, text string) int {
	return slices.IndexFunc(list, func(element any) bool {
		object, ok := element.(map[string]any)
		return ok && str(object, member) == text
	})
}

// inside splits an address into that of the loop and the id.
func inside(address string) (loop, id string) {
	if at := strings.LastIndex(address, "/"); at >= 0 {
		return address[:at], address[at+1:]
	}
	return "", address
}

// target returns the index for before or after, or that of the end.
func (p *plan) target(i int, c map[string]any, in map[string]any) (int, *blueprint.Error) {
	nodes := arr(in, "nodes")
	for _, key := range []string{"before", "after"} {
		given := str(c, key)
		if given == "" {
			continue
		}
		loop, id := inside(given)
		if loop != "" {
			holder, err := p.holder(i, key, loop)
			if err != nil {
				return 0, err
			}
			if !slices.Equal(idsOf(holder), idsOf(in)) {
				return 0, patchError(i, key, "%q is in another loop than the node", given)
			}
		}
		index := indexOf(nodes, "id", id)
		if index < 0 {
			return 0, patchError(i, key, "there is no node %q here%s; the nodes are %s", given, blueprint.DidYouMean(id, idsOf(in)), strings.Join(idsOf(in), ", "))
		}
		if key == "after" {
			index++
		}
		return index, nil
	}
	return len(nodes), nil
}

func (p *plan) addNode(i int, c map[string]any) *blueprint.Error {
	node := deepCopy(obj(c, "node")).(map[string]any)
	loop, id := inside(str(node, "id"))
	if id == "" {
		return patchError(i, "node", "needs an id")
	}
	in, err := p.holder(i, "node", loop)
	if err != nil {
		return err
	}
	node["id"] = id
	titled(node)
	nodes := arr(in, "nodes")
	if indexOf(nodes, "id", id) >= 0 {
		return patchError(i, "node", "there is a node %q already; use change_node, or another id", id)
	}
	index, err := p.target(i, c, in)
	if err != nil {
		return err
	}
	in["nodes"] = slices.Insert(slices.Clone(nodes), index, any(node))
	return nil
}

// titled sets the title of a node without one, and of those inside it, to the id.
func titled(node map[string]any) {
	if node["title"] == nil && str(node, "id") != "" {
		node["title"] = node["id"]
	}
	titleAll(obj(node, "config"))
}

// titleAll is titled for the nodes of a map.
func titleAll(m map[string]any) {
	for _, element := range arr(m, "nodes") {
		if node, ok := element.(map[string]any); ok {
			titled(node)
		}
	}
}

func (p *plan) changeNode(i int, c map[string]any) *blueprint.Error {
	at, err := p.find(i, "id", str(c, "id"))
	if err != nil {
		return err
	}
	patch := obj(c, "node")
	if id, given := patch["id"]; given && id != str(at.node(), "id") {
		return patchError(i, "node", "the id of a node cannot be changed; remove the node and add another one")
	}
	merge(at.node(), patch)
	return nil
}

func (p *plan) removeNode(i int, c map[string]any) *blueprint.Error {
	at, err := p.find(i, "id", str(c, "id"))
	if err != nil {
		return err
	}
	id := str(at.node(), "id")
	at.in["nodes"] = slices.Delete(slices.Clone(arr(at.in, "nodes")), at.index, at.index+1)
	if edges := arr(at.in, "edges"); edges != nil {
		at.in["edges"] = slices.DeleteFunc(slices.Clone(edges), func(element any) bool {
			edge, _ := element.(map[string]any)
			return str(edge, "source") == id || str(edge, "target") == id
		})
	}
	return nil
}

func (p *plan) moveNode(i int, c map[string]any) *blueprint.Error {
	at, err := p.find(i, "id", str(c, "id"))
	if err != nil {
		return err
	}
	node := at.node()
	position := c["position"]
	if position != nil {
		node["position"] = deepCopy(position)
	}
	if c["before"] == nil && c["after"] == nil {
		if position == nil {
			return patchError(i, "", "move_node needs before, after or position")
		}
		return nil
	}
	at.in["nodes"] = slices.Delete(slices.Clone(arr(at.in, "nodes")), at.index, at.index+1)
	index, err := p.target(i, c, at.in)
	if err != nil {
		return err
	}
	at.in["nodes"] = slices.Insert(arr(at.in, "nodes"), index, any(node))
	return nil
}

func (p *plan) changeEdge(i int, c map[string]any, add bool) *blueprint.Error {
	edge := deepCopy(obj(c, "edge")).(map[string]any)
	loop, source := inside(str(edge, "source"))
	_, target := inside(str(edge, "target"))
	in, err := p.holder(i, "edge", loop)
	if err != nil {
		return err
	}
	edge["source"], edge["target"] = source, target
	for _, end := range []string{source, target} {
		if indexOf(arr(in, "nodes"), "id", end) < 0 {
			return patchError(i, "edge", "there is no node %q%s", end, blueprint.DidYouMean(end, idsOf(in)))
		}
	}
	edges := slices.Clone(arr(in, "edges"))
	index := slices.IndexFunc(edges, func(element any) bool {
		have, _ := element.(map[string]any)
		return str(have, "source") == source && str(have, "target") == target && handleOf(have) == handleOf(edge)
	})
	switch {
	case add && index >= 0:
		return patchError(i, "edge", "there is an edge %s -> %s at the handle %q already", source, target, handleOf(edge))
	case add:
		in["edges"] = append(edges, any(edge))
	case index < 0:
		return patchError(i, "edge", "there is no edge %s -> %s at the handle %q", source, target, handleOf(edge))
	default:
		in["edges"] = slices.Delete(edges, index, index+1)
	}
	return nil
}

// handleOf returns the handle of an edge; one without sourceHandle has the default one.
func handleOf(edge map[string]any) string {
	if handle := str(edge, "sourceHandle"); handle != "" {
		return handle
	}
	return "main"
}

const secretMessage = "a secret is declared without a default; a person sets its value in the dashboard"

// hasSecret reports whether a variable is a secret with a value.
func hasSecret(variable map[string]any) bool {
	spelled, _, _ := blueprint.VariableSpelling(variable)
	return spelled["secret"] == true && spelled["default"] != nil
}

func (p *plan) setVariable(i int, variable map[string]any) *blueprint.Error {
	name := str(variable, "name")
	if name == "" {
		return patchError(i, "variable", "needs a name")
	}
	if hasSecret(variable) {
		return patchError(i, "variable", secretMessage)
	}
	variable, _, _ = blueprint.VariableSpelling(variable)
	if index := indexOf(p.variables, "name", name); index >= 0 {
		changed := deepCopy(variable).(map[string]any)
		old := p.variables[index].(map[string]any)
		// Values of secrets are not shown: one that is not given keeps its value.
		if _, given := changed["default"]; !given && old["secret"] == true && changed["secret"] == true {
			if value, had := old["default"]; had {
				changed["default"] = value
			}
		}
		p.variables[index] = changed
		return nil
	}
	p.variables = append(p.variables, deepCopy(variable))
	return nil
}

func (p *plan) removeVariable(i int, name string) *blueprint.Error {
	index := indexOf(p.variables, "name", name)
	if index < 0 {
		return patchError(i, "name", "there is no variable %q", name)
	}
	p.variables = slices.Delete(p.variables, index, index+1)
	return nil
}

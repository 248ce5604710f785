package engine

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"blueprintd/blueprint"
	"blueprintd/blueprint/expression"
)

// program is a compiled blueprint version, shared by its runs. It is immutable except
// for its expression cache.
type program struct {
	body
	definition *blueprint.Definition
	secrets    []string // names of the secret variables, sorted
	versions   []blueprint.VersionRef

	mu          sync.Mutex
	expressions map[string]*sourced
}

// body is a graph with its compiled nodes: that of the blueprint or of a for-each node.
type body struct {
	graph *blueprint.Graph
	nodes []compiled
}

// compiled is one node. With problem set it can only fail.
type compiled struct {
	*blueprint.Node
	kind    *blueprint.NodeType
	config  *expression.Config
	problem *blueprint.Failure
	effect  blueprint.Effect
	quick   bool     // an attempt takes no noticeable time
	body    *body    // of a for-each node
	links   []string // ids of nodes whose approval link the config uses
}

// compile compiles a definition. A map that violates the graph rules is an error; a
// node with a bad config compiles to one that fails, so that the others can run.
func compile(catalogue blueprint.Catalogue, definition *blueprint.Definition) (*program, error) {
	if definition.Map == nil || len(definition.Map.Nodes) == 0 {
		return nil, blueprint.Errorf(blueprint.CodeBadRequest, "the blueprint has no nodes to execute")
	}
	graph, issues := blueprint.Compile(definition.Map)
	if len(issues) > 0 {
		return nil, &blueprint.Error{Code: blueprint.CodeBadRequest, Message: "blueprint_map.edges " + issues[0].Message, Issues: issues}
	}
	p := &program{definition: definition, versions: []blueprint.VersionRef{definition.Ref}, expressions: map[string]*sourced{}}
	for _, variable := range definition.Variables {
		if variable.Secret {
			p.secrets = append(p.secrets, variable.Name)
		}
	}
	slices.Sort(p.secrets)
	p.body = compileBody(catalogue, graph, 0)
	return p, nil
}

// maxNested bounds the nesting of for-each nodes.
const maxNested = 16

func compileBody(catalogue blueprint.Catalogue, graph *blueprint.Graph, depth int) body {
	b := body{graph: graph, nodes: make([]compiled, graph.Len())}
	ambiguous := false
	for i := range b.nodes {
		b.nodes[i] = compileNode(catalogue, graph.Node(i), depth)
		ambiguous = ambiguous || strings.Contains(graph.Node(i).ID, "]/")
	}
	for i := range b.nodes {
		if n := &b.nodes[i]; ambiguous && n.body != nil {
			n.fail("bad_config", "a blueprint with a for-each node must not have node ids that contain ]/")
		}
	}
	return b
}

// fail makes the node one that can only fail.
func (c *compiled) fail(code, message string) {
	c.problem = &blueprint.Failure{Code: code, Message: message, Permanent: true}
	c.effect = blueprint.EffectPure
}

func compileNode(catalogue blueprint.Catalogue, node *blueprint.Node, depth int) compiled {
	out := compiled{Node: node}
	bad := func(code, message string) compiled {
		out.fail(code, message)
		return out
	}
	out.kind = catalogue[node.Type]
	if out.kind == nil {
		return bad("unknown_type", fmt.Sprintf("unknown node type %q; known types: %s", node.Type, strings.Join(slices.Sorted(maps.Keys(catalogue)), ", ")))
	}
	out.effect = cmp.Or(node.Effect, out.kind.Effect, blueprint.EffectIdempotent)
	out.quick = out.kind.Quick && out.effect == blueprint.EffectPure
	if len(node.Invalid) > 0 {
		return bad("bad_config", issueText(node.Invalid[0].Path[2:], node.Invalid[0].Message))
	}
	config, issues := expression.CompileConfig(node.Config, out.kind.Verbatim)
	if len(issues) > 0 {
		return bad("bad_template", issueText(append([]any{"config"}, issues[0].Path...), issues[0].Message))
	}
	out.config, out.links = config, linksIn(config.References())
	if out.kind.Body == nil {
		return out
	}
	raw, path := out.kind.Body(node.Config)
	if raw == nil {
		return out // the attempt reports the bad config
	}
	if depth == maxNested {
		return bad("bad_config", fmt.Sprintf("for-each nodes are nested more than %d deep", maxNested))
	}
	m, problems := blueprint.ParseMap(raw)
	var graph *blueprint.Graph
	if m != nil {
		graph, problems = blueprint.Compile(m)
	}
	if len(problems) > 0 {
		return bad("bad_config", issueText(slices.Concat([]any{"config"}, path, problems[0].Path), problems[0].Message))
	}
	inner := compileBody(catalogue, graph, depth+1)
	out.body = &inner
	return out
}

func issueText(path []any, message string) string {
	return blueprint.PathText(path) + ": " + message
}

func (p *program) secret(name string) bool {
	_, found := slices.BinarySearch(p.secrets, name)
	return found
}

// sourced is a compiled expression with the ids of nodes whose approval link it uses.
type sourced struct {
	*expression.Expression
	links []string
}

// maxExpressions bounds the cache of a program. Expressions come from its config, so
// only a map that generates them reaches it.
const maxExpressions = 1000

// expression compiles source once.
func (p *program) expression(source string) (*sourced, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e, ok := p.expressions[source]; ok {
		return e, nil
	}
	compiled, err := expression.CompileExpression(source)
	if err != nil {
		return nil, err
	}
	e := &sourced{compiled, linksIn(compiled.References())}
	if len(p.expressions) < maxExpressions {
		p.expressions[source] = e
	}
	return e, nil
}

// programs caches compiled versions. It is safe for concurrent use.
type programs struct {
	catalogue blueprint.Catalogue
	mu        sync.Mutex
	byVersion map[versionKey]*program
}

type versionKey struct{ blueprintID, version string }

// maxPrograms bounds the cache, which is cleared when full: too rare for an LRU.
const maxPrograms = 2000

func (c *programs) get(definition *blueprint.Definition) (*program, error) {
	key := versionKey{definition.BlueprintID, definition.Version}
	c.mu.Lock()
	p := c.byVersion[key]
	c.mu.Unlock()
	if p != nil {
		return p, nil
	}
	p, err := compile(c.catalogue, definition)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.byVersion) >= maxPrograms {
		clear(c.byVersion)
	}
	c.byVersion[key] = p
	return p, nil
}

package sandbox

import (
	"context"
	"maps"
	"sync"

	"blueprintd/blueprint"
)

// Catalogue gives node types that pause where a rule says so: those that reach
// the outside get an Answer, by which what somebody answers is the node's
// output. It is for who runs nodes; for anybody else the types are as before.
func (s *Sandbox) Catalogue(of blueprint.Catalogue) blueprint.Catalogue {
	out := maps.Clone(of)
	for name, kind := range of {
		if kind.Effect != blueprint.EffectPure && kind.Answer == nil && kind.Body == nil {
			out[name] = pausing(kind)
		}
	}
	return out
}

func pausing(kind *blueprint.NodeType) *blueprint.NodeType {
	wrapped := *kind
	wrapped.Run = func(ctx context.Context, task *blueprint.Task) (blueprint.Result, error) {
		h := &holder{}
		if h.tool, _ = task.Config["tool"].(string); kind.Type != "mcp-tool" {
			h.tool = ""
		}
		result, err := kind.Run(context.WithValue(ctx, holderKey{}, h), task)
		if await := h.asked(); await != nil {
			return blueprint.Result{Await: await, Calls: result.Calls, Tokens: result.Tokens, MCPServers: result.MCPServers}, nil
		}
		return result, err
	}
	wrapped.Answer = func(_ *blueprint.Task, answer any) (blueprint.Result, error) {
		return blueprint.Result{Output: answer}, nil
	}
	return &wrapped
}

type holderKey struct{}

// holder remembers, for one attempt of a node, the question that a rule asked in
// the place of an answer: not every node hands on what ended its connection.
type holder struct {
	tool  string // of an MCP server that the node is about to call
	mu    sync.Mutex
	await *blueprint.Await
}

func (h *holder) asked() *blueprint.Await {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.await
}

// hold notes a question for the node under whose context it came up, and gives
// the error with which the node is to end.
func hold(ctx context.Context, await *blueprint.Await) error {
	h, _ := ctx.Value(holderKey{}).(*holder)
	if h == nil { // nobody's node, as when a connection is tested
		return &blueprint.Failure{Code: "paused", Message: "a rule of the sandbox pauses here: " + await.Prompt, NotSent: true}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.await == nil {
		h.await = await
	}
	return &blueprint.Failure{Code: "paused", Message: await.Prompt, Permanent: true, NotSent: true}
}

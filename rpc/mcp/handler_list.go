package mcp

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	maxPublished = 10_000 // tools of a caller
	pageSize     = 500    // tools of a page of the list
)

// Published is an api trigger that a caller may call.
type Published struct {
	ID          string
	BlueprintID string
	Name        string // unique among those of the caller
	Fires       bool   // a call fires the trigger, as its creator; else it runs the blueprint as the caller
	Label       string // of the trigger; may be ""
	Title       string // of its blueprint
	Description string
	InputSchema any // JSON Schema of the input; nil takes anything
}

type offer struct {
	Published
	schema map[string]any
}

func (h *Handler) offers(who caller) ([]offer, error) {
	published, err := h.tools.Published(who.request.Context(), who.principal, maxPublished)
	if err != nil {
		return nil, h.internal("list tools", err)
	}
	list := make([]offer, 0, len(published))
	for _, p := range published {
		if schema, ok := objectSchema(p.InputSchema); ok {
			list = append(list, offer{p, schema})
		}
	}
	return list, nil
}

// list answers tools/list. A cursor is the number of tools before the page.
func (h *Handler) list(who caller, params *sdk.ListToolsParams) (sdk.Result, error) {
	from := 0
	if params != nil && params.Cursor != "" {
		var err error
		if from, err = strconv.Atoi(params.Cursor); err != nil || from < 0 {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "unknown cursor"}
		}
	}
	offers, err := h.offers(who)
	if err != nil {
		return nil, err
	}
	result := &sdk.ListToolsResult{Tools: []*sdk.Tool{}}
	result.CacheScope = "private" // each caller has tools of their own
	from = min(from, len(offers))
	end := min(from+pageSize, len(offers))
	for _, o := range offers[from:end] {
		result.Tools = append(result.Tools, &sdk.Tool{Name: o.Name, Title: cmp.Or(o.Label, o.Title), Description: o.Description, InputSchema: o.schema})
	}
	if end < len(offers) {
		result.NextCursor = strconv.Itoa(end)
	}
	return result, nil
}

// objectSchema returns a schema of type object, as the protocol requires; false if no
// object fits it, so that the trigger is not a tool.
func objectSchema(schema any) (map[string]any, bool) {
	switch source := schema.(type) {
	case nil:
		return map[string]any{"type": "object"}, true
	case bool:
		return map[string]any{"type": "object"}, source
	case map[string]any:
		kinds, several := source["type"].([]any)
		if source["type"] != nil && source["type"] != "object" && !(several && slices.Contains(kinds, any("object"))) {
			return nil, false
		}
		out := maps.Clone(source)
		out["type"] = "object"
		return out, true
	}
	return nil, false
}

package mcp

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// maxPublished is how many tools one caller is offered.
	maxPublished = 10_000
	// pageSize is how many stand in one page of the list.
	pageSize = 500
	// maxSlug is how many characters the name of a tool has.
	maxSlug = 64
)

// Published is something that a caller may call: an api trigger.
type Published struct {
	ID          string
	Label       string // of the trigger; may be ""
	Title       string // of its blueprint
	Description string
	InputSchema any // JSON Schema of the input; nil takes anything
}

// offer is a tool as callers see it.
type offer struct {
	Published
	name   string
	schema map[string]any
}

// offers lists the tools of a caller under their names.
func (h *Handler) offers(who caller) ([]offer, error) {
	published, err := h.desk.Published(who.request.Context(), who.principal, maxPublished)
	if err != nil {
		return nil, h.internal("listing tools", err)
	}
	list := make([]offer, 0, len(published))
	taken := map[string]bool{}
	for _, p := range published {
		if schema, ok := objectSchema(p.InputSchema); ok {
			list = append(list, offer{p, freeName(taken, slug(p.Label), slug(p.Title), "blueprint"), schema})
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
		result.Tools = append(result.Tools, &sdk.Tool{Name: o.name, Title: firstOf(o.Label, o.Title), Description: o.Description, InputSchema: o.schema})
	}
	if end < len(offers) {
		result.NextCursor = strconv.Itoa(end)
	}
	return result, nil
}

// objectSchema gives a schema the form that the protocol asks for: arguments
// are an object. False when no object can fit it: it is no tool then.
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

// freeName gives the first of the names that is not empty, with a number behind
// it when it is taken, and takes it.
func freeName(taken map[string]bool, names ...string) string {
	base := firstOf(names...)
	name := base
	for i := 2; taken[name]; i++ {
		suffix := "-" + strconv.Itoa(i)
		name = base[:min(len(base), maxSlug-len(suffix))] + suffix
	}
	taken[name] = true
	return name
}

func firstOf(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}

// slug writes a title with the characters that every client takes in a name:
// lower-case letters, digits and dashes.
func slug(title string) string {
	words := strings.FieldsFunc(strings.ToLower(title), func(r rune) bool { return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9') })
	name := strings.Join(words, "-")
	return strings.TrimRight(name[:min(len(name), maxSlug)], "-")
}

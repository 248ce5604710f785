package mcp

import (
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"blueprintd/rpc/agents"
)

// Resource is a document that every caller may read.
type Resource struct {
	URI, Name, Title, Description, MIMEType string
	Read                                    func() (string, error)
}

// listResources handles resources/list. All of them are one page.
func (h *Handler) listResources(*sdk.ListResourcesParams) (sdk.Result, error) {
	result := &sdk.ListResourcesResult{Resources: []*sdk.Resource{}}
	for _, r := range h.Resources() {
		result.Resources = append(result.Resources, &sdk.Resource{URI: r.URI, Name: r.Name, Title: r.Title, Description: r.Description, MIMEType: r.MIMEType})
	}
	return result, nil
}

func (h *Handler) readResource(params *sdk.ReadResourceParams) (sdk.Result, error) {
	resources := h.Resources()
	index := slices.IndexFunc(resources, func(r Resource) bool { return r.URI == params.URI })
	if index < 0 {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "there is no resource " + shown(params.URI) + "; resources/list lists them"}
	}
	resource := &resources[index]
	content, err := resource.Read()
	if err != nil {
		return nil, h.internal("read resource", err)
	}
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: resource.URI, MIMEType: resource.MIMEType, Text: content}}}, nil
}

// builders returns tools that build blueprints in the form of the protocol.
func builders(tools []agents.Tool) []*sdk.Tool {
	closed := false
	out := make([]*sdk.Tool, len(tools))
	for i, tool := range tools {
		out[i] = &sdk.Tool{
			Name: tool.Name, Title: tool.Title, Description: tool.Description, InputSchema: tool.Input,
			Annotations: &sdk.ToolAnnotations{ReadOnlyHint: tool.Reads, OpenWorldHint: &closed},
		}
	}
	return out
}

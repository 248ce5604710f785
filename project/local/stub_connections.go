package local

import (
	"context"
	"maps"
	"net/http"

	"blueprintd/blueprint"
	"blueprintd/connections"
	"blueprintd/foundation/outbound"
	"blueprintd/foundation/recording"
	"blueprintd/project"
)

// placeholders opens connections that reach no real service. Every id is a connection
// without secrets, of the type that its node needs.
type placeholders struct {
	given map[string]recording.Connection
	tools map[string]bool // ids of connections to MCP servers that prompts name
}

// Stubs returns placeholder connections for a run. given are configs without
// credentials, by id.
func Stubs(given map[string]recording.Connection, definitions ...*blueprint.Definition) *placeholders {
	s := &placeholders{given: given, tools: map[string]bool{}}
	for _, definition := range definitions {
		if definition.Map != nil {
			s.findTools(definition.Map.Raw)
		}
	}
	return s
}

func (s *placeholders) findTools(value any) {
	switch v := value.(type) {
	case []any:
		for _, element := range v {
			s.findTools(element)
		}
	case map[string]any:
		if list, ok := v["mcpConnectionIds"].([]any); ok {
			for _, element := range list {
				if id, ok := element.(string); ok {
					s.tools[id] = true
				}
			}
		}
		for _, element := range v {
			s.findTools(element)
		}
	}
}

// Open implements engine.Connections.
func (s *placeholders) Open(ctx context.Context, use blueprint.ConnectionUse) (*blueprint.OpenConnection, error) {
	c, known := s.given[use.ConnectionID]
	if !known {
		if types := project.ConnectionsOf(outbound.CallerOf(ctx).NodeType); len(types) > 0 {
			c.Type = types[0]
		}
		if s.tools[use.ConnectionID] {
			c.Type = blueprint.ConnectionMCPServer
		}
		if c.Type == "" {
			return nil, blueprint.Errorf(blueprint.CodeNotFound, "there is no such connection")
		}
	}
	config := blueprint.RedactConnection(c.Type, blueprint.PlaceholderConfig(c.Type))
	maps.Copy(config, blueprint.RedactConnection(c.Type, c.Config))
	switch c.Type {
	case blueprint.ConnectionSMTP: // the stage does not speak TLS
		config["tls"] = "none"
		delete(config, "username")
		delete(config, "password")
	case blueprint.ConnectionAIProvider, blueprint.ConnectionSlack:
		config["baseUrl"] = connections.BaseURL(c.Type, config)
	}
	noCredentials := func(context.Context, *http.Request) error { return nil }
	return &blueprint.OpenConnection{ID: use.ConnectionID, Name: c.Name, Type: c.Type, Config: config, Hosts: hostsOf(config), Authorize: noCredentials}, nil
}

func hostsOf(config map[string]any) (hosts []string) {
	list, _ := config["hosts"].([]any)
	for _, element := range list {
		if host, ok := element.(string); ok {
			hosts = append(hosts, host)
		}
	}
	return hosts
}

// Around returns a node type whose HTTP requests ignore connections without hosts in
// given, as a real connection allows only its own hosts.
func (s *placeholders) Around(kind *blueprint.NodeType) *blueprint.NodeType {
	if kind.Type != "http-request" {
		return kind
	}
	free := *kind
	free.Run = func(ctx context.Context, task *blueprint.Task) (blueprint.Result, error) {
		if id, _ := task.Config["connectionId"].(string); id != "" && len(hostsOf(s.given[id].Config)) == 0 {
			without := *task
			without.Config = maps.Clone(task.Config)
			delete(without.Config, "connectionId")
			task = &without
		}
		return kind.Run(ctx, task)
	}
	return &free
}

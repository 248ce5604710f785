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

// standIns opens connections for runs that reach nothing real: every id is one,
// of the type that its node needs, and none holds a secret.
type standIns struct {
	given map[string]recording.Connection
	tools map[string]bool // connections to MCP servers that prompts name
}

// Stubs makes the connections of a run. Those given are as they say, but
// for their credentials.
func Stubs(given map[string]recording.Connection, definitions ...*blueprint.Definition) *standIns {
	s := &standIns{given: given, tools: map[string]bool{}}
	for _, definition := range definitions {
		if definition.Map != nil {
			s.findTools(definition.Map.Raw)
		}
	}
	return s
}

func (s *standIns) findTools(value any) {
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

// Open returns a connection.
func (s *standIns) Open(ctx context.Context, use blueprint.ConnectionUse) (*blueprint.OpenConnection, error) {
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
	case blueprint.ConnectionSMTP: // nothing leaves the machine
		config["tls"] = "none"
		delete(config, "username")
		delete(config, "password")
	case blueprint.ConnectionAIProvider, blueprint.ConnectionSlack:
		config["baseUrl"] = connections.BaseURL(c.Type, config)
	}
	hosts := hostsOf(config)
	nothing := func(context.Context, *http.Request) error { return nil } // there are no credentials to add
	return &blueprint.OpenConnection{ID: use.ConnectionID, Name: c.Name, Type: c.Type, Config: config, Hosts: hosts, Authorize: nothing}, nil
}

// hostsOf reads the hosts of a config.
func hostsOf(config map[string]any) (hosts []string) {
	list, _ := config["hosts"].([]any)
	for _, element := range list {
		if host, ok := element.(string); ok {
			hosts = append(hosts, host)
		}
	}
	return hosts
}

// Around returns a type whose HTTP requests do without a connection that nobody
// described: it would have to name the hosts that it is for.
func (s *standIns) Around(kind *blueprint.NodeType) *blueprint.NodeType {
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

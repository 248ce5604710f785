package main

import (
	"context"
	"maps"
	"slices"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/engine"
	"blueprintd/foundation/secret"
	"blueprintd/project"
)

// leastHidden is how many bytes the value of an environment variable must have to
// be hidden: shorter ones are in other words, too.
const leastHidden = 8

// openMembers are those of configs that say where connections go, and how, which
// whoever reads the output of a run has to see. In openAddresses that is the part
// before the path.
var (
	openMembers   = []string{"type", "name", "provider", "flow", "tls", "host", "hosts", "port", "from"}
	openAddresses = []string{"url", "baseUrl", "tokenUrl", "authorizationUrl"}
)

// variablesIn adds the values of the environment variables in a config that may be
// secrets: a service may tell a part of a credential.
func variablesIn(found []string, value any, lookup func(string) (string, bool)) []string {
	switch v := value.(type) {
	case string:
		for _, match := range project.FromEnvironment.FindAllStringSubmatch(v, -1) {
			if text, _ := lookup(match[1]); len(text) >= leastHidden && !slices.Contains(found, text) {
				found = append(found, text)
			}
		}
	case []any:
		for _, element := range v {
			found = variablesIn(found, element, lookup)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			text, _ := v[name].(string)
			switch {
			case slices.Contains(openAddresses, name):
				found = variablesIn(found, behindHost(text), lookup)
			case !slices.Contains(openMembers, name):
				found = variablesIn(found, v[name], lookup)
			}
		}
	}
	return found
}

// behindHost gives the path of an address and what follows it.
func behindHost(address string) string {
	_, rest, whole := strings.Cut(address, "://")
	if !whole { // it begins with a variable
		rest = address
	}
	if i := strings.IndexAny(rest, "/?"); i >= 0 {
		return rest[i:]
	}
	return ""
}

// hidden gives what nobody may see of a connection, and of the one that it names,
// besides its secrets.
func (s *localStore) hidden(id string) []string {
	c := s.given.find(id)
	if c == nil {
		return nil
	}
	values := slices.Clone(c.hidden)
	if auth, _ := c.Config["auth"].(map[string]any); auth != nil {
		id, _ := auth["connectionId"].(string)
		if named := s.given.find(id); named != nil {
			values = append(values, named.hidden...)
		}
	}
	return values
}

// hidingOpener opens connections as another does, and hides the variables that
// they are made of.
type hidingOpener struct {
	engine.Connections
	store *localStore
}

// Open gives a connection.
func (o hidingOpener) Open(ctx context.Context, use blueprint.ConnectionUse) (*blueprint.OpenConnection, error) {
	open, err := o.Connections.Open(ctx, use)
	if err == nil {
		open.Secrets = append(open.Secrets, o.store.hidden(use.ConnectionID)...)
	}
	return open, err
}

// veiled gives a config without what is hidden of its connection.
func (s *localStore) veiled(id string, config any) any {
	var values []any
	for _, value := range s.hidden(id) {
		values = append(values, value)
	}
	return secret.NewMasker(values).Value(config)
}

package blueprint

import "maps"

// StripUnknownConfig returns a blueprint_map without the keys of configs that the types of
// their nodes do not know. Nobody can tell what they hold; somebody may have put a
// credential there by mistake. Of a type that is not in the catalogue no key is
// known. Members of nodes besides the config stay.
func (c Catalogue) StripUnknownConfig(value any) any {
	m, ok := value.(map[string]any)
	if !ok {
		return value
	}
	m = maps.Clone(m)
	m["nodes"] = c.knownNodes(m["nodes"])
	return m
}

func (c Catalogue) knownNodes(value any) any {
	list, ok := value.([]any)
	if !ok {
		return value
	}
	out := make([]any, len(list))
	for i, element := range list {
		node, ok := element.(map[string]any)
		if !ok {
			continue // no node; nobody knows what it is
		}
		name, _ := node["type"].(string)
		node = maps.Clone(node)
		node["config"] = c.knownConfig(c[NormalType(name)], node["config"])
		out[i] = node
	}
	return out
}

func (c Catalogue) knownConfig(kind *NodeType, value any) map[string]any {
	config, ok := value.(map[string]any)
	if !ok || kind == nil {
		return map[string]any{}
	}
	config, _ = knownMembers(kind.Schema, config).(map[string]any)
	if config["nodes"] != nil && kind.Body != nil {
		config["nodes"] = c.knownNodes(config["nodes"])
	}
	return config
}

// knownMembers returns a value without the members of objects that their schema
// does not name. An object that may have any member keeps all.
func knownMembers(schema map[string]any, value any) any {
	switch v := value.(type) {
	case map[string]any:
		if properties, closed := schema["properties"].(map[string]any); closed {
			out := map[string]any{}
			for name, member := range v {
				if inner, known := properties[name].(map[string]any); known {
					out[name] = knownMembers(inner, member)
				}
			}
			return out
		}
	case []any:
		if items, given := schema["items"].(map[string]any); given {
			out := make([]any, len(v))
			for i, element := range v {
				out[i] = knownMembers(items, element)
			}
			return out
		}
	}
	choices, _ := schema["anyOf"].([]any)
	for _, choice := range choices {
		if inner, ok := choice.(map[string]any); ok {
			value = knownMembers(inner, value)
		}
	}
	return value
}

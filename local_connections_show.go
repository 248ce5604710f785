package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"blueprintd/blueprint"
	"blueprintd/blueprint/document"
	"blueprintd/project"
)

// knownWords are what excerpts of connections show below members that are to have
// one of them. Any other value may be a secret, also below a name that has a slip.
var knownWords = map[string][]string{
	"type": {"ai-provider", "mcp-server", "oauth2", "http", "smtp", "slack", "none", "bearer", "basic", "header", "query"},
	"flow": {"authorization_code", "client_credentials"}, "provider": {"openai", "anthropic"}, "tls": {"starttls", "tls", "none"},
}

// namedMembers are the members of users and connections that excerpts show.
var namedMembers = []string{"email", "name", "owner", "organization", "$connection"}

// point shows issues of the file with their places, and no secret of it.
func (g *givenConnections) point(out io.Writer, issues []blueprint.Issue) {
	hidden := append(secretsOfSeed(g.document.Value), hiddenBelow(nil, nil, g.document.Value, false)...)
	fmt.Fprint(out, project.Pointed(g.document, issues, hidden...))
}

// excerptOfSeed is excerptOf for a seed file.
func excerptOfSeed(d *document.Document, issue blueprint.Issue, others []blueprint.Issue) string {
	return project.Excerpt(d, issue, slices.Concat(others, secretsOfSeed(d.Value)))
}

// secretsOfSeed gives an issue for each text and number of a seed file that may be
// a secret: in its users and connections, and in what it should not have, which may
// be one of them.
func secretsOfSeed(value any) (found []blueprint.Issue) {
	top, ok := value.(map[string]any)
	if !ok {
		return hiddenBelow(nil, nil, value, true)
	}
	for name, element := range top {
		if !slices.Contains([]string{"$schema", "organizations", "blueprints"}, name) {
			found = hiddenBelow(found, []any{name}, element, true)
		}
	}
	return found
}

// hiddenBelow adds an issue for each text and number within a config, wherever it
// stands, but for names and known words.
func hiddenBelow(found []blueprint.Issue, path []any, value any, inside bool) []blueprint.Issue {
	switch v := value.(type) {
	case string, json.Number:
		if inside {
			found = append(found, blueprint.Issue{Path: path, Spot: blueprint.Spot{Secret: true}})
		}
	case []any:
		for i, element := range v {
			found = hiddenBelow(found, append(slices.Clip(path), i), element, inside)
		}
	case map[string]any:
		for name, element := range v {
			text, isText := element.(string)
			open := isText && (slices.Contains(knownWords[name], text) || slices.Contains(namedMembers, name) && (name == "$connection" || len(path) == 2))
			if !inside || !open {
				found = hiddenBelow(found, append(slices.Clip(path), name), element, inside || name == "config")
			}
		}
	}
	return found
}

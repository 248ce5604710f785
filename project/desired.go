package project

import (
	"strings"

	"blueprintd/blueprint"
)

// Desired is the blueprint that a file describes.
type Desired struct {
	Path        string // in the folder, with slashes
	Title       string
	Description string
	Tags        []string
	Map         any               // blueprint_map
	Variables   []any             // environment_variables
	Status      string            // "" leaves that of the server
	Visibility  string            // "" leaves that of the server
	Budget      *blueprint.Budget // nil leaves that of the server; without limits removes it
	Triggers    []DesiredTrigger
	// Point formats a message about a path as file:line:column: message. It may be nil
	// in tests.
	Point func(path []any, message string) string
}

// DesiredTrigger is the trigger that a file describes. A null secret in its config
// leaves that of the server.
type DesiredTrigger struct {
	Type   blueprint.TriggerType
	Config map[string]any
	Active bool
}

// Deployed is a blueprint on the server, with its secrets.
type Deployed struct {
	blueprint.Blueprint
	Triggers []blueprint.Trigger // oldest first
	Foreign  bool                // created by another user
}

// Scheme is the prefix of the sources of all folders.
const Scheme = "sync:"

// SourceOf returns the source of a blueprint from a file in a named folder; an empty path
// gives the prefix of all of them.
func SourceOf(name, path string) string { return Scheme + name + ":" + path }

// IsOf reports whether a source belongs to a named folder.
func IsOf(name, source string) bool { return strings.HasPrefix(source, SourceOf(name, "")) }

// PathOf returns the path of the file of a source of a named folder.
func PathOf(name, source string) string { return strings.TrimPrefix(source, SourceOf(name, "")) }

package project

import (
	"context"
	"strings"

	"blueprintd/blueprint"
)

// Desired is a blueprint as a file of the folder wants it.
type Desired struct {
	Path        string // in the folder, with slashes
	Title       string
	Description string
	Tags        []string
	Map         any               // as blueprint_map has it
	Variables   []any             // as environment_variables has them
	Status      string            // "" = as it is on the server
	Visibility  string            // "" = as it is on the server
	Budget      *blueprint.Budget // nil = as it is on the server; without limits = none
	Triggers    []DesiredTrigger
	// Point says where in the file a path is, with a message: file:line:column:
	// message. It may be nil in tests.
	Point func(path []any, message string) string
}

// DesiredTrigger is a trigger as a file wants it. Secrets that are null in its
// config are those that the server has.
type DesiredTrigger struct {
	Type   blueprint.TriggerType
	Config map[string]any
	Active bool
}

// Deployed is a blueprint as the server has it, with its secrets.
type Deployed struct {
	blueprint.Blueprint
	Triggers []blueprint.Trigger // oldest first
	Foreign  bool                // somebody else made it than who syncs
}

// Server is what a plan is made for, and what carries it out. Triggers are
// changed as blueprint.MergeConfig says.
type Server interface {
	// List returns the blueprints whose source begins so, that the caller can manage.
	List(ctx context.Context, source string) ([]Deployed, error)
	Create(ctx context.Context, b blueprint.NewBlueprint) (id string, err error)
	Update(ctx context.Context, id string, patch blueprint.BlueprintPatch) error
	Delete(ctx context.Context, id string) error
	CreateTrigger(ctx context.Context, blueprintID string, kind blueprint.TriggerType, config map[string]any, active bool) (id string, err error)
	UpdateTrigger(ctx context.Context, id string, change map[string]any, isActive *bool) error
	DeleteTrigger(ctx context.Context, id string) error
}

// SourceOf returns the source of the blueprints of a folder of a name, or with a
// path that of one file.
func SourceOf(name, path string) string { return Scheme + name + ":" + path }

// Scheme begins the sources of all folders.
const Scheme = "sync:"

func IsOf(name, source string) bool { return strings.HasPrefix(source, SourceOf(name, "")) }

// PathOf returns the path that a source of the folder names.
func PathOf(name, source string) string { return strings.TrimPrefix(source, SourceOf(name, "")) }

package testsuite

import (
	"maps"
	"path/filepath"
	"slices"

	"blueprintd/blueprint"
	"blueprintd/foundation/recording"
	"blueprintd/project"
)

// nameConnected gives the stand-ins of connections to which blueprints refer what
// is said of them by name: by the test, or, if there is one of that name alone, by
// the recording.
func nameConnected(connections map[string]recording.Connection, names map[string]bool) {
	for name := range names {
		id := project.DerivedID(project.ConnectionKey, name)
		if c, given := connections[name]; given {
			connections[id] = c
			continue
		}
		var called []recording.Connection
		for _, other := range slices.Sorted(maps.Keys(connections)) {
			if connections[other].Name == name {
				called = append(called, connections[other])
			}
		}
		if len(called) == 1 {
			connections[id] = called[0]
		}
	}
}

// UnknownConnections refuses what a test says of connections to which nothing can
// refer.
func UnknownConnections(t *Test, names map[string]bool) (issues []blueprint.Issue) {
	for _, name := range slices.Sorted(maps.Keys(t.Connections)) {
		if !names[name] && !blueprint.IsUUID(name) {
			issues = append(issues, blueprint.Issue{
				Path:    []any{"tests", t.Index, "connections", name},
				Message: "is no id, and no blueprint here refers to a connection of this name" + blueprint.DidYouMean(name, slices.Sorted(maps.Keys(names))),
				Spot:    blueprint.Spot{Name: true},
			})
		}
	}
	return issues
}

// ReferredConnections gives the names of connections to which the blueprints of a
// test file refer, as far as they can be read.
func ReferredConnections(tests *File, name string) map[string]bool {
	names := map[string]bool{}
	for _, path := range append(slices.Collect(maps.Values(tests.Blueprints)), tests.Blueprint) {
		path = filepath.Join(filepath.Dir(name), path)
		if b, _, err := project.ReadFile(&project.Inputs{}, path); err == nil {
			maps.Copy(names, project.Follow(path, path, b).Connections())
		}
	}
	return names
}

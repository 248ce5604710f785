// Package project reads the files that people keep in a folder: blueprints
// (*.blueprint.yaml), tests, seeds and what they refer to. It finds them (Scan), waits
// until some have changed (Watcher), tells what is wrong with them and where, and has
// the JSON Schemas of these files for editors.
//
// Files name each other and connections in the place of ids (Reference), so that the
// same folder fits several servers.
package project

// Package project reads the files that people keep in a folder: blueprints
// (*.blueprint.yaml), seeds and what they refer to. It tells what is wrong with
// them and where, and has the JSON Schemas of these files for editors.
package project

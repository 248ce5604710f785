package main

import (
	"net/http"
	"slices"
	"strings"

	"blueprintd/blueprint"
)

// serveSchema answers GET /schemas/{file}: NAME.json.
func (s *server) serveSchema(w http.ResponseWriter, r *http.Request) {
	name, isJSON := strings.CutSuffix(r.PathValue("file"), ".json")
	if !isJSON || !slices.Contains(schemaNames, name) {
		s.rpc.WritePlainError(w, r, blueprint.Errorf(blueprint.CodeNotFound, "there are %s", strings.Join(schemaNames, ".json, ")+".json"))
		return
	}
	data, err := schemaText(name)
	if err != nil {
		s.rpc.WritePlainError(w, r, err)
		return
	}
	serveDocument(w, r, "application/schema+json", data)
}

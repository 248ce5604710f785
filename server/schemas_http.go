package server

import (
	"net/http"
	"slices"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/project"
)

// serveSchema answers GET /schemas/{file}: NAME.json.
func (s *Server) serveSchema(w http.ResponseWriter, r *http.Request) {
	name, isJSON := strings.CutSuffix(r.PathValue("file"), ".json")
	if !isJSON || !slices.Contains(project.SchemaNames, name) {
		s.RPC.WritePlainError(w, r, blueprint.Errorf(blueprint.CodeNotFound, "there are %s", strings.Join(project.SchemaNames, ".json, ")+".json"))
		return
	}
	data, err := project.SchemaText(name)
	if err != nil {
		s.RPC.WritePlainError(w, r, err)
		return
	}
	serveDocument(w, r, "application/schema+json", data)
}

package server

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"blueprintd/blueprint"
	"blueprintd/rpc"
	"blueprintd/rpc/trpc"
)

// openAPIVersion is that of the interface. It is raised when something that a
// client may rely on changes; new procedures and fields do not.
const openAPIVersion = "1.0.0"

// OpenAPI gives the description of the whole interface: of the procedures, and
// of the plain routes.
var OpenAPI = sync.OnceValues(func() ([]byte, error) {
	d := trpc.NewOpenAPI(trpc.NewHandler(rpc.Procedures(), trpc.Options{Authenticator: NobodyKnown{}}).Procedures(), rpc.RouterWords)
	d.Info = map[string]any{
		"title": "blueprintd", "version": openAPIVersion, "summary": "Workflow automation in one executable",
		"description": openAPIDescription, "license": map[string]any{"name": "Apache-2.0", "identifier": "Apache-2.0"},
	}
	d.Tags = append(d.Tags, openAPITags...)
	maps.Copy(d.Paths, openAPIPaths())
	maps.Copy(d.Components["schemas"].(map[string]any), openAPISchemas())
	maps.Copy(d.Components["responses"].(map[string]any), openAPIResponses())
	return blueprint.EncodeIndented(d)
})

// NobodyKnown lets the table of procedures be put together without a server.
type NobodyKnown struct{ trpc.Authenticator }

const openAPIDescription = `A server stores blueprints (graphs of nodes), runs them, and starts them by triggers.

Procedures stand under ` + "`/api/trpc/{router}.{procedure}`" + `. A query is a GET whose parameter ` + "`input`" + ` is URL-encoded JSON, a mutation a POST with a JSON body;
either way the parameters are in an object ` + "`json`" + `, and what is answered is at ` + "`result.data.json`" + `:

    curl -H "Authorization: Bearer $KEY" --get "$HOST/api/trpc/blueprint.list" --data-urlencode 'input={"json":{"limit":5}}'
    curl -H "Authorization: Bearer $KEY" "$HOST/api/trpc/blueprint.create" -H 'Content-Type: application/json' -d '{"json":{"title":"Hello"}}'

Clients of tRPC 10 and 11 with the superjson transformer call the same procedures, batches and streams included, which are not described here.
The other routes take and give JSON as it is. Unknown fields of an input are ignored; an answer may get new fields.`

// serveOpenAPI answers GET /openapi.json.
func (s *Server) serveOpenAPI(w http.ResponseWriter, r *http.Request) {
	data, err := OpenAPI()
	if err != nil {
		s.RPC.WritePlainError(w, r, err)
		return
	}
	serveDocument(w, r, "application/json", data)
}

// serveDocument sends a JSON document that is the same until the next version of
// the program. It holds nothing of this server, and needs no key.
func serveDocument(w http.ResponseWriter, r *http.Request, kind string, data []byte) {
	sum := sha256.Sum256(data)
	tag := `"` + hex.EncodeToString(sum[:16]) + `"`
	h := w.Header()
	h.Set("ETag", tag)
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Content-Type-Options", "nosniff")
	if strings.Contains(r.Header.Get("If-None-Match"), tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", kind)
	h.Set("Content-Length", strconv.Itoa(len(data)))
	_, _ = w.Write(data)
}

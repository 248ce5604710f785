package api

import (
	"bytes"
	"compress/gzip"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"blueprintd/blueprint"
	"blueprintd/clients"
	"blueprintd/rpc"
	"blueprintd/rpc/trpc"
	"blueprintd/tests/describe"
	"blueprintd/tests/servertest"
)

// goldenDocument compares a committed document with the generated one.
func goldenDocument(t *testing.T, name string, want []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s differs from the program (%v); review it and run make goldens", name, err)
	}
}

func gzipped(t *testing.T, document []byte) []byte {
	t.Helper()
	var packed bytes.Buffer
	writer, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := writer.Write(document); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

func TestOpenAPI(t *testing.T) {
	t.Parallel()
	want, err := describe.OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	goldenDocument(t, "../../clients/openapi.json", want)
	const packed = "../../clients/openapi.json.gz"
	if *update {
		if err := os.WriteFile(packed, gzipped(t, want), 0o644); err != nil {
			t.Fatal(err)
		}
		return // the server of this process still has the old one
	}
	if !bytes.Equal(clients.OpenAPI(), want) {
		t.Errorf("%s holds another document; run make goldens", packed)
	}
	s := servertest.New(t)
	nobody := servertest.Caller{Server: s}
	answer := nobody.Send(t, http.MethodGet, "/openapi.json", "")
	if answer.Status != http.StatusOK || answer.Text != string(want) || answer.Header.Get("Content-Type") != "application/json" {
		t.Errorf("the server returns another one: %d %.200s, want %v, %v and Content-Type application/json", answer.Status, answer.Text, http.StatusOK, string(want))
	}
	if again := nobody.Send(t, http.MethodGet, "/openapi.json", "", "If-None-Match", answer.Header.Get("ETag")); again.Status != http.StatusNotModified || again.Text != "" {
		t.Errorf("asked again: %d %.200s, want %v and nothing", again.Status, again.Text, http.StatusNotModified)
	}
}

// TestOpenAPICovers finds routes and procedures that are missing in the OpenAPI description.
func TestOpenAPICovers(t *testing.T) {
	t.Parallel()
	d := openAPIValue(t)
	paths := d["paths"].(object)
	undocumented := []string{
		"/", "/docs", "/docs/", "GET /{$}", "/webhooks/", // pages, and the handlers of unknown paths
		"GET /oauth/start", "GET /oauth/callback", "GET /sandbox/authorize", "/answer/{token...}", // for browsers
	}
	var want []string
	for _, pattern := range mountedRoutes(t) {
		if !slices.Contains(undocumented, pattern) {
			_, path, found := strings.Cut(pattern, " ")
			if !found {
				path = pattern
			}
			want = append(want, path)
		}
	}
	for _, procedure := range rpc.Procedures() {
		name := procedure.Name
		want = append(want, "/api/trpc/"+name)
		operation := paths["/api/trpc/"+name].(object)
		for _, called := range operation {
			if at(called, "summary") == "" {
				t.Errorf("%s has no words in tests/describe/words.go", name)
			}
		}
	}
	for _, path := range want {
		if paths[path] == nil {
			t.Errorf("%s is not described", path)
		}
	}
	for path := range paths {
		if !slices.Contains(want, path) {
			t.Errorf("%s is described and not there", path)
		}
	}
	for _, tag := range d["tags"].([]any) {
		if at(tag, "description") == "" {
			t.Errorf("%v has no description in tests/describe/words.go", tag)
		}
	}
}

func openAPIValue(t *testing.T) object {
	t.Helper()
	text, err := describe.OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	return servertest.Decoded(t, string(text)).(object)
}

// described compares responses with the description. It refuses members that the
// description does not name.
type described struct{ compiler *jsonschema.Compiler }

func newDescribed(t *testing.T) described {
	t.Helper()
	d := openAPIValue(t)
	closeObjects(d)
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.AssertFormat()
	if err := compiler.AddResource("openapi.json", d); err != nil {
		t.Fatal(err)
	}
	return described{compiler}
}

// closeObjects forbids additional members in the objects of the schemas in a value.
func closeObjects(value any) {
	switch v := value.(type) {
	case []any:
		for _, element := range v {
			closeObjects(element)
		}
	case object:
		if _, has := v["properties"].(object); has && v["additionalProperties"] == nil {
			v["additionalProperties"] = false
		}
		for _, member := range v {
			closeObjects(member)
		}
	}
}

// check validates a value against the schema at a place in the description.
func (d described) check(t *testing.T, of string, value any, place ...string) {
	t.Helper()
	for i, token := range place {
		place[i] = strings.NewReplacer("~", "~0", "/", "~1").Replace(token)
	}
	schema, err := d.compiler.Compile("openapi.json#/" + strings.Join(place, "/"))
	if err != nil {
		t.Errorf("%s: %v", of, err)
		return
	}
	if err := schema.Validate(value); err != nil {
		t.Errorf("%s is not as described: %v\n%.500s", of, err, servertest.Encoded(t, value))
	}
}

func (d described) answer(t *testing.T, path, method string, answer servertest.Reply) {
	t.Helper()
	status := []string{"200", "202", "400", "401", "403", "404", "405", "413", "415"}[slices.Index([]int{200, 202, 400, 401, 403, 404, 405, 413, 415}, answer.Status)]
	place := []string{"paths", path, method, "responses", status}
	if answer.Status >= 400 {
		reference := regexp.MustCompile(`"` + status + `":{"\$ref":"#/components/responses/(\w+)"}`).FindStringSubmatch(servertest.Encoded(t, at(openAPIValue(t)["paths"].(object)[path], method+".responses")))
		if reference == nil {
			t.Errorf("%s %s does not say that it answers %s", method, path, status)
			return
		}
		place = []string{"components", "responses", reference[1]}
	}
	d.check(t, method+" "+path+" "+status, answer.Value, append(place, "content", "application/json", "schema")...)
}

// TestOpenAPIExamples sends the example of every procedure, with ids of existing objects,
// and compares the responses with the description.
func TestOpenAPIExamples(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon)
	d := newDescribed(t)
	w := &exampleWorld{Caller: s.Root, team: s.Root.IDOf(t, "organization.create", object{"name": "Team"})}
	for _, procedure := range s.RPC.Procedures() {
		example, given := describe.Example(procedure.Name)
		if !given && procedure.Input.NumField() > 0 {
			t.Errorf("%s has no example", procedure.Name)
		}
		path, method := "/api/trpc/"+procedure.Name, "get"
		if procedure.Kind == trpc.KindMutation {
			method = "post"
			if given {
				d.check(t, "the example of "+procedure.Name, object{"json": example}, "paths", path, method, "requestBody", "content", "application/json", "schema")
			}
		} else if given {
			d.check(t, "the example of "+procedure.Name, object{"json": example}, "paths", path, method, "parameters", "0", "content", "application/json", "schema")
		}
		answer := s.Root.Call(t, procedure.Name, w.real(t, example))
		if answer.Status != http.StatusOK {
			t.Errorf("the example of %s: %d %s, want %v", procedure.Name, answer.Status, answer.Text, http.StatusOK)
			continue
		}
		if procedure.Kind == trpc.KindSubscription {
			d.check(t, procedure.Name, answer.Payload(), "components", "schemas", "ExecutionStatus")
			continue
		}
		d.answer(t, path, method, answer)
	}
	for _, name := range []string{"blueprint.get", "blueprint.create"} {
		method := map[trpc.Kind]string{trpc.KindQuery: "get", trpc.KindMutation: "post"}[s.Kinds[name]]
		d.answer(t, "/api/trpc/"+name, method, s.Root.Call(t, name, object{"id": 1, "title": 2}))
		d.answer(t, "/api/trpc/"+name, method, servertest.Caller{Server: s}.Call(t, name, nil))
	}
	d.answer(t, "/api/trpc/blueprint.get", "get", s.Root.Call(t, "blueprint.get", object{"id": s.IDs.UUID()}))
}

// exampleWorld creates the objects of the examples.
type exampleWorld struct {
	servertest.Caller
	team string
	made int
}

// real returns an example with ids of existing objects, new ones each time.
func (w *exampleWorld) real(t *testing.T, example any) any {
	t.Helper()
	if example == nil {
		return nil
	}
	text, ids := servertest.Encoded(t, example), map[string]string{}
	for _, kind := range slices.Sorted(maps.Keys(describe.ExampleIDs)) {
		if strings.Contains(text, describe.ExampleIDs[kind]) {
			ids[kind] = w.make(t, kind, ids)
			text = strings.ReplaceAll(text, describe.ExampleIDs[kind], ids[kind])
		}
	}
	for _, name := range []string{"ada", "grace"} {
		if strings.Contains(text, name+"@") {
			w.NewUser(t, name)
		}
	}
	return servertest.Decoded(t, text)
}

// make creates one object; known has the ids of those created for the same example.
func (w *exampleWorld) make(t *testing.T, kind string, known map[string]string) string {
	t.Helper()
	w.made++
	title := kind + " " + w.IDs.UUID()
	greet := node("greet", "template", object{"text": "Hello"})
	run := func(one object) string {
		return at(w.OK(t, "blueprint.execute", object{"id": w.Blueprint(t, title, one)}), "executionId").(string)
	}
	trigger := func(kind string, config object) string {
		return w.IDOf(t, "blueprintTriggers.create", object{"blueprintId": w.Blueprint(t, title, greet), "triggerType": kind, "config": config})
	}
	switch kind {
	case "blueprint":
		return w.Blueprint(t, title, greet)
	case "trigger":
		return trigger("api", object{})
	case "webhook":
		return trigger("webhook", object{"secret": "s3cr3t-of-the-webhook"})
	case "organization":
		return w.team
	case "user":
		somebody := w.NewUser(t, "user-"+w.IDs.UUID())
		if id := known["blueprint"]; id != "" {
			w.OK(t, "collaborator.add", object{"blueprintId": id, "email": somebody.Email, "role": "editor"})
		} else {
			w.OK(t, "organization.addMember", object{"organizationId": w.team, "email": somebody.Email, "role": "member"})
		}
		return somebody.ID
	case "connection":
		return w.IDOf(t, "connection.create", object{"name": title, "type": "http", "config": object{"auth": object{"type": "bearer", "token": "s3cr3t-token"}, "hosts": []any{"127.0.0.1:9"}}})
	case "sign-in":
		return w.IDOf(t, "connection.create", object{"name": title, "type": "oauth2", "config": object{
			"flow": "authorization_code", "authorizationUrl": "https://sign-in.example.org/authorize", "tokenUrl": "https://sign-in.example.org/token", "clientId": "id", "scopes": []any{"read"},
		}})
	case "category":
		return w.IDOf(t, "category.create", object{"organizationId": w.team, "name": title})
	case "execution":
		return run(greet)
	case "paused":
		return run(node("gate", "approval-gate", object{"prompt": "?"}))
	case "failed":
		return run(node("end", "stop", object{"failed": true, "message": "no"}))
	case "firing":
		return at(w.OK(t, "blueprintTriggers.fire", object{"triggerId": trigger("api", object{})}), "firingId").(string)
	case "key":
		return w.IDOf(t, "apiKey.create", object{"name": title})
	}
	t.Fatalf("nothing creates a %s", kind)
	return ""
}

// TestOpenAPIPlain compares responses of the plain routes with the description.
func TestOpenAPIPlain(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon)
	d := newDescribed(t)
	nobody := servertest.Caller{Server: s}
	w := &exampleWorld{Caller: s.Root}
	api, hook := w.make(t, "trigger", nil), w.make(t, "webhook", nil)
	open := s.Root.IDOf(t, "blueprintTriggers.create", object{"blueprintId": w.make(t, "blueprint", nil), "triggerType": "webhook"})
	filled := strings.NewReplacer("{triggerId}", api, "{id}", "nothing", "{file}", "blueprint.json")
	ask := func(who servertest.Caller, method, path, body string, want int, headers ...string) {
		t.Helper()
		real := filled.Replace(path)
		if strings.HasPrefix(path, "/webhooks/") {
			real = strings.Replace(path, "{triggerId}", map[bool]string{true: open, false: hook}[want == http.StatusAccepted], 1)
		}
		answer := who.Send(t, method, real, body, headers...)
		if answer.Status != want {
			t.Errorf("%s %s: %d %s, want %d", method, real, answer.Status, answer.Text, want)
			return
		}
		d.answer(t, path, strings.ToLower(method), answer)
	}
	const webhook, fire = "/webhooks/blueprint/{triggerId}", "/v1/triggers/{triggerId}/fire"
	ask(nobody, "POST", webhook, `{"order":42}`, 202)
	ask(nobody, "POST", webhook, `{"order":42}`, 401)
	ask(nobody, "POST", webhook, `{"order":42}`, 415, "Content-Type", "text/html")
	ask(nobody, "POST", "/webhooks/slack/{triggerId}", `{}`, 404)
	ask(s.Root, "POST", fire, `{"name":"Ada"}`, 202, "Idempotency-Key", "one")
	ask(s.Root, "POST", fire, `{"name":"Ada"}`, 200, "Idempotency-Key", "one")
	ask(s.Root, "POST", fire, `nonsense`, 400)
	ask(nobody, "POST", fire, `{}`, 401)
	ask(s.Root, "GET", "/files/{id}", "", 404)
	ask(nobody, "POST", "/mcp", `{}`, 401)
	ask(s.Root, "POST", "/clock/advance", `{"by":"36h"}`, 200)
	ask(s.Root, "POST", "/clock/advance", `{}`, 400)
	ask(s.Root, "GET", "/clock", ``, 200)
	for _, one := range [][2]string{{"GET", "/sandbox/calls"}, {"GET", "/sandbox/rules"}, {"GET", "/sandbox/expectations"}, {"POST", "/sandbox/verify"}, {"DELETE", "/sandbox"}} {
		ask(s.Root, one[0], one[1], "", 404)
	}
	ask(nobody, "GET", "/healthz", "", 200)
	ask(nobody, "GET", "/readyz", "", 200)
	ask(nobody, "GET", "/openapi.json", "", 200)
	if answer := nobody.Send(t, http.MethodGet, "/schemas/blueprint.json", ""); answer.Status != 200 || answer.Header.Get("Content-Type") != "application/schema+json" {
		t.Errorf("a schema: %d %v, want 200 and Content-Type application/schema+json", answer.Status, answer.Header)
	}
	if answer := nobody.Send(t, http.MethodGet, "/schemas/nothing.json", ""); answer.Status != 404 || at(answer.Value, "error.code") != string(blueprint.CodeNotFound) {
		t.Errorf("no schema: %d %s, want 404 and error.code %v", answer.Status, answer.Text, string(blueprint.CodeNotFound))
	}
}

// TestOpenAPISandbox compares the responses of a sandbox with the description, and sends
// its examples.
func TestOpenAPISandbox(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon, inABox)
	d := newDescribed(t)
	document := openAPIValue(t)
	ask := func(method, path, body string) {
		t.Helper()
		answer := s.Root.Send(t, method, path, body)
		if answer.Status != http.StatusOK {
			t.Fatalf("%s %s: %d %s, want %v", method, path, answer.Status, answer.Text, http.StatusOK)
		}
		d.answer(t, path, strings.ToLower(method), answer)
	}
	for _, path := range []string{"/sandbox/rules", "/sandbox/expectations"} {
		ask("PUT", path, servertest.Encoded(t, at(document["paths"].(object)[path], "put.requestBody.content").(object)["application/json"].(object)["example"]))
	}
	call := node("call", "http-request", object{"method": "POST", "url": "https://api.example.org/orders", "body": object{"order": 42}})
	for range 3 { // a rule answers the first one
		s.Root.Call(t, "blueprint.execute", object{"id": s.Root.Blueprint(t, "Call", call)})
	}
	ask("GET", "/sandbox/calls", "")
	ask("GET", "/sandbox/rules", "")
	ask("GET", "/sandbox/expectations", "")
	hook := (&exampleWorld{Caller: s.Root}).make(t, "webhook", nil)
	example := servertest.Encoded(t, at(document["paths"].(object)["/sandbox/send"], "post.requestBody.content").(object)["application/json"].(object)["example"])
	ask("POST", "/sandbox/send", strings.ReplaceAll(example, describe.ExampleIDs["webhook"], hook))
	ask("POST", "/sandbox/verify", "")
	ask("DELETE", "/sandbox", "")
}

package api

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/server"
	"blueprintd/tests/servertest"
)

// noonText is the instant of atNoon on the wire.
const noonText = "2030-05-01T12:00:00.000Z"

func TestBlueprintRecord(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon)
	ada := s.NewUser(t, "ada")
	given := `{
		"title": "Größe <&> \"quoted\"", "description": "line one\nline two", "status": "published", "tags": ["b", "a", "b"],
		"blueprint_map": {"nodes": [{"id": "n", "type": "template", "title": "N", "config": {"text": "x", "later": [1.0, 1e2, 12345678901234567890123]}, "position": {"x": -0.50, "y": 3}, "color": null}],
			"edges": [], "viewport": {"zoom": 1.50}, "z": null},
		"environment_variables": [
			{"name": "city", "type": "string", "default": "Bern", "description": "where", "required": false, "secret": false, "color": "red"},
			{"name": "count", "type": "number", "default": 1.50}, {"name": "on", "type": "boolean", "default": false}, {"name": "data", "type": "json", "default": {"a": [null]}}, {"name": "bare", "required": true}],
		"visibility": "public", "id": "00000000-0000-4000-8000-000000000000", "version": "9.9.9", "created_by": "00000000-0000-4000-8000-000000000001",
		"created_at": "1999-01-01T00:00:00.000Z", "updated_at": "1999-01-01T00:00:00.000Z", "deleted_at": "1999-01-01T00:00:00.000Z", "average_rating": 5, "rating_count": 100, "user_rating": 5,
		"rating_sum": 500, "can_manage": false, "is_owner": false, "is_favorited": true, "categories": [{"id": "x"}], "organizations": [], "seq": 1, "OrganizationID": "x", "Title": "other", "TITLE": "other"
	}`
	input := servertest.Decoded(t, given).(object)
	record := func(more string) string {
		return fmt.Sprintf(`{"id": "<uuid>", "title": %s, "description": %s, "status": "published", "visibility": "private", "version": "1.0.0", "tags": ["b", "a", "b"],
			"created_by": %q, "organization_id": %q, "created_at": %q, "updated_at": %[5]q, "environment_variables": %[6]s, "blueprint_map": %[7]s, "average_rating": 0, "rating_count": 0%[8]s}`,
			servertest.Encoded(t, input["title"]), servertest.Encoded(t, input["description"]), ada.ID, ada.WorkspaceID, noonText, servertest.Encoded(t, input["environment_variables"]), servertest.Encoded(t, input["blueprint_map"]), more)
	}
	made := ada.OK(t, "blueprint.create", input)
	servertest.Shape(t, "created", made, record(""))
	id := at(made, "id")
	servertest.Shape(t, "got", ada.OK(t, "blueprint.get", object{"id": id}), record(fmt.Sprintf(
		`, "can_manage": true, "is_owner": true, "is_favorited": false, "categories": [], "organizations": [{"id": %q, "name": "ada", "slug": "ada"}]`, ada.WorkspaceID)))
	servertest.Shape(t, "listed", ada.OK(t, "blueprint.list", nil), `{"data": [`+record("")+`], "pagination": {"page": 1, "limit": 20, "total": 1, "totalPages": 1}}`)
	if upper := ada.OK(t, "blueprint.get", object{"id": strings.ToUpper(id.(string))}); at(upper, "id") != id {
		t.Errorf("the id in upper case finds %v, want id %v", upper, id)
	}

	// Defaults of optional keys.
	servertest.Shape(t, "the least", ada.OK(t, "blueprint.create", object{"title": "t"}), fmt.Sprintf(`{"id": "<uuid>", "title": "t", "description": "", "status": "draft", "visibility": "private", "version": "1.0.0", "tags": [],
		"created_by": %q, "organization_id": %q, "created_at": %q, "updated_at": %[3]q, "environment_variables": [], "blueprint_map": null, "average_rating": 0, "rating_count": 0}`, ada.ID, ada.WorkspaceID, noonText))
}

func TestRatingsInRecords(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	ada, ben, cleo := s.NewUser(t, "ada"), s.NewUser(t, "ben"), s.NewUser(t, "cleo")
	id := ada.Blueprint(t, "rated")
	ada.OK(t, "blueprint.update", object{"id": id, "visibility": "public"})
	for p, rating := range map[*servertest.Caller]float64{&ada: 4.5, &ben: 3} {
		if _, err := s.Store.Rate(t.Context(), blueprint.Principal{UserID: p.ID}, id, rating); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Store.Favorite(t.Context(), blueprint.Principal{UserID: ben.ID}, id, true); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name      string
		who       servertest.Caller
		scope     string
		own       any
		favorited bool
	}{{"ada", ada, "own", json.Number("4.5"), false}, {"ben", ben, "public", json.Number("3"), true}, {"cleo", cleo, "public", nil, false}} {
		t.Run(test.name, func(t *testing.T) {
			list := test.who.OK(t, "blueprint.list", object{"scope": test.scope})
			got := test.who.OK(t, "blueprint.get", object{"id": id})
			for _, record := range []any{at(list, "data").([]any)[0], got} {
				own, rated := record.(object)["user_rating"]
				if own != test.own || rated != (test.own != nil) || at(record, "average_rating") != json.Number("3.75") || at(record, "rating_count") != json.Number("2") {
					t.Errorf("%s sees %s, want own %v", test.name, servertest.Encoded(t, record), test.own)
				}
			}
			if at(got, "is_favorited") != test.favorited || at(got, "is_owner") != (test.name == "ada") || at(got, "can_manage") != (test.name == "ada") {
				t.Errorf("%s gets %s", test.name, servertest.Encoded(t, got))
			}
		})
	}
}

// TestVersions walks one blueprint through changes of each kind.
func TestVersions(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon)
	ada := s.NewUser(t, "ada")
	first := object{"nodes": []any{node("a", "template", object{"text": "1"})}}
	id := ada.IDOf(t, "blueprint.create", object{"title": "t", "blueprint_map": first})
	second := `{"nodes": [{"id": "a", "type": "template", "title": "a", "config": {"text": "2"}}], "extra": {"x": 1, "y": 2}}`
	sameAsSecond := `{"extra": {"y": 2, "x": 1}, "nodes": [{"config": {"text": "2"}, "title": "a", "type": "template", "id": "a"}]}`
	steps := []struct {
		change string
		want   string // "" = 400
	}{
		{`{}`, "1.0.0"},
		{`{"title": "t"}`, "1.0.0"},
		{`{"title": "u"}`, "1.0.1"},
		{`{"description": "d"}`, "1.0.2"},
		{`{"blueprint_map": ` + second + `}`, "1.1.0"},
		{`{"blueprint_map": ` + sameAsSecond + `}`, "1.1.0"},
		{`{"tags": ["x"]}`, "1.1.1"},
		{`{"tags": ["x"], "status": "draft", "visibility": "private"}`, "1.1.1"},
		{`{"environment_variables": [{"name": "v"}]}`, "1.2.0"},
		{`{"environment_variables": [{"name": "v"}], "title": "u"}`, "1.2.0"},
		{`{"visibility": "public"}`, "1.2.1"},
		{`{"status": "published"}`, "1.2.2"},
		{`{"status": "draft", "tags": [], "blueprint_map": {"nodes": []}}`, "1.3.0"},
		{`{"version": "1.3.0"}`, ""},
		{`{"version": "1.2.9"}`, ""},
		{`{"version": "1.3"}`, ""},
		{`{"version": "v2.0.0"}`, ""},
		{`{"version": "02.0.0"}`, ""},
		{`{"version": "2.0.0-rc1"}`, ""},
		{`{"version": "2.0.-1"}`, ""},
		{`{"version": "2.1000000000.0"}`, ""},
		{`{"version": ""}`, ""},
		{`{"version": 2}`, ""},
		{`{"version": "1.0.0", "title": "never", "blueprint_map": {"nodes": []}}`, ""},
		{`{"title": "never", "tags": [5]}`, ""},
		{`{"version": "1.3.1"}`, "1.3.1"},
		{`{"version": "1.10.0"}`, "1.10.0"},
		{`{"version": "1.9.0"}`, ""},
		{`{"title": "w"}`, "1.10.1"},
		{`{"version": "2.0.0", "blueprint_map": ` + second + `}`, "2.0.0"},
		{`{"blueprint_map": {"nodes": []}}`, "2.1.0"},
	}
	present, versions, updated := "1.0.0", []string{"1.0.0"}, noonText
	for i, step := range steps {
		s.Advance(t, "1m")
		input := servertest.Decoded(t, step.change).(object)
		input["id"] = id
		if step.want == "" {
			message := ada.Refused(t, blueprint.CodeBadRequest, "blueprint.update", input)
			if strings.HasPrefix(message, "version: must be three numbers") && !strings.Contains(message, "nine digits") {
				t.Errorf("%s: %s, want the number of digits in it", step.change, message)
			}
		} else {
			if step.want != present {
				present, versions, updated = step.want, append(versions, step.want), fmt.Sprintf("2030-05-01T12:%02d:00.000Z", i+1)
			}
			if answer := ada.OK(t, "blueprint.update", input); at(answer, "version") != present {
				t.Errorf("%s: the version is %v, want %s", step.change, at(answer, "version"), present)
			}
		}
		record := ada.OK(t, "blueprint.get", object{"id": id})
		if at(record, "version") != present || at(record, "updated_at") != updated || at(record, "created_at") != noonText || at(record, "title") == "never" {
			t.Fatalf("after %s: %s, want version %s of %s", step.change, servertest.Encoded(t, record), present, updated)
		}
	}
	list := ada.OK(t, "blueprint.versions", object{"id": id}).([]any)
	if len(list) != len(versions) {
		t.Fatalf("%d versions are kept, want %q", len(list), versions)
	}
	maps := map[string]string{"1.0.0": servertest.Encoded(t, first), "1.1.1": second, "1.2.2": second, "1.3.1": `{"nodes": []}`, "2.0.0": second, "2.1.0": `{"nodes": []}`}
	for i, version := range versions {
		kept := list[len(list)-1-i]
		want, known := maps[version]
		if !known {
			want = servertest.Encoded(t, at(kept, "blueprint_map"))
		}
		variables := "[]"
		if i > 4 { // from 1.2.0 on
			variables = `[{"name": "v"}]`
		}
		servertest.Shape(t, version, kept, fmt.Sprintf(`{"version": %q, "createdAt": "<time>", "createdBy": %q, "blueprint_map": %s, "environment_variables": %s}`, version, ada.ID, want, variables))
	}
}

// TestUpdatesAtOnce makes many concurrent changes: each counts once.
func TestUpdatesAtOnce(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	ada := s.NewUser(t, "ada")
	id := ada.Blueprint(t, "t")
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			if answer := ada.Call(t, "blueprint.update", object{"id": id, "title": fmt.Sprint("title ", i)}); answer.Status != 200 {
				t.Errorf("%d %s, want 200", answer.Status, answer.Text)
			}
		})
	}
	all.Wait()
	if version := at(ada.OK(t, "blueprint.get", object{"id": id}), "version"); version != "1.0.16" {
		t.Errorf("after 16 updates at once the version is %v, want 1.0.16", version)
	}
	if list := ada.OK(t, "blueprint.versions", object{"id": id}).([]any); len(list) != 17 {
		t.Errorf("%d versions are kept, want 17", len(list))
	}
}

// TestRunKeepsItsVersion changes a blueprint during a waiting run.
func TestRunKeepsItsVersion(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon)
	ada := s.NewUser(t, "ada")
	nodes := func(text string) []any {
		return []any{node("wait", "wait", object{"durationMs": 60_000}), node("say", "template", object{"text": text + " {{v}} {{blueprint.title}}"})}
	}
	id := ada.IDOf(t, "blueprint.create", object{"title": "old", "blueprint_map": object{"nodes": nodes("old")}, "environment_variables": []any{object{"name": "v", "default": "old"}}})
	run := ada.IDOf(t, "execution.executeBlueprintWithLogging", object{"nodes": nodes("old"), "options": object{"blueprintId": id}})
	ada.OK(t, "blueprint.update", object{"id": id, "title": "new", "blueprint_map": object{"nodes": nodes("new")}, "environment_variables": []any{object{"name": "v", "default": "new"}}})
	s.Advance(t, "1m")
	record := ada.OK(t, "execution.getExecutionStatus", object{"executionId": run})
	if record.(object)["status"] != "completed" || at(record.(object)["steps"].([]any)[1], "output.text") != "old old old" {
		t.Errorf("the run gave %s, want status completed and output.text old old old", servertest.Encoded(t, record))
	}
	logs := ada.OK(t, "execution.getExecutionLogs", object{"blueprintId": id})
	if version := at(at(logs, "logs").([]any)[0], "executionMetadata.blueprintVersion"); version != "1.0.0" {
		t.Errorf("the run has version %v, want 1.0.0", version)
	}
}

func TestLists(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon)
	ada, ben := s.NewUser(t, "ada"), s.NewUser(t, "ben")
	var ids []string
	for i := range 25 {
		s.Advance(t, "1s")
		status := []string{"draft", "published"}[i%2]
		ids = append(ids, ada.IDOf(t, "blueprint.create", object{"title": fmt.Sprintf("number %d", i), "status": status}))
	}
	other := ben.IDOf(t, "blueprint.create", object{"title": "number of ben"})
	ben.OK(t, "blueprint.update", object{"id": other, "visibility": "public"})
	page := func(input object) (titles []string, pagination string) {
		answer := ada.OK(t, "blueprint.list", input)
		for _, one := range at(answer, "data").([]any) {
			titles = append(titles, strings.TrimPrefix(at(one, "title").(string), "number "))
		}
		return titles, servertest.Encoded(t, at(answer, "pagination"))
	}
	for _, test := range []struct{ input, titles, pagination string }{
		{`{}`, "24 23 22 21 20 19 18 17 16 15 14 13 12 11 10 9 8 7 6 5", `{"limit":20,"page":1,"total":25,"totalPages":2}`},
		{`{"page": 2}`, "4 3 2 1 0", `{"limit":20,"page":2,"total":25,"totalPages":2}`},
		{`{"page": 3}`, "", `{"limit":20,"page":3,"total":25,"totalPages":2}`},
		{`{"page": 5, "limit": 5}`, "4 3 2 1 0", `{"limit":5,"page":5,"total":25,"totalPages":5}`},
		{`{"limit": 1, "page": 25}`, "0", `{"limit":1,"page":25,"total":25,"totalPages":25}`},
		{`{"limit": 100, "search": "NUMBER 1"}`, "19 18 17 16 15 14 13 12 11 10 1", `{"limit":100,"page":1,"total":11,"totalPages":1}`},
		{`{"limit": 3, "status": "published"}`, "23 21 19", `{"limit":3,"page":1,"total":12,"totalPages":4}`},
		{`{"limit": 3, "status": "published", "search": "2"}`, "23 21", `{"limit":3,"page":1,"total":2,"totalPages":1}`},
		{`{"search": "nowhere"}`, "", `{"limit":20,"page":1,"total":0,"totalPages":0}`},
		{`{"scope": "public"}`, "of ben", `{"limit":20,"page":1,"total":1,"totalPages":1}`},
		{`{"scope": "shared"}`, "", `{"limit":20,"page":1,"total":0,"totalPages":0}`},
	} {
		t.Run(test.input, func(t *testing.T) {
			titles, pagination := page(servertest.Decoded(t, test.input).(object))
			if strings.Join(titles, " ") != test.titles || pagination != test.pagination {
				t.Errorf("%q %s, want %v and %v", titles, pagination, test.titles, test.pagination)
			}
		})
	}
	ada.OK(t, "blueprint.delete", object{"id": ids[24]})
	if titles, pagination := page(object{"limit": 2}); strings.Join(titles, " ") != "23 22" || !strings.Contains(pagination, `"total":24`) {
		t.Errorf("after a deletion: %q %s, want 23 22 and \"total\":24 in it", titles, pagination)
	}
}

// TestListOfOneInstant checks that ids decide the order of equal times.
func TestListOfOneInstant(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon)
	ada := s.NewUser(t, "ada")
	var ids []string
	for range 7 {
		ids = append(ids, ada.Blueprint(t, "t"))
	}
	slices.SortFunc(ids, func(a, b string) int { return strings.Compare(b, a) })
	for page := 1; page <= 4; page++ {
		for i, record := range at(ada.OK(t, "blueprint.list", object{"page": page, "limit": 2}), "data").([]any) {
			if at(record, "id") != ids[2*(page-1)+i] {
				t.Errorf("page %d has %v at %d", page, at(record, "id"), i)
			}
		}
	}
}

func TestSearch(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	ada := s.NewUser(t, "ada")
	for _, title := range []string{"École d'été", "100% sure_thing", "100 percent", "ΣΊΣΥΦΟΣ", `back\slash "quote"`, "Kelvin \u212a", "plain"} {
		ada.OK(t, "blueprint.create", object{"title": title, "description": "about " + strings.ToUpper(title)})
	}
	for search, want := range map[string]int{
		"": 7, "école": 1, "ÉCOLE D'ÉTÉ": 1, "ecole": 0, "100%": 1, "%": 1, "_": 1, "sure_": 1, "100": 2, "σίσυφος": 1, "σίσυφοσ": 1, `\`: 1, `"QUOTE"`: 1, "kelvin k": 1, "ABOUT": 7, "about pl": 1, "' OR 1=1 --": 0,
	} {
		t.Run(search, func(t *testing.T) {
			if got := at(ada.OK(t, "blueprint.list", object{"search": search}), "pagination.total"); got != json.Number(fmt.Sprint(want)) {
				t.Errorf("%q finds %v, want %d", search, got, want)
			}
		})
	}
}

func TestPlanLimit(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, func(o *server.Options) { o.MaxBlueprints = 2 })
	ada, ben := s.NewUser(t, "ada"), s.NewUser(t, "ben")
	first := ada.Blueprint(t, "one")
	ada.Blueprint(t, "two")
	if message := ada.Refused(t, blueprint.CodeBadRequest, "blueprint.create", object{"title": "three"}); message != "blueprint limit of the plan exceeded (2 of 2)" {
		t.Errorf("the refusal says %q, want blueprint limit of the plan exceeded (2 of 2)", message)
	}
	ben.Blueprint(t, "of another")
	ada.OK(t, "blueprint.delete", object{"id": first})
	ada.Blueprint(t, "three")
	ada.Refused(t, blueprint.CodeBadRequest, "blueprint.create", object{"title": "four"})

	// Concurrent calls do not exceed it either.
	cleo := s.NewUser(t, "cleo")
	var made atomic.Int32
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			if cleo.Call(t, "blueprint.create", object{"title": "t"}).Status == 200 {
				made.Add(1)
			}
		})
	}
	all.Wait()
	if made.Load() != 2 {
		t.Errorf("%d were made at once, want 2", made.Load())
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	for _, test := range []struct{ input, want string }{
		{`{"blueprint_map": {"nodes": [{"id": "a", "type": "template", "title": "A", "config": {"text": "x"}}]}}`, `{"valid": true, "issues": []}`},
		{`{"blueprint_map": {"nodes": []}}`, `{"valid": true, "issues": [{"path": ["blueprint_map", "nodes"], "message": "<text>", "severity": "warning"}]}`},
		{`{"blueprint_map": {}}`, `{"valid": false, "issues": [{"path": ["blueprint_map", "nodes"], "message": "<text>", "severity": "error"}]}`},
		{`{"blueprint_map": {"nodes": [{"id": "a", "type": "nope", "title": "A", "config": {}}]}}`,
			`{"valid": false, "issues": [{"path": ["blueprint_map", "nodes", 0, "type"], "nodeId": "a", "message": "<text>", "severity": "error"}]}`},
		{`{"blueprint_map": {"nodes": [{"id": "a", "type": "template", "title": "A", "config": {"text": "{{ a b }}"}}]}}`,
			`{"valid": false, "issues": [{"path": ["blueprint_map", "nodes", 0, "config", "text"], "nodeId": "a", "message": "<text>", "severity": "error"}]}`},
		{`{"blueprint_map": {"nodes": [{"id": "a", "type": "template", "title": "A", "config": {}}]}}`,
			`{"valid": false, "issues": [{"path": ["blueprint_map", "nodes", 0, "config", "text"], "nodeId": "a", "message": "<text>", "severity": "error"}]}`},
		{`{"blueprint_map": {"nodes": [{"id": "a", "type": "template", "title": "A", "config": {"text": "{{v}}"}}]}}`,
			`{"valid": true, "issues": [{"path": ["blueprint_map", "nodes", 0, "config", "text"], "nodeId": "a", "message": "<text>", "severity": "warning"}]}`},
		{`{"blueprint_map": {"nodes": [{"id": "a", "type": "template", "title": "A", "config": {"text": "{{v}}"}}]}, "environment_variables": [{"name": "v"}]}`, `{"valid": true, "issues": []}`},
		{`{"blueprint_map": {"nodes": [{"id": "a", "type": "template", "title": "A", "config": {"text": "x"}}]}, "environment_variables": [{"name": "v", "type": "text"}]}`,
			`{"valid": false, "issues": [{"path": ["environment_variables", 0, "type"], "message": "<text>", "severity": "error"}]}`},
		{`{"blueprint_map": {"nodes": [{"id": "a", "type": "merge", "title": "A", "config": {}}, {"id": "b", "type": "merge", "title": "B", "config": {}}], "edges": [{"source": "a", "target": "b"}, {"source": "b", "target": "a"}]}}`,
			`{"valid": false, "issues": [{"path": ["blueprint_map", "edges"], "nodeId": "a", "message": "<text>", "severity": "error"}]}`},
		{`{"blueprint_map": {"nodes": [], "edges": [{"source": "a", "target": "b"}]}}`,
			`{"valid": false, "issues": [{"path": ["blueprint_map", "edges", 0, "source"], "message": "<text>", "severity": "error"}, {"path": ["blueprint_map", "edges", 0, "target"], "message": "<text>", "severity": "error"}]}`},
		{`{"blueprint_map": {"nodes": [{"id": "a", "type": "template", "title": "A", "config": {"text": "x"}}]}, "environment_variables": {"v": 1}}`,
			`{"valid": false, "issues": [{"path": ["environment_variables"], "message": "must be an array", "severity": "error"}]}`},
	} {
		servertest.Shape(t, test.input, s.Root.OK(t, "blueprint.validate", servertest.Decoded(t, test.input)), test.want)
	}
	for _, input := range []string{`{}`, `{"blueprint_map": []}`, `{"blueprint_map": "x"}`, `{"blueprint_map": null}`} {
		s.Root.Refused(t, blueprint.CodeBadRequest, "blueprint.validate", servertest.Decoded(t, input))
	}
}

func TestDeleteCancelsRuns(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon)
	ada, ben := s.NewUser(t, "ada"), s.NewUser(t, "ben")
	nodes := []any{node("ask", "human", object{"prompt": "?"})}
	waits := []any{node("wait", "wait", object{"durationMs": 1000})}
	id := ada.Blueprint(t, "doomed", nodes...)
	ada.OK(t, "blueprint.update", object{"id": id, "visibility": "public"})
	hook := ada.IDOf(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": "webhook"})
	ada.OK(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": "scheduled", "config": object{"cron": "* * * * *"}})
	start := func(p servertest.Caller, nodes []any) string {
		return p.IDOf(t, "execution.executeBlueprintWithLogging", object{"nodes": nodes, "options": object{"blueprintId": id}})
	}
	paused, waiting, bens := start(ada, nodes), start(ada, waits), start(ben, nodes)
	s.Advance(t, "0s")
	servertest.Shape(t, "deleted", ada.OK(t, "blueprint.delete", object{"id": id}), `{"success": true}`)
	for name, c := range map[string]struct {
		run string
		by  servertest.Caller
	}{"paused": {paused, ada}, "waiting": {waiting, ada}, "of another user": {bens, ben}} {
		t.Run(name, func(t *testing.T) {
			run, p := c.run, c.by
			record := p.OK(t, "execution.getExecutionStatus", object{"executionId": run}).(object)
			if record["status"] != "failed" || record["endTime"] != noonText || record["awaitingInput"] != nil {
				t.Errorf("after the deletion: %s, want status failed, endTime %v and awaitingInput nil", servertest.Encoded(t, record), noonText)
			}
			listed := at(p.OK(t, "execution.listRecentExecutions", nil), "logs").([]any)
			found := false
			for _, one := range listed {
				found = found || at(one, "executionData.executionId") == run
				if summary, _ := at(one, "errorSummary").(string); !strings.HasPrefix(summary, "cancelled") || at(one, "hasErrors") != true {
					t.Errorf("its log record says %v, want \"cancelled\" at the start and hasErrors true", one)
				}
			}
			if !found {
				t.Errorf("%s is not in the list of who triggered it", run)
			}
		})
	}
	if record := ada.OK(t, "execution.getExecutionStatus", object{"executionId": bens}); at(record, "status") != "not_found" {
		t.Errorf("the former manager still sees the runs of others, want status not_found")
	}
	if fired := s.Advance(t, "10m"); fired != 0 {
		t.Errorf("its schedule fired %d times after the deletion, want 0", fired)
	}
	if answer := (servertest.Caller{Server: s}).Send(t, "POST", "/webhooks/blueprint/"+hook, "{}"); answer.Status != 404 {
		t.Errorf("its webhook answers %d %s, want 404", answer.Status, answer.Text)
	}
	for _, call := range []string{"blueprint.get", "blueprint.delete", "blueprint.versions", "blueprint.execute"} {
		ada.Refused(t, blueprint.CodeNotFound, call, object{"id": id})
	}
}

package recording

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
	"blueprintd/blueprint/document"
)

const begun = blueprint.Time(1_000_000_000_000)

func plain(t testing.TB, text string) any {
	t.Helper()
	value, err := blueprint.Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// source is a run with a secret wherever one may be.
func source(t testing.TB, recorded bool) Source {
	id := "exec_1000000000000_01hv0000000000000000000000"
	asks := "ask"
	x := &blueprint.Execution{
		ExecutionStatus: blueprint.ExecutionStatus{
			ID: id, Status: blueprint.StatusCompleted, Progress: 100, StartTime: begun, EndTime: begun + 5000, TotalSteps: 3, CompletedSteps: 3,
			Steps: []blueprint.Step{
				{NodeID: "get", NodeType: "http-request", Title: "Get", Status: blueprint.StepCompleted, StartTime: begun, EndTime: begun + 1, Attempt: 1, Input: plain(t, `{"password": "planted"}`),
					Output: plain(t, `{"status": 200, "body": {"id": "7e3bb8a0-9f5f-4a83-8d6c-7ad3a4f8d111", "access_token": "planted", "n": 7}}`)},
				{NodeID: "ask", NodeType: "human", Title: "Ask", Status: blueprint.StepCompleted, Attempt: 1, Output: plain(t, `{"name": "Ada"}`)},
				{NodeID: "say", NodeType: "template", Title: "Say", Status: blueprint.StepCompleted, Attempt: 1,
					Output: plain(t, `{"at": "2001-09-09T01:46:41.000Z", "then": "1999-01-01T00:00:00Z", "run": "`+id+`", "new": "0b1e7a51-58a0-4a5c-9c1b-111111111111", "ms": 1000000000500, "hidden": "a *** b", "text": "Hello"}`)},
			},
			Logs: []blueprint.LogEntry{{Timestamp: begun, Level: "info", NodeID: &asks, Message: "https://a.example/?token=planted", Data: plain(t, `{"password": "planted"}`)}},
		},
		BlueprintID: "3b9f7c52-51d4-4a0e-9c8e-0a4f5d2b7e61", BlueprintVersion: "1.2.0", CreatedAt: begun, Telemetry: blueprint.NewTelemetry(),
		InputVariables: map[string]any{"word": "***", "apiKey": "planted", "city": "Rome"}, InputData: plain(t, `{"a": 1.50, "secret": "planted"}`), Output: "Hello",
	}
	return Source{
		Recording: &blueprint.Recording{
			Execution: x, Recorded: recorded, Trigger: &blueprint.TriggerContext{ID: "t", Type: blueprint.TriggerWebhook, Headers: map[string]any{"x-my-token": "planted", "X-Session": "planted", "accept": "a"}},
			Connections: []blueprint.UsedConnection{{ID: "c1", Type: blueprint.ConnectionHTTP}, {ID: "c2", Type: blueprint.ConnectionSlack}},
			Exchanges: []blueprint.Exchange{{At: begun, NodeID: "get", NodeType: "http-request", Attempt: 1,
				Request:  blueprint.ExchangeRequest{Method: "GET", URL: "https://a.example/"},
				Response: &blueprint.ExchangeResponse{Status: 200, Body: plain(t, `{"id": "7e3bb8a0-9f5f-4a83-8d6c-7ad3a4f8d111", "n": 7, "said": "it was planted"}`)}}},
		},
		Blueprint: Blueprint{
			ID: "3b9f7c52-51d4-4a0e-9c8e-0a4f5d2b7e61", Version: "1.2.0", Title: "Übersicht: of the day!", Tags: []string{"x"},
			Variables: plain(t, `[{"name": "word", "secret": true, "default": "planted"}, {"name": "apiKey", "default": "planted"}, {"name": "options", "type": "json", "default": {"login": {"password": "planted"}, "list": ["kept"]}}, {"name": "city", "default": "Rome"}]`).([]any),
			Map:       plain(t, `{"nodes": [{"id": "get", "type": "http-request", "title": "Get", "config": {"url": "https://a.example/?api_key=planted", "headers": {"Authorization": "Bearer planted", "X-API-Key": "{{word}}"}, "multipart": [{"name": "password", "value": "planted-1"}]}}], "edges": []}`),
		},
		Connections: map[string]Connection{"c1": {Name: "C", Type: blueprint.ConnectionHTTP, Config: map[string]any{"baseUrl": "https://a.example", "token": nil}}},
		At:          begun + 10_000, Server: "0.1.0",
	}
}

func TestAFileHoldsTheRunAndNoSecret(t *testing.T) {
	f := Make(source(t, true))
	data, err := f.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(data, []byte("planted")) {
		t.Errorf("a secret is in %s", data)
	}
	for _, kept := range []string{`"a": 1.50`, `"X-API-Key": "{{word}}"`, `"city": "Rome"`, `"2001-09-09T01:46:40.000Z"`, `"kept"`, `"name": "C"`, `"type": "slack"`, `"accept": "a"`} {
		if !bytes.Contains(data, []byte(kept)) {
			t.Errorf("%s is not in %s", kept, data)
		}
	}
	again, err := Make(source(t, true)).Bytes()
	if err != nil || !bytes.Equal(data, again) {
		t.Error("the same run gave other bytes", err)
	}
	read, err := Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	written, err := read.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(data), string(written)); diff != "" {
		t.Errorf("what was read is written otherwise: %s", diff)
	}
	if x := read.Execution("o", "u"); x.ID != f.Run.ID || len(x.Outputs) != 3 || x.UpdatedAt != begun+5000 || x.TriggerID != "t" {
		t.Errorf("%+v, want ID %v, length 3, UpdatedAt %v and TriggerID t", x, f.Run.ID, begun+5000)
	}
	if f := Make(source(t, false)); f.Cassette != nil {
		t.Errorf("a run that was not recorded has a cassette: %v, want Cassette nil", f.Cassette)
	}
}

// An error keeps its hint and its missing grant, without secrets.
func TestErrorsKeepHintAndGrant(t *testing.T) {
	s := source(t, true)
	grant := &blueprint.MissingGrant{BlueprintID: "b", Version: "1.2.0", Author: blueprint.Author{ID: "u", Name: "Ada", Email: "planted"}, Resource: blueprint.Resource{Kind: blueprint.ResourceConnection, ID: "c1", Name: "token=planted"}}
	hint := "grant 1.2.0 at https://a.example/?token=planted, or say planted"
	s.Recording.Execution.Steps[0].Error = &blueprint.StepError{Message: "m", Code: blueprint.CodeNeedsGrant, Hint: hint, Grant: grant}
	s.Recording.Execution.Failure = &blueprint.RunError{NodeID: "get", Message: "m", Code: blueprint.CodeNeedsGrant, Hint: hint, Grant: grant}
	f := Make(s)
	step := f.Run.Steps[0].Error
	for name, got := range map[string]struct {
		hint  string
		grant *blueprint.MissingGrant
	}{"step": {step.Hint, step.Grant}, "run": {f.Run.Error.Hint, f.Run.Error.Grant}} {
		t.Run(name, func(t *testing.T) {
			if !strings.HasPrefix(got.hint, "grant 1.2.0 at https://a.example/?token=") || strings.Contains(got.hint, "planted") {
				t.Errorf("hint %q, want \"grant 1.2.0 at https://a.example/?token=\" at the start and no \"planted\"", got.hint)
			}
			g := got.grant
			if g == nil || strings.Contains(g.Author.Email+g.Resource.Name, "planted") {
				t.Fatalf("grant %+v, want one without a secret", g)
			}
			if diff := cmp.Diff([]any{"b", "1.2.0", "Ada", blueprint.ResourceConnection, "c1"}, []any{g.BlueprintID, g.Version, g.Author.Name, g.Resource.Kind, g.Resource.ID}); diff != "" {
				t.Errorf("blueprint, version, author, kind and id of the resource (-want +got):\n%s", diff)
			}
		})
	}
	if grant.Author.Email != "planted" || s.Recording.Execution.Steps[0].Error.Hint != hint {
		t.Error("what Make was given has changed")
	}
}

func TestTheTestOfARun(t *testing.T) {
	kinds := map[string]*blueprint.NodeType{"template": {Effect: blueprint.EffectPure}, "http-request": {AnsweredBy: blueprint.AnsweredByCassette}, "code": {AnsweredBy: blueprint.AnsweredByCassette}, "human": {AnsweredBy: blueprint.AnsweredByStub}}
	files, err := Make(source(t, true)).TestFiles(kinds)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		names = append(names, f.Name)
		if strings.Contains(f.Content, "planted") {
			t.Errorf("a secret is in %s, want no \"planted\"", f.Content)
		}
	}
	if want := []string{"bersicht-of-the-day.blueprint.yaml", "bersicht-of-the-day.test.yaml", "bersicht-of-the-day.cassette.json"}; !slices.Equal(names, want) {
		t.Fatalf("%q, want %v", names, want)
	}
	if _, err := ReadCassette([]byte(files[2].Content)); err != nil {
		t.Error(err)
	}
	if !strings.HasPrefix(files[1].Content, "# The run exec_1000000000000_01hv0000000000000000000000 of 3b9f7c52") || !strings.Contains(files[1].Content, "have placeholders: word.") {
		t.Errorf("the comment: %s", files[1].Content)
	}
	doc, err := document.Parse(names[1], []byte(files[1].Content))
	if err != nil {
		t.Fatal(err)
	}
	got, _ := blueprint.Encode(doc.Value)
	want := `{"blueprint":"bersicht-of-the-day.blueprint.yaml","tests":[{"cassette":"bersicht-of-the-day.cassette.json","clock":"2001-09-09T01:46:40.000Z",` +
		`"expect":{"output":"Hello","status":"completed","steps":{"ask":{"output":{"name":"Ada"},"status":"completed"},` +
		`"get":{"output":{"body":{"access_token":{"$any":true},"id":"7e3bb8a0-9f5f-4a83-8d6c-7ad3a4f8d111","n":7},"status":200},"status":"completed"},` +
		`"say":{"output":{"at":{"$any":true},"hidden":{"$any":true},"ms":{"$any":true},"new":{"$any":true},"run":{"$any":true},"text":"Hello","then":"1999-01-01T00:00:00Z"},"status":"completed"}}},` +
		`"inputData":{"a":1.50,"secret":"***"},"name":"as run exec_1000000000000_01hv0000000000000000000000","stubs":{"ask":{"output":{"name":"Ada"}}},"variables":{"apiKey":"***","city":"Rome","word":"stand-in-for-a-secret"}}]}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
	files, err = Make(source(t, false)).TestFiles(kinds)
	if err != nil || len(files) != 2 || !strings.Contains(files[1].Content, "was not recorded") || !strings.Contains(files[1].Content, "\n      get:\n        output:") {
		t.Errorf("%d files, %v, %s; want 2, \"was not recorded\" in it and %q in it", len(files), err, files[1].Content, "\n      get:\n        output:")
	}
}

// What a source draws is another one each time, wherever it comes to.
func TestWhatWasDrawnMayBeAnything(t *testing.T) {
	s := source(t, false)
	s.Blueprint.Map = plain(t, `{"nodes": [{"id": "die", "type": "code", "title": "Die", "config": {"source": "return {n: Math.random(), side: 'a'}"}}]}`)
	s.Recording.Execution.Steps = []blueprint.Step{
		{NodeID: "die", NodeType: "code", Status: blueprint.StepCompleted, Attempt: 1, Output: plain(t, `{"n": 0.123456, "side": "a"}`)},
		{NodeID: "say", NodeType: "template", Status: blueprint.StepCompleted, Attempt: 1, Output: plain(t, `{"text": "got 0.123456", "also": 0.123456, "other": "b"}`)},
	}
	f := Make(s)
	steps := f.test("x", nil)["expect"].(map[string]any)["steps"]
	got, _ := blueprint.Encode(steps)
	if want := `{"die":{"output":{"$any":true},"status":"completed"},"say":{"output":{"also":{"$any":true},"other":"b","text":{"$any":true}},"status":"completed"}}`; string(got) != want {
		t.Errorf("%s, want %v", got, want)
	}
}

// A test of a large run: of many random values and texts, and of many
// runs of a long script.
func BenchmarkTestsOfLargeRuns(b *testing.B) {
	many := func(format string, n int) (list []any) {
		for i := range n {
			list = append(list, fmt.Sprintf(format, i))
		}
		return list
	}
	s := source(b, false)
	script := map[string]any{"source": "Math.random() //" + strings.Repeat("Math ", 50_000)}
	s.Blueprint.Map = map[string]any{"nodes": []any{map[string]any{"id": "die", "type": "code", "title": "Die", "config": script}}}
	steps := []blueprint.Step{{NodeID: "die", NodeType: "code", Status: blueprint.StepCompleted, Output: many("drawn %08d", 20_000)}}
	for i := range 500 {
		steps = append(steps, blueprint.Step{NodeID: fmt.Sprintf("each[%d]/die", i), NodeType: "code", Status: blueprint.StepCompleted, Output: "x"})
	}
	for i := range 10 {
		steps = append(steps, blueprint.Step{NodeID: fmt.Sprint("say", i), NodeType: "set", Status: blueprint.StepCompleted, Output: many("said %08d", 4000)})
	}
	s.Recording.Execution.Steps = steps
	for b.Loop() {
		if _, err := Make(s).TestFiles(nil); err != nil {
			b.Fatal(err)
		}
	}
}

func TestBrokenFilesSayWhere(t *testing.T) {
	good, err := Make(source(t, true)).Bytes()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ was, is, want string }{
		{`"blueprintd-run/1"`, `"blueprintd-run/2"`, "format: must be blueprintd-run/1"},
		{`"blueprintd-cassette/1"`, `"other"`, "cassette.format: must be blueprintd-cassette/1"},
		{`"status": "completed",`, `"status": "done",`, "run.status: must be running"},
		{`"version": "1.2.0"`, `"version": "x"`, "blueprint.version: must be a version"},
		{`"method": "GET"`, `"method": ""`, "cassette.exchanges[0].request.method: required"},
		{`"progress": 100`, `"progress": "all"`, "run.progress: must not be a JSON string"},
		{`"progress": 100`, `"progress": `, "not JSON"},
		{`"createdAt": "2001-09-09T01:46:40.000Z"`, `"createdAt": "today"`, "today"},
		{`"type": "http-request"`, `"type": 7`, "blueprint.blueprint_map"},
		{`"format"`, strings.Repeat("[", 1000) + `"format"`, "deeper"},
	} {
		t.Run(fmt.Sprintf("%.200s", test.is), func(t *testing.T) {
			data := strings.Replace(string(good), test.was, test.is, 1)
			if data == string(good) {
				t.Fatalf("nothing changed: %s, want other than %v", test.was, string(good))
			}
			_, err := Parse([]byte(data))
			var refused *blueprint.Error
			if !errors.As(err, &refused) || !strings.Contains(refused.Message, test.want) {
				t.Errorf("%v, want %s", err, test.want)
			}
		})
	}
	if _, err := Parse(append(good, '{')); blueprint.CodeOf(err) != blueprint.CodeBadRequest {
		t.Errorf("%v, want %v", err, blueprint.CodeBadRequest)
	}
	if _, err := Parse(make([]byte, MaxSize+1)); blueprint.CodeOf(err) != blueprint.CodePayloadTooLarge {
		t.Errorf("%v, want %v", err, blueprint.CodePayloadTooLarge)
	}
}

func FuzzParse(f *testing.F) {
	for _, recorded := range []bool{true, false} {
		data, err := Make(source(f, recorded)).Bytes()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(`{"format":"blueprintd-run/1","run":{"steps":[{}],"awaitingInputs":[null]},"cassette":{"exchanges":[{}]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		read, err := Parse(data)
		if err != nil {
			if code := blueprint.CodeOf(err); code != blueprint.CodeBadRequest && code != blueprint.CodePayloadTooLarge {
				t.Fatalf("%s: %v", code, err)
			}
			return
		}
		written, err := read.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse(written)
		if err != nil {
			t.Fatalf("what was written cannot be read: %v", err)
		}
		twice, err := again.Bytes()
		if err != nil || !bytes.Equal(written, twice) {
			t.Fatalf("%v\n%s\n%s", err, written, twice)
		}
		read.Execution("o", "u")
		if _, err := read.TestFiles(nil); err != nil {
			t.Fatal(err)
		}
	})
}

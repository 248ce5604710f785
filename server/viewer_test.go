package server_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"strings"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/foundation/recording"
	"blueprintd/server"
	"blueprintd/tests/process"
	"blueprintd/tests/servertest"
)

// TestOpenShowsARun exports runs of each kind and opens their files.
func TestOpenShowsARun(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	ada := s.NewUser(t, "ada")
	for _, status := range []blueprint.Status{blueprint.StatusCompleted, blueprint.StatusFailed, blueprint.StatusPaused} {
		nodes := []any{node("say", "template", object{"text": "Hello {{inputData.who}}"})}
		switch status {
		case blueprint.StatusFailed:
			nodes = append(nodes, node("stop", "stop", object{"failed": true, "message": "no more"}))
		case blueprint.StatusPaused:
			nodes = append(nodes, node("ask", "human", object{"prompt": "On?"}))
		}
		id := ada.Blueprint(t, "Greets", nodes...)
		run := ada.IDOf(t, "execution.executeBlueprintWithLogging", object{"nodes": nodes, "options": object{"blueprintId": id, "inputData": object{"who": "Eve"}, "record": true}})
		ada.Await(t, run, status)
		data, err := json.Marshal(ada.OK(t, "execution.export", object{"executionId": run}))
		if err != nil {
			t.Fatal(err)
		}
		f, err := recording.Parse(data)
		if err != nil {
			t.Fatal(err)
		}
		look(t, f, run, id, status)
	}
}

func look(t *testing.T, f *recording.File, run, id string, status blueprint.Status) {
	v, err := server.NewViewer(t.Context(), version, schema, "127.0.0.1:0", f, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	address, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		ended <- v.Run(ctx, func(url string) error { address <- url; return nil })
	}()
	link := <-address
	jar, _ := cookiejar.New(nil)
	mine, other := process.Browser{Client: &http.Client{Jar: jar}, Root: v.APIHost()}, process.Browser{Client: &http.Client{}, Root: v.APIHost()}
	if code, _ := other.Query(t, "execution.getExecutionStatus", `{"executionId":"`+run+`"}`); code != http.StatusUnauthorized {
		t.Errorf("without the address: %d, want %v", code, http.StatusUnauthorized)
	}
	if code, _, _ := other.Get(t, v.APIHost()+"/open/guessed"); code != http.StatusNotFound {
		t.Errorf("a guessed address: %d, want %v", code, http.StatusNotFound)
	}
	if response, err := other.Head(link); err != nil || response.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("HEAD: %v %v, want StatusCode %v", response, err, http.StatusMethodNotAllowed)
	}
	if code, path, _ := mine.Get(t, link); code != http.StatusOK || path != "/runs/"+run {
		t.Errorf("the address led to %d %s, want %v and %v", code, path, http.StatusOK, "/runs/"+run)
	}
	if code, path, _ := mine.Get(t, link); code != http.StatusOK || path != "/runs/"+run {
		t.Errorf("once more the address led to %d %s, want %v and %v", code, path, http.StatusOK, "/runs/"+run)
	}
	if code, _, body := other.Get(t, link); code != http.StatusGone || !strings.Contains(body, "blueprintd open again") {
		t.Errorf("the address for somebody else: %d %s, want %v and \"blueprintd open again\" in it", code, body, http.StatusGone)
	}
	if code, _ := other.Query(t, "session.get", `{}`); code != http.StatusUnauthorized {
		t.Errorf("the address signed in twice: %d, want %v", code, http.StatusUnauthorized)
	}
	for _, each := range []struct{ name, input, want string }{
		{"session.get", `{}`, server.ViewerEmail},
		{"execution.getExecutionStatus", `{"executionId":"` + run + `"}`, `"status":"` + string(status) + `"`},
		{"execution.getExecutionStatus", `{"executionId":"` + run + `"}`, "Hello Eve"},
		{"execution.getRecord", `{"executionId":"` + run + `"}`, `"blueprintId":"` + id + `"`},
		{"execution.getExchanges", `{"executionId":"` + run + `"}`, `"recorded":true`},
		{"execution.export", `{"executionId":"` + run + `"}`, recording.Format},
		{"execution.listRuns", `{}`, "Greets"},
		{"execution.listRecentExecutions", `{}`, run},
		{"blueprint.get", `{"id":"` + id + `"}`, `"version":"1.0.0"`},
		{"blueprint.versions", `{"id":"` + id + `"}`, "template"},
		{"blueprintTriggers.list", `{"blueprintId":"` + id + `"}`, "[]"},
		{"server.getInfo", `{}`, version},
	} {
		if code, body := mine.Query(t, each.name, each.input); code != http.StatusOK || !strings.Contains(body, each.want) {
			t.Errorf("%s: %d %.300s, want %s", each.name, code, body, each.want)
		}
	}
	for name, input := range map[string]string{
		"blueprint.execute": `{"id":"` + id + `"}`, "execution.retry": `{"executionId":"` + run + `"}`, "execution.resume": `{"executionId":"` + run + `","input":"x"}`,
		"execution.cancel": `{"executionId":"` + run + `"}`, "blueprint.delete": `{"id":"` + id + `"}`, "apiKey.create": `{"name":"k"}`,
	} {
		if code, body := mine.Mutate(t, name, input); code != http.StatusForbidden || !strings.Contains(body, "only shows a run") {
			t.Errorf("%s: %d %.200s, want %v and \"only shows a run\" in it", name, code, body, http.StatusForbidden)
		}
	}
	if code, _, _ := mine.Get(t, v.APIHost()+"/webhooks/blueprint/x"); code != http.StatusNotFound {
		t.Errorf("a webhook is answered: %d, want %v", code, http.StatusNotFound)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

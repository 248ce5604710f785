package api

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/server"
	"blueprintd/tests/servertest"
)

// plantedWords are secrets, one for each way into the recorded traffic of a run.
var plantedWords = []string{
	"planted-variable-1", "planted-connection-2", "planted-query-typed-3", "planted-header-typed-4", "planted-cookie-5", "planted-answer-6", "planted-form-7",
	"planted-basic-8", "planted-header-9", "planted-location-10", "planted-client-12", "planted-oauth-13", "planted-rest-14",
}

// tattler returns a service that echoes all input in many encodings and returns
// secrets of its own.
func tattler(t *testing.T) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch r.URL.Path {
		case "/token":
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"access_token": "planted-oauth-13", "token_type": "bearer", "expires_in": 3600}`)
			return
		case "/away":
			w.Header().Set("Location", "/there?access_token=planted-location-10")
			w.WriteHeader(http.StatusFound)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Set-Cookie", "session=planted-cookie-5")
		w.Header().Set("X-My-Secret", "planted-header-9")
		user, password, _ := r.BasicAuth()
		answer, _ := blueprint.Encode(map[string]any{
			"kept": "kept-word", "authorization": r.Header.Get("Authorization"), "said": "You said " + r.Header.Get("Authorization"), "user": user, "pass": password,
			"rest": strings.TrimPrefix(r.Header.Get("X-Shop"), "Token "), "url": r.URL.String(), "body": string(body), "refresh_token": "planted-answer-6", "text": `{"password": "planted-answer-6"}`,
		})
		w.Write(answer)
	}))
	t.Cleanup(s.Close)
	return s
}

// TestRecordingsTellNoSecrets plants secrets wherever a run can receive one, and searches
// for them in everything that leaves the server.
func TestRecordingsTellNoSecrets(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, func(o *server.Options) { o.AllowNet = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} })
	ada, world := s.NewUser(t, "ada"), tattler(t)
	connect := func(kind string, config object) string {
		return ada.IDOf(t, "connection.create", object{"name": kind, "type": kind, "config": config})
	}
	bearer := connect("http", object{"auth": object{"type": "bearer", "token": "planted-connection-2"}, "hosts": []any{strings.TrimPrefix(world.URL, "http://")}})
	basic := connect("http", object{"auth": object{"type": "basic", "username": "ada", "password": "planted-basic-8"}, "hosts": []any{strings.TrimPrefix(world.URL, "http://")}})
	oauth := connect("oauth2", object{"flow": "client_credentials", "tokenUrl": world.URL + "/token", "clientId": "me", "clientSecret": "planted-client-12", "hosts": []any{strings.TrimPrefix(world.URL, "http://")}})
	header := connect("http", object{"auth": object{"type": "header", "name": "X-Shop", "value": "Token planted-rest-14"}, "hosts": []any{strings.TrimPrefix(world.URL, "http://")}})
	call := func(id string, config object) any { return node(id, "http-request", config) }
	nodes := []any{
		call("variable", object{"url": world.URL + "/{{word}}", "method": "POST", "headers": object{"X-Word": "{{word}}"}, "body": object{"w": "{{word}}"}}),
		call("query", object{"url": world.URL + "/?api_key=planted-query-typed-3&page=2"}),
		call("header", object{"url": world.URL, "headers": object{"Authorization": "Bearer planted-header-typed-4", "X-Api-Key": "planted-header-typed-4"}}),
		call("form", object{"url": world.URL, "method": "POST", "headers": object{"Content-Type": "application/x-www-form-urlencoded"}, "body": object{"client_secret": "planted-form-7", "a": "b"}}),
		call("bearer", object{"url": world.URL, "connectionId": bearer}), call("basic", object{"url": world.URL, "connectionId": basic}), call("shop", object{"url": world.URL, "connectionId": header}),
		call("oauth", object{"url": world.URL, "connectionId": oauth}), call("away", object{"url": world.URL + "/away"}),
		node("ask", "human", object{"prompt": "On?"}),
	}
	for i := range nodes {
		nodes[i].(object)["onError"] = "continue"
	}
	id := ada.IDOf(t, "blueprint.create", object{"title": "Secrets", "blueprint_map": object{"nodes": nodes},
		"environment_variables": []any{object{"name": "word", "secret": true, "default": "planted-variable-1"}}})
	run := ada.IDOf(t, "execution.executeBlueprintWithLogging", object{"nodes": nodes, "options": object{"blueprintId": id}, "record": true})
	ada.Await(t, run, blueprint.StatusPaused)
	look := func(when string) {
		t.Helper()
		for _, name := range []string{"execution.getExchanges", "execution.export", "execution.exportTest"} {
			data, err := blueprint.Encode(ada.OK(t, name, object{"executionId": run}))
			if err != nil {
				t.Fatal(err)
			}
			for _, word := range plantedWords {
				if at := strings.Index(string(data), word); at >= 0 {
					t.Errorf("%s, %s is in %s: %.200s; want less than 0", when, word, name, data[max(0, at-150):])
				}
			}
			if !strings.Contains(string(data), "kept-word") {
				t.Errorf("%s, %s has lost what is no secret; want \"kept-word\" in it", when, name)
			}
		}
		for _, name := range []string{"execution.getExecutionStatus", "execution.getRecord"} {
			data, err := blueprint.Encode(ada.OK(t, name, object{"executionId": run}))
			if text := string(data); err != nil || strings.Contains(text, "planted-rest-14") || name == "execution.getRecord" && !strings.Contains(text, "kept-word") {
				t.Errorf("%s, %s: %v %s", when, name, err, text)
			}
		}
		list := at(ada.OK(t, "execution.getExchanges", object{"executionId": run}), "exchanges").([]any)
		if len(list) != 10 { // one redirect, and no request for a token
			t.Errorf("%s, there are %d exchanges; want 10", when, len(list))
			for _, x := range list {
				t.Log(at(x, "nodeId"), at(x, "request.url"), at(x, "response.status"))
			}
		}
	}
	look("paused")
	ada.OK(t, "execution.resume", object{"executionId": run, "input": "yes"})
	ada.Await(t, run, blueprint.StatusCompleted)
	look("at the end")
}

package api

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"blueprintd/tests/servertest"
)

// TestSignInInSandbox follows the sign-in address of a paused run, as curl -L does: all
// redirects stay on the server, and the run continues.
func TestSignInInSandbox(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon, inABox)
	oauth := s.Root.IDOf(t, "connection.create", object{"name": "o", "type": "oauth2", "config": object{
		"flow": "authorization_code", "authorizationUrl": "https://id.example.com/authorize?prompt=login", "tokenUrl": "https://id.example.com/token", "clientId": "c", "clientSecret": "s",
		"scopes": []any{"read"}, "hosts": []any{"api.example.com"}}})
	answer := execute(t, s.Root, node("a", "http-request", object{"url": "https://api.example.com/", "connectionId": oauth}))
	id := at(answer.Payload(), "executionId").(string)
	address, _ := at(s.Root.Record(t, id), "awaitingInput.url").(string)
	if !strings.HasPrefix(address, s.Host+"/oauth/start?") {
		t.Fatalf("the run waits for %q: %s, want %q at the start", address, answer.Text, s.Host+"/oauth/start?")
	}
	var way []string
	client := &http.Client{CheckRedirect: func(r *http.Request, _ []*http.Request) error {
		way = append(way, strings.TrimPrefix(strings.Split(r.URL.String(), "?")[0], s.Host))
		return nil
	}}
	response, err := client.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK || !strings.Contains(string(text), "You are signed in") {
		t.Errorf("%d %s %v, want %v and \"You are signed in\" in it", response.StatusCode, text, err, http.StatusOK)
	}
	if got := strings.Join(way, " "); got != "/sandbox/authorize /oauth/callback" {
		t.Errorf("the way was %s, want /sandbox/authorize /oauth/callback", got)
	}
	record := s.Root.Await(t, id, "completed")
	if sent := at(record, "steps").([]any)[0].(object); at(sent, "output.body.headers.authorization") != "***" {
		t.Errorf("the node was answered %s, want output.body.headers.authorization ***", servertest.Encoded(t, sent))
	}
	if calls := sandboxCalls(t, s.Root, "?host=id.example.com"); len(calls) != 1 || at(calls[0], "request.method") != "POST" {
		t.Errorf("the service was asked %s, want length 1 and request.method POST", servertest.Encoded(t, calls))
	}
	for _, wrong := range []string{"", "?state=nothing", "?redirect_uri=https://evil.example/&state=x"} {
		answer := servertest.Caller{Server: s}.Send(t, http.MethodGet, "/sandbox/authorize"+wrong, "")
		if answer.Status == http.StatusOK || strings.Contains(answer.Text, "evil") {
			t.Errorf("%s: %d %s, want other than %v and no \"evil\"", wrong, answer.Status, answer.Text, http.StatusOK)
		}
	}
}

package api

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestSignInInTheBox follows the address of a run that wants somebody to sign in,
// as curl -L does: it never leaves the server, and the run goes on.
func TestSignInInTheBox(t *testing.T) {
	t.Parallel()
	s := newService(t, atNoon, inABox)
	oauth := s.root.id(t, "connection.create", object{"name": "o", "type": "oauth2", "config": object{
		"flow": "authorization_code", "authorizationUrl": "https://id.example.com/authorize?prompt=login", "tokenUrl": "https://id.example.com/token", "clientId": "c", "clientSecret": "s",
		"scopes": []any{"read"}, "hosts": []any{"api.example.com"}}})
	answer := s.root.execute(t, node("a", "http-request", object{"url": "https://api.example.com/", "connectionId": oauth}))
	id := at(answer.payload(), "executionId").(string)
	address, _ := at(s.root.status(t, id), "awaitingInput.url").(string)
	if !strings.HasPrefix(address, s.host+"/oauth/start?") {
		t.Fatalf("the run waits for %q: %s", address, answer.text)
	}
	var way []string
	client := &http.Client{CheckRedirect: func(r *http.Request, _ []*http.Request) error {
		way = append(way, strings.TrimPrefix(strings.Split(r.URL.String(), "?")[0], s.host))
		return nil
	}}
	response, err := client.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK || !strings.Contains(string(text), "You are signed in") {
		t.Errorf("%d %s %v", response.StatusCode, text, err)
	}
	if got := strings.Join(way, " "); got != "/sandbox/authorize /oauth/callback" {
		t.Errorf("the way was %s", got)
	}
	record := s.root.until(t, id, "completed")
	if sent := at(record, "steps").([]any)[0].(object); at(sent, "output.body.headers.authorization") != "***" {
		t.Errorf("the node was answered %s", encoded(t, sent))
	}
	if calls := s.root.calls(t, "?host=id.example.com"); len(calls) != 1 || at(calls[0], "request.method") != "POST" {
		t.Errorf("the service was asked %s", encoded(t, calls))
	}
	for _, wrong := range []string{"", "?state=nothing", "?redirect_uri=https://evil.example/&state=x"} {
		answer := person{service: s}.send(t, http.MethodGet, "/sandbox/authorize"+wrong, "")
		if answer.status == http.StatusOK || strings.Contains(answer.text, "evil") {
			t.Errorf("%s: %d %s", wrong, answer.status, answer.text)
		}
	}
}

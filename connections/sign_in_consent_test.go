package connections_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"blueprintd/blueprint"
)

// A run of a version by another author asks a user without a sign-in to sign in, which
// grants that version; a user with a sign-in has to grant the version.
func TestSignInGrantsTheVersion(t *testing.T) {
	const author = "00000000-0000-4000-8000-0000000000b0"
	version := func(number string) []blueprint.VersionRef {
		return []blueprint.VersionRef{{BlueprintID: "blueprint", Version: number, Author: author}}
	}
	for _, through := range []string{"the oauth2 connection", "a connection that names it"} {
		t.Run(through, func(t *testing.T) {
			w, p := newEnv(t), newProvider(t)
			id := w.login(p, "")
			if through != "the oauth2 connection" {
				id = w.add(ann, blueprint.ConnectionHTTP, `{"auth":{"type":"oauth2","connectionId":"`+id+`"},"hosts":["example.com"]}`)
			}
			open := func(number string) error {
				_, err := w.service.Open(t.Context(), blueprint.ConnectionUse{ConnectionID: id, UserID: ann, Versions: version(number), ExecutionID: "exec_1", Address: "a"})
				return err
			}
			var pause *blueprint.Pause
			if err := open("1.0.0"); !errors.As(err, &pause) {
				t.Fatalf("without a sign-in: %v, want a pause", err)
			}
			if status, text, _ := newPerson("node").visit(t, pause.Await.URL); status != 200 {
				t.Fatalf("visit: %d %s, want 200", status, text)
			}
			if err := open("1.0.0"); err != nil {
				t.Errorf("the version that asked: %v, want it granted", err)
			}
			var missing *blueprint.MissingGrant
			if err := open("1.1.0"); !errors.As(err, &missing) || missing.Version != "1.1.0" || missing.Author.ID != author {
				t.Errorf("another version: %v, want a missing grant of 1.1.0", err)
			}
		})
	}
}

// The sign-in of a user is theirs alone: a version by another author needs a grant, even if
// the author may use the connection. A draft, which cannot be granted, gets none.
func TestSignInNeedsGrant(t *testing.T) {
	w, p := newEnv(t), newProvider(t)
	id := w.add("org:"+ann, blueprint.ConnectionOAuth2, `{"flow": "authorization_code", "authorizationUrl": "`+p.URL+`/authorize", "tokenUrl": "`+p.URL+`/token", "clientId": "the-client", "clientSecret": "the-client-secret"}`)
	naming := w.add("org:"+ann, blueprint.ConnectionHTTP, `{"auth":{"type":"oauth2","connectionId":"`+id+`"},"hosts":["example.com"]}`)
	if status, text, _ := newPerson("node").visit(t, w.paused(ann, id)); status != 200 {
		t.Fatalf("got %d %s, want 200", status, text)
	}
	for _, test := range []struct{ name, id, version string }{
		{"a version", id, "1.0.0"}, {"a draft", id, ""}, {"a version, through another connection", naming, "1.0.0"}, {"a draft, through another connection", naming, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			versions := []blueprint.VersionRef{{BlueprintID: "blueprint", Version: test.version, Author: bob}}
			open, err := w.service.Open(t.Context(), blueprint.ConnectionUse{ConnectionID: test.id, UserID: ann, Versions: versions, ExecutionID: "exec_1", Address: "a"})
			missing, ok := errors.AsType[*blueprint.MissingGrant](err)
			if !ok || open != nil {
				t.Fatalf("got %v (%v), want a missing grant", open, err)
			}
			if missing.Version != test.version || missing.Resource.Kind != blueprint.ResourceSignIn || missing.Resource.ID != id {
				t.Errorf("got a missing grant of %q for %v, want of %q for the sign-in %s", missing.Version, missing.Resource, test.version, id)
			}
		})
	}
}

// Only a user who may use an oauth2 connection with a sign-in, and has none, is asked to
// sign in instead of the missing grant.
func TestMissingGrantWithoutSignIn(t *testing.T) {
	const author = "00000000-0000-4000-8000-0000000000b0"
	w, p := newEnv(t), newProvider(t)
	login := w.login(p, "")
	own := w.add(ann, blueprint.ConnectionOAuth2, `{"flow": "client_credentials", "tokenUrl": "`+p.URL+`/token", "clientId": "the-client", "clientSecret": "the-client-secret"}`)
	naming := func(id string) string {
		return w.add(ann, blueprint.ConnectionHTTP, `{"auth":{"type":"oauth2","connectionId":"`+id+`"},"hosts":["example.com"]}`)
	}
	invalid := w.login(p, "")
	w.store.connections[invalid].Config["tokenUrl"] = "http://login.example/token"
	theirs := w.add(bob, blueprint.ConnectionOAuth2, `{"flow": "authorization_code", "authorizationUrl": "`+p.URL+`/authorize", "tokenUrl": "`+p.URL+`/token", "clientId": "the-client"}`)
	for _, test := range []struct {
		name, id, version string
		fail              func(call string) error
		want              string
	}{
		{"a version", login, "1.0.0", nil, "pause"},
		{"through another connection", naming(login), "1.0.0", nil, "pause"},
		{"a draft", login, "", nil, "grant"},
		{"client credentials", own, "1.0.0", nil, "grant"},
		{"client credentials, through another connection", naming(own), "1.0.0", nil, "grant"},
		{"no sign-in at all", w.add(ann, blueprint.ConnectionSlack, `{"botToken": "x"}`), "1.0.0", nil, "grant"},
		{"another user's sign-in", naming(theirs), "1.0.0", nil, "grant"},
		{"an invalid config", invalid, "1.0.0", nil, "grant"},
		{"store fails on the second read", login, "1.0.0", nth("connection", 2), "grant"},
		{"store fails on the token", login, "1.0.0", only("token"), "grant"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w.store.fail = test.fail
			versions := []blueprint.VersionRef{{BlueprintID: "blueprint", Version: test.version, Author: author}}
			_, err := w.service.Open(t.Context(), blueprint.ConnectionUse{ConnectionID: test.id, UserID: ann, Versions: versions, ExecutionID: "exec_1", Address: "a"})
			got := fmt.Sprint(err)
			if _, ok := errors.AsType[*blueprint.Pause](err); ok {
				got = "pause"
			} else if _, ok := errors.AsType[*blueprint.MissingGrant](err); ok {
				got = "grant"
			}
			if got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

// Without scopes the page lists none.
func TestConsentPageWithoutScopes(t *testing.T) {
	w, p := newEnv(t), newProvider(t)
	id := w.add(ann, blueprint.ConnectionOAuth2, `{"flow": "authorization_code", "authorizationUrl": "`+p.URL+`/authorize", "tokenUrl": "`+p.URL+`/token", "clientId": "the-client"}`)
	if _, text, _ := newPerson(browser).visit(t, w.paused(ann, id)); strings.Contains(text, "It asks for") {
		t.Errorf("the page lists scopes: %s, want no \"It asks for\"", text)
	}
}

// The page names the version that signing in grants.
func TestConsentPageNamesVersion(t *testing.T) {
	w, p := newEnv(t), newProvider(t)
	id := w.login(p, "")
	var pause *blueprint.Pause
	_, err := w.service.Open(t.Context(), blueprint.ConnectionUse{ConnectionID: id, UserID: ann, ExecutionID: "exec_1", Address: "a",
		Versions: []blueprint.VersionRef{{BlueprintID: "the-blueprint", Version: "3.2.1", Author: "somebody"}}})
	if !errors.As(err, &pause) {
		t.Fatalf("open: %v, want a pause", err)
	}
	_, text, _ := newPerson("Mozilla/5.0").visit(t, pause.Await.URL)
	for _, want := range []string{"3.2.1", "the-blueprint"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not name %s: %s", want, text)
		}
	}
}

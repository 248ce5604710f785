package connections_test

import (
	"errors"
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
				t.Fatalf("visit: %d %s", status, text)
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

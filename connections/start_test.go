package connections_test

import (
	"context"
	"strings"
	"testing"

	"blueprintd/blueprint"
)

// A user can sign in without a waiting run. The URL stays the same.
func TestVisit(t *testing.T) {
	w, p := newEnv(t), newProvider(t)
	id := w.login(p, "")
	address, err := w.service.SignIn(context.Background(), ann, id)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := w.service.SignIn(context.Background(), ann, id); err != nil || again != address {
		t.Errorf("%s and %s, %v", address, again, err)
	}
	if _, text, _ := newPerson(browser).visit(t, address); !strings.Contains(text, "asks to use") || strings.Contains(text, "A run") {
		t.Errorf("the page mentions a run: %s, want \"asks to use\" in it and no \"A run\"", text)
	}
	if status, text, _ := newPerson("node").visit(t, address); status != 200 || !strings.Contains(text, "You are signed in") {
		t.Errorf("%d %s, want 200 and \"You are signed in\" in it", status, text)
	}
	w.mustOpen(ann, id)
	if len(w.resumed) > 0 {
		t.Errorf("resumed %q, want none", w.resumed)
	}
	for _, test := range []struct {
		who, id string
		want    blueprint.Code
	}{
		{bob, id, blueprint.CodeNotFound},
		{ann, w.add(ann, blueprint.ConnectionSlack, `{"botToken": "x"}`), blueprint.CodeBadRequest},
		{ann, w.add(ann, blueprint.ConnectionOAuth2, `{"flow": "client_credentials", "tokenUrl": "`+p.URL+`/token", "clientId": "c", "clientSecret": "s"}`), blueprint.CodeBadRequest},
	} {
		t.Run(test.id, func(t *testing.T) {
			if _, err := w.service.SignIn(context.Background(), test.who, test.id); blueprint.CodeOf(err) != test.want {
				t.Errorf("%v, want %s", err, test.want)
			}
		})
	}
}

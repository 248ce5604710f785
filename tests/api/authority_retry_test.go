package api

import (
	"slices"
	"strings"
	"testing"

	"blueprintd/tests/servertest"
)

// A retry acts as the user who retries. It keeps the variables of the first caller except
// secret ones, which belong to that caller's authority: they get their defaults, for which
// the retry is authorized like any run.
func TestAuthorityOfRetriedVariables(t *testing.T) {
	t.Parallel()
	w := newAuthorityWorld(t)
	team := []string{"anna", "bert", "edna"}
	w.people["anna"].OK(t, "blueprint.update", object{"id": w.shared,
		"environment_variables": []any{object{"name": "token", "secret": true, "default": "credential-of-the-blueprint"}, object{"name": "plain", "default": "default"}},
		"blueprint_map":         object{"nodes": []any{w.request(object{"headers": object{"Authorization": "{{token}} {{plain}}"}})}},
	})
	for _, starter := range team {
		for _, passed := range []object{{}, {"plain": "passed"}, {"token": "credential-of-" + starter}, {"token": "credential-of-" + starter, "plain": "passed"}} {
			run := at(w.people[starter].OK(t, "blueprint.execute", object{"id": w.shared, "variables": passed}), "executionId").(string)
			w.left()
			for _, retrier := range team {
				token, plain := "credential-of-the-blueprint", "default"
				if own := passed["token"]; own != nil && retrier == starter {
					token = own.(string)
				}
				if given := passed["plain"]; given != nil {
					plain = given.(string)
				}
				again := at(w.people[retrier].OK(t, "execution.retry", object{"executionId": run, "fromNodeId": "use"}), "executionId").(string)
				record := awaitEnd(t, w.people[retrier], again)
				if sent := w.left(); !slices.Equal(sent, []string{token + " " + plain}) {
					t.Errorf("%s passed %v, %s retries: sent %q, want %q", starter, passed, retrier, sent, token+" "+plain)
				}
				// Nor does a retry of the retry.
				if starter != retrier {
					awaitEnd(t, w.people[starter], at(w.people[starter].OK(t, "execution.retry", object{"executionId": again, "fromNodeId": "use"}), "executionId").(string))
					if sent := w.left(); !slices.Equal(sent, []string{"credential-of-the-blueprint " + plain}) {
						t.Errorf("%s passed %v, and retries the retry of %s: sent %q; want %v", starter, passed, retrier, sent, []string{"credential-of-the-blueprint " + plain})
					}
				}
				if text := servertest.Encoded(t, record); strings.Contains(text, "credential-of") {
					t.Errorf("%s passed %v, %s reads %s; want no \"credential-of\"", starter, passed, retrier, text)
				}
			}
		}
	}
}

// Without a default, another user's secret has no value.
func TestRetryWithoutAnotherUsersSecret(t *testing.T) {
	t.Parallel()
	w := newAuthorityWorld(t)
	anna, bert := w.people["anna"], w.people["bert"]
	anna.OK(t, "blueprint.update", object{"id": w.shared,
		"environment_variables": []any{object{"name": "token", "secret": true, "required": true}},
		"blueprint_map":         object{"nodes": []any{w.request(object{"headers": object{"Authorization": "{{token}}"}})}},
	})
	run := at(anna.OK(t, "blueprint.execute", object{"id": w.shared, "variables": object{"token": "credential-of-anna"}}), "executionId").(string)
	w.left()
	answer := bert.Call(t, "execution.retry", object{"executionId": run, "fromNodeId": "use"})
	if answer.Status != 400 || !strings.Contains(answer.Text, "variables.token") || !strings.Contains(answer.Text, "start the blueprint with a value of your own") {
		t.Errorf("bert's retry: %d %s, want 400, \"variables.token\" in it and \"start the blueprint with a value of your own\" in it", answer.Status, answer.Text)
	}
	if sent := w.left(); len(sent) > 0 {
		t.Errorf("sent %q, want none", sent)
	}
	awaitEnd(t, anna, at(anna.OK(t, "execution.retry", object{"executionId": run, "fromNodeId": "use"}), "executionId").(string))
	if sent := w.left(); !slices.Equal(sent, []string{"credential-of-anna"}) {
		t.Errorf("anna's retry sent %q, want %v", sent, []string{"credential-of-anna"})
	}
}

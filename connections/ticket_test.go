package connections_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"blueprintd/blueprint"
)

// pause opens a connection for a node and returns the resulting pause.
func (w *env) pause(userID, id, execution, address string) *blueprint.Pause {
	w.t.Helper()
	_, err := w.service.Open(w.t.Context(), blueprint.ConnectionUse{ConnectionID: id, UserID: userID, ExecutionID: execution, Address: address})
	var pause *blueprint.Pause
	if !errors.As(err, &pause) {
		w.t.Fatalf("open: %v, want a pause", err)
	}
	return pause
}

// Repeated opens of a node, and repeated tests, return the same URL.
func TestOneTicketPerNode(t *testing.T) {
	w, p := newEnv(t), newProvider(t)
	id := w.login(p, "")
	seen := map[string]bool{}
	for _, at := range []string{"exec_1/a", "exec_1/b", "exec_2/a"} {
		execution, address, _ := strings.Cut(at, "/")
		first := w.pause(ann, id, execution, address).Await.URL
		w.pass(20 * 24 * time.Hour / 3)
		if again := w.pause(ann, id, execution, address).Await.URL; again != first || seen[first] {
			t.Errorf("%s: %s, then %s", at, first, again)
		}
		seen[first] = true
	}
	var first string
	for range 5 {
		ok, message, err := w.service.Test(t.Context(), ann, id)
		if ok || err != nil || first != "" && message != first || !strings.Contains(message, "/oauth/start?ticket=") {
			t.Fatalf("%v %s %v", ok, message, err)
		}
		first = message
	}
	if len(w.store.signIns) != 4 {
		t.Errorf("%d open tickets, want 4", len(w.store.signIns))
	}
}

// A node that repeats its request just before the user signs in may not be paused yet, so
// its ticket stays valid.
func TestRepeatedTicketStaysValid(t *testing.T) {
	w, p := newEnv(t), newProvider(t)
	id := w.login(p, "")
	address := w.paused(ann, id)
	other := w.pause(ann, id, "exec_2", "a").Await.URL
	w.pass(time.Hour)
	w.paused(ann, id)
	if status, text, _ := newPerson("node").visit(t, other); status != 200 {
		t.Fatalf("%d %s, want 200", status, text)
	}
	for name, c := range map[string]struct {
		visited string
		want    int
	}{"repeated": {address, 200}, "other": {other, 400}} {
		t.Run(name, func(t *testing.T) {
			if status, _, _ := newPerson("node").visit(t, c.visited); status != c.want {
				t.Errorf("afterwards: %d, want %d", status, c.want)
			}
		})
	}
}

// If too many runs wait, further runs still pause, and the prompt says that they must be
// resumed by hand.
func TestTooManyTickets(t *testing.T) {
	w, p := newEnv(t), newProvider(t)
	id := w.login(p, "")
	w.store.maxTickets = 3
	var addresses, prompts []string
	for n := range 6 {
		pause := w.pause(ann, id, fmt.Sprint("exec_", n), "a")
		addresses, prompts = append(addresses, pause.Await.URL), append(prompts, pause.Await.Prompt)
	}
	if addresses[3] != addresses[4] || addresses[4] != addresses[5] || addresses[2] == addresses[3] || len(w.store.signIns) != 4 {
		t.Errorf("%d open tickets: %q, want 4, and the last three the same", len(w.store.signIns), addresses)
	}
	for n, prompt := range prompts {
		if strings.Contains(prompt, "resume the run") != (n > 2) {
			t.Errorf("%d: %s", n, prompt)
		}
	}
	if status, _, _ := newPerson("node").visit(t, addresses[5]); status != 200 {
		t.Errorf("%d, want 200", status)
	}
	slices.Sort(w.resumed)
	if !slices.Equal(w.resumed, []string{"exec_0/a", "exec_1/a", "exec_2/a"}) {
		t.Errorf("resumed %q, want %v", w.resumed, []string{"exec_0/a", "exec_1/a", "exec_2/a"})
	}
}

// A visit reads one ticket, valid or not, however many are open.
func TestVisitReadsOneTicket(t *testing.T) {
	w, p := newEnv(t), newProvider(t)
	address := w.paused(ann, w.login(p, ""))
	for name, c := range map[string]struct {
		visited string
		want    []string
	}{
		"unknown ticket": {w.web.URL + "/oauth/start?ticket=" + strings.Repeat("A", 43), []string{"find"}},
		"ticket":         {address, []string{"find", "connection", "token", "begin"}},
	} {
		t.Run(name, func(t *testing.T) {
			w.store.calls = nil
			newPerson("node").stop().visit(t, c.visited)
			if !slices.Equal(w.store.calls, c.want) {
				t.Errorf("calls %q, want %q", w.store.calls, c.want)
			}
		})
	}
}

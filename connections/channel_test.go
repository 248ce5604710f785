package connections_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"blueprintd/blueprint"
)

// workspace is a made-up Slack that says what its channels are called.
type workspace struct {
	*httptest.Server
	mu     sync.Mutex
	asked  []string
	answer http.HandlerFunc
}

func newWorkspace(t *testing.T) *workspace {
	s := &workspace{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked = append(s.asked, r.Method+" "+r.URL.String()+" "+r.Header.Get("Authorization"))
		answer := s.answer
		s.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *workspace) says(answer http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer, s.asked = answer, nil
}

func TestChannelName(t *testing.T) {
	const named = `{"ok": true, "channel": {"id": "C1", "name": "general"}}`
	w, slack := newWorld(t), newWorkspace(t)
	id := w.add(ann, blueprint.ConnectionSlack, `{"botToken": "xoxb-s3cret", "baseUrl": "`+slack.URL+`/api/"}`)
	slack.says(text(named))
	ask := func(user, connection, channel string) (string, error) {
		return w.service.ChannelName(t.Context(), user, connection, channel)
	}
	for range 3 {
		if name, err := ask(ann, id, "C1"); name != "general" || err != nil {
			t.Fatalf("%q %v", name, err)
		}
	}
	if want := "GET /api/conversations.info?channel=C1 Bearer xoxb-s3cret"; len(slack.asked) != 1 || slack.asked[0] != want {
		t.Errorf("asked %q", slack.asked)
	}
	// A name that is kept is for who may use the connection.
	if _, err := ask(bob, id, "C1"); blueprint.CodeOf(err) != blueprint.CodeNotFound {
		t.Errorf("bob: %v", err)
	}
	w.pass(10*time.Minute - time.Second)
	slack.says(text(`{"ok": true, "channel": {"name": "renamed"}}`))
	if name, _ := ask(ann, id, "C1"); name != "general" || len(slack.asked) != 0 {
		t.Errorf("before ten minutes: %q", name)
	}
	w.pass(time.Second)
	if name, _ := ask(ann, id, "C1"); name != "renamed" {
		t.Errorf("after ten minutes: %q", name)
	}
	// With another token it is asked anew.
	w.store.connections[id].Config["botToken"] = "xoxb-other"
	slack.says(text(`{"ok": true, "channel": {"is_im": true}}`))
	if name, err := ask(ann, id, "C1"); name != "" || err != nil {
		t.Errorf("a talk of two: %q %v", name, err)
	}
	if _, err := ask(ann, id, "C1&x=y #?"); err != nil || !strings.Contains(slack.asked[len(slack.asked)-1], "channel=C1%26x%3Dy+%23%3F ") {
		t.Errorf("asked %q", slack.asked)
	}
}

func TestChannelNameRefused(t *testing.T) {
	w, slack := newWorld(t), newWorkspace(t)
	id := w.add(ann, blueprint.ConnectionSlack, `{"botToken": "xoxb-s3cret", "baseUrl": "`+slack.URL+`"}`)
	for _, c := range []struct {
		answer http.HandlerFunc
		want   string
	}{
		{text(`{"ok": false, "error": "missing_scope"}`), "does not say what the channel is called: missing_scope"},
		{text(`{"ok": false, "error": "xoxb-s3cret"}`), "does not say what the channel is called"},
		{text(`<html>`), "something else than Slack's JSON"},
		{http.NotFound, "answered 404"},
		{func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) }, "asked too often"},
		{func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }, "does not accept the credentials"},
		{func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.2:1/", http.StatusFound)
		}, "127.0.0.2"},
	} {
		slack.says(c.answer)
		name, err := w.service.ChannelName(t.Context(), ann, id, "C1")
		var failure *blueprint.Failure
		if name != "" || !errors.As(err, &failure) || !strings.Contains(failure.Message, c.want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q %v, want %q", name, err, c.want)
		}
	}
	// Nothing of that is kept.
	slack.says(text(`{"ok": true, "channel": {"name": "general"}}`))
	if name, err := w.service.ChannelName(t.Context(), ann, id, "C1"); name != "general" {
		t.Errorf("%q %v", name, err)
	}
	other := w.add(ann, blueprint.ConnectionHTTP, `{"auth": {"type": "none"}, "hosts": ["example.com"]}`)
	if _, err := w.service.ChannelName(t.Context(), ann, other, "C1"); failure(err) != "connection_unavailable" {
		t.Errorf("another type: %v", err)
	}
	if _, err := w.service.ChannelName(t.Context(), ann, "nonsense", "C1"); blueprint.CodeOf(err) != blueprint.CodeNotFound {
		t.Errorf("no connection: %v", err)
	}
}

// Who asks for the same at once shares one question, and who leaves before its
// answer leaves it to who comes again.
func TestChannelNameIsAskedOnce(t *testing.T) {
	w, slack := newWorld(t), newWorkspace(t)
	id := w.add(ann, blueprint.ConnectionSlack, `{"botToken": "t", "baseUrl": "`+slack.URL+`"}`)
	asked, free := make(chan struct{}, 10), make(chan struct{})
	slack.says(func(w http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		<-free
		text(`{"ok": true, "channel": {"name": "general"}}`)(w, r)
	})
	leaving, leave := context.WithCancel(t.Context())
	left := make(chan error, 1)
	go func() {
		_, err := w.service.ChannelName(leaving, ann, id, "C1")
		left <- err
	}()
	<-asked
	leave()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("who left: %v", err)
	}
	got := make(chan string, 5)
	for range 5 {
		go func() {
			name, _ := w.service.ChannelName(t.Context(), ann, id, "C1")
			got <- name
		}()
	}
	close(free)
	for range 5 {
		if name := <-got; name != "general" {
			t.Errorf("%q", name)
		}
	}
	if len(slack.asked) != 1 {
		t.Errorf("asked %q", slack.asked)
	}
}

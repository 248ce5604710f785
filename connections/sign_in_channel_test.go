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

// workspace is a fake Slack that returns the names of channels.
type workspace struct {
	*httptest.Server
	mu       sync.Mutex
	requests []string
	answer   http.HandlerFunc
}

func newWorkspace(t *testing.T) *workspace {
	s := &workspace{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.requests = append(s.requests, r.Method+" "+r.URL.String()+" "+r.Header.Get("Authorization"))
		answer := s.answer
		s.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *workspace) respondWith(answer http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer, s.requests = answer, nil
}

func TestChannelName(t *testing.T) {
	const named = `{"ok": true, "channel": {"id": "C1", "name": "general"}}`
	w, slack := newEnv(t), newWorkspace(t)
	id := w.add(ann, blueprint.ConnectionSlack, `{"botToken": "xoxb-s3cret", "baseUrl": "`+slack.URL+`/api/"}`)
	slack.respondWith(text(named))
	ask := func(user, connection, channel string) (string, error) {
		return w.service.ChannelName(t.Context(), user, connection, channel)
	}
	for range 3 {
		if name, err := ask(ann, id, "C1"); name != "general" || err != nil {
			t.Fatalf("%q %v, want general", name, err)
		}
	}
	if want := "GET /api/conversations.info?channel=C1 Bearer xoxb-s3cret"; len(slack.requests) != 1 || slack.requests[0] != want {
		t.Errorf("asked %q, want length 1 and %v", slack.requests, want)
	}
	// A cached name is returned only to users who may use the connection.
	if _, err := ask(bob, id, "C1"); blueprint.CodeOf(err) != blueprint.CodeNotFound {
		t.Errorf("bob: %v, want %v", err, blueprint.CodeNotFound)
	}
	w.pass(10*time.Minute - time.Second)
	slack.respondWith(text(`{"ok": true, "channel": {"name": "renamed"}}`))
	if name, _ := ask(ann, id, "C1"); name != "general" || len(slack.requests) != 0 {
		t.Errorf("before ten minutes: %q, want general and none", name)
	}
	w.pass(time.Second)
	if name, _ := ask(ann, id, "C1"); name != "renamed" {
		t.Errorf("after ten minutes: %q, want renamed", name)
	}
	// The name is requested again with another token.
	w.store.connections[id].Config["botToken"] = "xoxb-other"
	slack.respondWith(text(`{"ok": true, "channel": {"is_im": true}}`))
	if name, err := ask(ann, id, "C1"); name != "" || err != nil {
		t.Errorf("direct message: %q %v, want nothing", name, err)
	}
	if _, err := ask(ann, id, "C1&x=y #?"); err != nil || !strings.Contains(slack.requests[len(slack.requests)-1], "channel=C1%26x%3Dy+%23%3F ") {
		t.Errorf("asked %q, want %q in it", slack.requests, "channel=C1%26x%3Dy+%23%3F ")
	}
}

func TestChannelNameRefused(t *testing.T) {
	w, slack := newEnv(t), newWorkspace(t)
	id := w.add(ann, blueprint.ConnectionSlack, `{"botToken": "xoxb-s3cret", "baseUrl": "`+slack.URL+`"}`)
	for _, c := range []struct {
		answer http.HandlerFunc
		want   string
	}{
		{text(`{"ok": false, "error": "missing_scope"}`), "did not return the name of the channel: missing_scope"},
		{text(`{"ok": false, "error": "xoxb-s3cret"}`), "did not return the name of the channel"},
		{text(`<html>`), "did not return Slack's JSON"},
		{http.NotFound, "answered 404"},
		{func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) }, "limits the rate"},
		{func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }, "does not accept the credentials"},
		{func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.2:1/", http.StatusFound)
		}, "127.0.0.2"},
	} {
		t.Run(c.want, func(t *testing.T) {
			slack.respondWith(c.answer)
			name, err := w.service.ChannelName(t.Context(), ann, id, "C1")
			var failure *blueprint.Failure
			if name != "" || !errors.As(err, &failure) || !strings.Contains(failure.Message, c.want) || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("%q %v, want %q", name, err, c.want)
			}
		})
	}
	// Failures are not cached.
	slack.respondWith(text(`{"ok": true, "channel": {"name": "general"}}`))
	if name, err := w.service.ChannelName(t.Context(), ann, id, "C1"); name != "general" {
		t.Errorf("%q %v, want general", name, err)
	}
	other := w.add(ann, blueprint.ConnectionHTTP, `{"auth": {"type": "none"}, "hosts": ["example.com"]}`)
	if _, err := w.service.ChannelName(t.Context(), ann, other, "C1"); failure(err) != "connection_unavailable" {
		t.Errorf("another type: %v, want connection_unavailable", err)
	}
	if _, err := w.service.ChannelName(t.Context(), ann, "nonsense", "C1"); blueprint.CodeOf(err) != blueprint.CodeNotFound {
		t.Errorf("no connection: %v, want %v", err, blueprint.CodeNotFound)
	}
}

// Concurrent calls for a channel share one request, which continues when a caller is
// cancelled.
func TestChannelNameRequestsAreShared(t *testing.T) {
	w, slack := newEnv(t), newWorkspace(t)
	id := w.add(ann, blueprint.ConnectionSlack, `{"botToken": "t", "baseUrl": "`+slack.URL+`"}`)
	received, release := make(chan struct{}, 10), make(chan struct{})
	slack.respondWith(func(w http.ResponseWriter, r *http.Request) {
		received <- struct{}{}
		<-release
		text(`{"ok": true, "channel": {"name": "general"}}`)(w, r)
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancelled := make(chan error, 1)
	go func() {
		_, err := w.service.ChannelName(ctx, ann, id, "C1")
		cancelled <- err
	}()
	<-received
	cancel()
	if err := <-cancelled; !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled call: %v, want %v", err, context.Canceled)
	}
	got := make(chan string, 5)
	for range 5 {
		go func() {
			name, _ := w.service.ChannelName(t.Context(), ann, id, "C1")
			got <- name
		}()
	}
	close(release)
	for range 5 {
		if name := <-got; name != "general" {
			t.Errorf("%q, want general", name)
		}
	}
	if len(slack.requests) != 1 {
		t.Errorf("asked %q, want length 1", slack.requests)
	}
}

package e2e

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"blueprintd/tests/process"
)

// linkInbox is a service to which runs send approval links. It passes on what it receives and
// answers once the test lets it.
func linkInbox(t *testing.T) (address string, came <-chan string, answer chan<- struct{}) {
	t.Helper()
	received, answers := make(chan string, 10), make(chan struct{}, 10)
	service := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		received <- string(body)
		select {
		case <-answers:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(service.Close)
	return service.URL, received, answers
}

func notify(address string) any {
	return node("notify", "http-request", object{"method": "POST", "url": address, "body": "{{nodes.gate.link}}"})
}

// page gets or, with values, posts an approval link from a server.
func page(t *testing.T, s *process.Server, path string, values url.Values) (status int, text string) {
	t.Helper()
	response, err := http.Get(s.Host + path)
	if values != nil {
		response, err = http.PostForm(s.Host+path, values)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

var ticket = regexp.MustCompile(`name="_ticket" value="([^"]+)"`)

// approve answers a link from the page of one server through another one.
func approve(t *testing.T, shows, takes *process.Server, path string) {
	t.Helper()
	status, text := page(t, shows, path, nil)
	found := ticket.FindStringSubmatch(text)
	if status != http.StatusOK || found == nil {
		t.Fatalf("the page: %d %s", status, text)
	}
	if status, text := page(t, takes, path, url.Values{"_ticket": {found[1]}, "_decision": {"approve"}}); status != http.StatusOK || !strings.Contains(text, "Thank you") {
		t.Errorf("the answer: %d %s", status, text)
	}
}

func pathOf(t *testing.T, link string) string {
	t.Helper()
	address, err := url.Parse(link)
	if err != nil || !strings.HasPrefix(address.Path, "/answer/") {
		t.Fatalf("the link %q: %v", link, err)
	}
	return address.Path
}

// TestAnApprovalLinkOutlivesAKill kills the program while it sends a link, and again before the
// answer. The link that was sent twice is the same, and works. A new master key ends links.
func TestAnApprovalLinkOutlivesAKill(t *testing.T) {
	t.Parallel()
	inbox, came, answer := linkInbox(t)
	database := t.TempDir() + "/blueprintd.db"
	args := []string{"--db", database, "--allow-net", "127.0.0.0/8"}
	s := process.Serve(t, args...)
	nodes := []any{notify(inbox), node("gate", "approval-gate", object{"prompt": "Pay?"}), node("paid", "template", object{"text": "paid {{input.approved}}"})}
	id := s.Create("pay", nodes...)
	run := s.Launch(id, nodes...)
	first := pathOf(t, <-came)
	s.Kill()
	s = process.Serve(t, args...)
	answer <- struct{}{}
	if again := pathOf(t, <-came); again != first {
		t.Errorf("the node sent %s, and after the kill %s", first, again)
	}
	answer <- struct{}{}
	s.Until(run, "paused")
	s.Kill()
	s = process.Serve(t, args...)
	approve(t, s, s, first)
	s.Until(run, "completed")
	if status, text := page(t, s, first, nil); status != http.StatusGone || !strings.Contains(text, "Already answered") {
		t.Errorf("the link afterwards: %d %s", status, text)
	}

	second := s.Launch(id, nodes...)
	answer <- struct{}{}
	other := pathOf(t, <-came)
	s.Until(second, "paused")
	s.Stop()
	log := s.Log.String()
	process.Command(t, "master-key", "rotate", "--db", database)
	s = process.Serve(t, args...)
	if status, text := page(t, s, other, nil); status != http.StatusNotFound || !strings.Contains(text, "This link is not valid") {
		t.Errorf("a link after the key was changed: %d %s", status, text)
	}
	audit := process.Command(t, "audit", "list", "--db", database)
	if !process.ContainsAll(audit, "execution.answerByLink", run, `"madeByNode":"notify"`) {
		t.Errorf("the audit log: %s", audit)
	}
	for name, text := range map[string]string{"the audit log": audit, "the log": log + s.Log.String()} {
		t.Run(name, func(t *testing.T) {
			if strings.Contains(text, strings.TrimPrefix(first, "/answer/")) {
				t.Errorf("it has the link: %s", text)
			}
		})
	}
}

package approvals

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
)

var noon = time.Date(2030, 5, 1, 12, 0, 0, 0, time.UTC)

// A desk is a service with one open question.
type desk struct {
	*Service
	asked, noted int
	revoked      bool // the user who made the link may not answer any more
	result       error
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{}
	d.Service = New(Options{
		Signer: signer("key"), Clock: clock.NewVirtual(noon), Network: func(*http.Request) string { return "192.0.2.0/24" }, Failed: func(error) {},
		Question: func(context.Context, string, string) (*blueprint.Question, error) {
			d.asked++
			return &blueprint.Question{State: blueprint.QuestionOpen, Input: &blueprint.AwaitingInput{
				Kind: blueprint.AwaitHuman, RequestedAt: blueprint.TimeOf(noon), LinkExpiresAt: blueprint.TimeOf(noon.Add(time.Hour)),
			}}, nil
		},
		Resume: func(context.Context, blueprint.ResumeAnswer) error { return d.result },
		MayAct: func(context.Context, string, string) (bool, error) {
			if d.revoked {
				return false, blueprint.Errorf(blueprint.CodeForbidden, "no")
			}
			return true, nil
		},
		Note: func(context.Context, *blueprint.AuditEntry) { d.noted++ },
	})
	return d
}

// send opens a link or answers it.
func (d *desk) send(method string, l Link, body io.Reader) *httptest.ResponseRecorder {
	token := d.token(l)
	r := httptest.NewRequest(method, "/answer/"+token, body)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.SetPathValue("token", token)
	w := httptest.NewRecorder()
	d.ServeHTTP(w, r)
	return w
}

func (d *desk) form(l Link) string {
	return url.Values{"_ticket": {d.ticket(&asked{token: d.token(l), Question: &blueprint.Question{}})}, "answer": {"x"}}.Encode()
}

// onRead calls a function when a body is read.
type onRead struct {
	io.Reader
	then func()
}

func (r onRead) Read(p []byte) (int, error) {
	r.then()
	return r.Reader.Read(p)
}

// Rights are those when an answer is complete, not when it began.
func TestRightsOfASlowAnswer(t *testing.T) {
	link := Link{ExecutionID: "exec_1", NodeID: "ask", MadeByUser: "bo", Expires: blueprint.TimeOf(noon.Add(time.Hour))}
	for name, test := range map[string]struct {
		revoked bool
		want    int
	}{"kept": {false, http.StatusOK}, "revoked": {true, http.StatusNotFound}} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			if got := d.send(http.MethodPost, link, onRead{strings.NewReader(d.form(link)), func() { d.revoked = test.revoked }}); got.Code != test.want {
				t.Errorf("%d %s, want %d", got.Code, got.Body, test.want)
			}
		})
	}
}

// The audit log has answers that were taken, also while the database does not respond.
func TestNotedAnswers(t *testing.T) {
	link := Link{ExecutionID: "exec_1", NodeID: "ask", MadeByNode: "mail"}
	for name, test := range map[string]struct {
		result      error
		want, noted int
	}{
		"stored":      {nil, http.StatusOK, 1},
		"applied":     {&blueprint.Error{Code: blueprint.CodeUnavailable, Message: "wait", Applied: true}, http.StatusServiceUnavailable, 1},
		"unavailable": {&blueprint.Error{Code: blueprint.CodeUnavailable, Message: "wait"}, http.StatusServiceUnavailable, 0},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			d.result = test.result
			if got := d.send(http.MethodPost, link, strings.NewReader(d.form(link))); got.Code != test.want || d.noted != test.noted {
				t.Errorf("%d %s, and %d entries; want %d and %d", got.Code, got.Body, d.noted, test.want, test.noted)
			}
		})
	}
}

// A link that is opened too often costs the database nothing more.
func TestOpenedTooOften(t *testing.T) {
	link, d := Link{ExecutionID: "exec_1", NodeID: "ask", MadeByNode: "mail"}, newDesk(t)
	for i := range 105 {
		want := http.StatusOK
		if i >= 100 {
			want = http.StatusTooManyRequests
		}
		if got := d.send(http.MethodGet, link, nil); got.Code != want {
			t.Errorf("request %d: %d, want %d", i, got.Code, want)
		}
	}
	if d.asked != 100 {
		t.Errorf("the question was read %d times, want 100", d.asked)
	}
}

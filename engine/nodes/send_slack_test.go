package nodes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/outbound"
)

const hi = `{"channel": "C1", "text": "hi"}`

// slack makes a server that answers as Slack does, and what posts to it.
func slack(t testing.TB, answer http.HandlerFunc) func(config string, change func(*blueprint.OpenConnection)) (blueprint.Result, error) {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	kind := sendSlack(Dependencies{HTTP: outbound.New(outbound.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}), UserAgent: "test", Clock: clock.NewVirtual(now)})
	return func(config string, change func(*blueprint.OpenConnection)) (blueprint.Result, error) {
		task := newTask(t, kind, config, `{}`)
		task.Config["connectionId"] = mailID
		task.Connect = func(_ context.Context, id string) (*blueprint.OpenConnection, error) {
			open := &blueprint.OpenConnection{ID: id, Type: blueprint.ConnectionSlack, Config: map[string]any{"baseUrl": server.URL + "/api/"}}
			open.Authorize = func(_ context.Context, r *http.Request) error {
				r.Header.Set("Authorization", "Bearer xoxb-1")
				return nil
			}
			if change != nil {
				change(open)
			}
			return open, nil
		}
		return kind.Run(t.Context(), task)
	}
}

func TestSendSlack(t *testing.T) {
	cases := []struct{ config, body string }{
		{`{"channel": "C1", "text": "hi <there> & \"you\""}`, `{"channel":"C1","text":"hi <there> & \"you\""}`},
		{`{"channel": " #general ", "text": "é", "blocks": null, "threadTs": ""}`, `{"channel":"#general","text":"é"}`},
		{`{"channel": "C1", "text": "x", "blocks": [{"type": "divider"}], "threadTs": "1.2"}`, `{"blocks":[{"type":"divider"}],"channel":"C1","text":"x","thread_ts":"1.2"}`},
	}
	for _, c := range cases {
		t.Run(c.config, func(t *testing.T) {
			got := ""
			send := slack(t, func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				got = strings.Join([]string{r.Method, r.URL.String(), r.Header.Get("Content-Type"), r.Header.Get("Authorization"), r.Header.Get("User-Agent"), string(body)}, "\n")
				w.Header().Set("Content-Type", "application/json; charset=utf-8")
				io.WriteString(w, `{"ok":true,"ts":"1712.0001","channel":"C9","message":{}}`)
			})
			result, err := send(c.config, nil)
			value, decodeErr := blueprint.Decode([]byte(got[strings.LastIndexByte(got, '\n')+1:]))
			want := "POST\n/api/chat.postMessage\napplication/json; charset=utf-8\nBearer xoxb-1\ntest\n"
			if err != nil || decodeErr != nil || result.Calls != nil {
				t.Fatalf("%v, %v, calls %v; want no error and no calls", err, decodeErr, result.Calls)
			}
			if output := asJSON(t, result.Output); output != `{"channel":"C9","ts":"1712.0001"}` {
				t.Errorf("output %s, want the channel C9 and the time 1712.0001", output)
			}
			if !strings.HasPrefix(got, want) || !blueprint.Equal(value, mustDecode(c.body)) {
				t.Errorf("sent\n%s\nwant\n%s%s", got, want, c.body)
			}
		})
	}
}

func TestSendSlackFails(t *testing.T) {
	cases := []struct {
		name      string
		status    int
		kind      string // "" = JSON
		body      string // "close" closes the connection
		code      string
		permanent bool
		notSent   bool
		message   string
	}{
		{name: "channel", body: `{"ok":false,"error":"channel_not_found"}`, code: "channel_not_found", permanent: true, notSent: true, message: "Slack refused the message: channel_not_found: there is no such channel"},
		{name: "not in channel", body: `{"ok":false,"error":"not_in_channel"}`, code: "not_in_channel", permanent: true, notSent: true, message: "/invite"},
		{name: "token", body: `{"ok":false,"error":"invalid_auth"}`, code: "invalid_auth", permanent: true, notSent: true, message: "the token of the connection"},
		{name: "scope", body: `{"ok":false,"error":"missing_scope","needed":"chat:write:bot","provided":"x"}`, code: "missing_scope", permanent: true, notSent: true, message: "lacks a permission: chat:write:bot"},
		{name: "scope that is none", body: `{"ok":false,"error":"missing_scope","needed":"chat\nwrite"}`, code: "missing_scope", permanent: true, notSent: true, message: "lacks a permission"},
		{name: "blocks", body: `{"ok":false,"error":"invalid_blocks","response_metadata":{"messages":["[ERROR] must be\nan array"]}}`, code: "invalid_blocks", permanent: true, notSent: true, message: "([ERROR] must be an array)"},
		{name: "rate", status: 429, body: `{"ok":false,"error":"ratelimited"}`, code: "ratelimited", notSent: true, message: "ratelimited: too many messages"},
		{name: "rate in words", status: 429, kind: "text/html", body: `slow down`, code: "ratelimited", notSent: true, message: "too many messages"},
		{name: "fatal", status: 500, body: `{"ok":false,"error":"fatal_error"}`, code: "fatal_error", message: "may have been posted"},
		{name: "new error", body: `{"ok":false,"error":"something_new"}`, code: "something_new", message: "something_new: Slack gives no details"},
		{name: "odd error", body: `{"ok":false,"error":"Some\nThing"}`, code: "slack_error", message: "unexpected response (status 200)"},
		{name: "no error", body: `{"ok":false}`, code: "slack_error", message: "may have been posted"},
		{name: "no ts", body: `{"ok":true}`, code: "slack_error", message: "unexpected response"},
		{name: "page", status: 502, kind: "text/html", body: `<h1>bad gateway</h1>`, code: "slack_error", message: "(status 502)"},
		{name: "half", body: `{"ok":tr`, code: "slack_error", message: "unexpected response"},
		{name: "huge", body: `{"ok":true,"x":"` + strings.Repeat("x", maxSlackAnswer) + `"}`, code: codeTooLarge, message: "may have been posted"},
		{name: "gone", body: "close", code: codeConnect, message: "may have been posted"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			send := slack(t, func(w http.ResponseWriter, _ *http.Request) {
				if c.body == "close" {
					conn, _, _ := http.NewResponseController(w).Hijack()
					conn.Close()
					return
				}
				if c.kind == "" {
					c.kind = "application/json"
				}
				if c.status == 0 {
					c.status = 200
				}
				w.Header().Set("Content-Type", c.kind)
				w.Header().Set("Retry-After", "30")
				w.WriteHeader(c.status)
				io.WriteString(w, c.body)
			})
			_, err := send(hi, nil)
			var f *blueprint.Failure
			if !errors.As(err, &f) {
				t.Fatalf("%v", err)
			}
			if f.Code != c.code || f.Permanent != c.permanent || f.NotSent != c.notSent {
				t.Errorf("%+v, want %s, permanent: %v, not sent: %v", f, c.code, c.permanent, c.notSent)
			}
			if !strings.Contains(f.Message, c.message) || strings.ContainsAny(f.Message, "\r\n") {
				t.Errorf("message %q, want one line with %q", f.Message, c.message)
			}
			if c.status != 0 && c.name != "huge" && f.RetryAfter != 30*time.Second {
				t.Errorf("wait %v", f.RetryAfter)
			}
		})
	}
}

func TestSendSlackConnection(t *testing.T) {
	send := slack(t, func(http.ResponseWriter, *http.Request) { t.Error("Slack was asked") })
	other := &blueprint.Failure{Code: "host_not_allowed", Message: "not there", Permanent: true, NotSent: true}
	for _, c := range []struct {
		change func(*blueprint.OpenConnection)
		code   string
	}{
		{func(o *blueprint.OpenConnection) { o.Type = blueprint.ConnectionSMTP }, codeConnection},
		{func(o *blueprint.OpenConnection) { o.Authorize = nil }, codeConnection},
		{func(o *blueprint.OpenConnection) { o.Config["baseUrl"] = "ftp://x/" }, codeConnection},
		{func(o *blueprint.OpenConnection) { o.Config["baseUrl"] = "http://x/?a=b" }, codeConnection},
		{func(o *blueprint.OpenConnection) { o.Config["baseUrl"] = "http://10.0.0.1/" }, codeRefused},
		{func(o *blueprint.OpenConnection) {
			o.Authorize = func(context.Context, *http.Request) error { return other }
		}, "host_not_allowed"},
	} {
		t.Run(c.code, func(t *testing.T) {
			_, err := send(hi, c.change)
			var f *blueprint.Failure
			if !errors.As(err, &f) || f.Code != c.code || !f.NotSent {
				t.Errorf("%v, want %s", err, c.code)
			}
		})
	}
	// What the connection itself fails with goes on as it is.
	kind, task := typeOf(t, "send-slack"), newTask(t, typeOf(t, "send-slack"), hi, `{}`)
	task.Config["connectionId"] = mailID
	pause := &blueprint.Pause{Await: blueprint.Await{Kind: blueprint.AwaitOAuth}}
	task.Connect = func(context.Context, string) (*blueprint.OpenConnection, error) { return nil, pause }
	if _, err := kind.Run(t.Context(), task); err != error(pause) {
		t.Errorf("%v", err)
	}
}

func TestSendSlackConfig(t *testing.T) {
	kind := typeOf(t, "send-slack")
	for config, want := range map[string]string{
		hi: "",
		`{"channel": "{{x}}", "text": "{{x}}", "blocks": "{{x}}", "threadTs": "{{x}}"}`:      "",
		`{"channel": "C", "text": "", "blocks": ["{{x}}", {"type": "section", "text": {}}]}`: "text: is empty",
		`{"text": ""}`:                                    "channel: required",
		`{"channel": " ", "text": ""}`:                    "channel: must be",
		`{"channel": "a\nb", "text": ""}`:                 "channel: must be",
		`{"channel": "a"}`:                                "text: required",
		`{"channel": "a", "text": "", "threadTs": "a\n"}`: "threadTs: must be",
		`{"channel": "a", "text": "", "blocks": {}}`:      "blocks: must be a list",
		`{"channel": "a", "text": "", "blocks": [{}, 1]}`: "blocks[0]: must be one of Slack's blocks, an object with a type; blocks[1]: must be",
		`{"channel": "a", "text": "", "blocks": [` + strings.TrimSuffix(strings.Repeat(`{"type":"divider"},`, 51), ",") + `]}`: "blocks: must be at most 50",
		`{"channel": "a", "text": "` + strings.Repeat("x", 4*maxSlackText+1) + `"}`:                                            "text: must be at most",
	} {
		t.Run(fmt.Sprintf("%.200s", config), func(t *testing.T) {
			object := object(t, config)
			object["connectionId"] = mailID
			if got := issueText(kind.Check(object)); want == "" && got != "" || !strings.HasPrefix(got, want) {
				t.Errorf("%.100s: %q, want %q", config, got, want)
			}
			object["connectionId"] = "main"
			if got := issueText(kind.Check(object)); !strings.Contains(got, "connectionId: must be the id") {
				t.Errorf("%.100s: %q, want \"connectionId: must be the id\" in it", config, got)
			}
		})
	}
}

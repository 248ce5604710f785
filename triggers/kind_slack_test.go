package triggers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/triggers/signature"
)

// slackSender is the sender of the table that has a Slack trigger.
var slackSender = &senders[len(senders)-1]

// post sends a signed body to a Slack trigger.
func post(s *Service, id, body string, headers ...string) *httptest.ResponseRecorder {
	return slackSender.deliver(s, id, append(slackSender.sign("s", body, s.Clock.Now()), headers...), body)
}

// names are the channels of a made-up Slack.
type names struct {
	of    map[string]string
	err   error
	asked []string
}

func (n *names) ChannelName(_ context.Context, userID, connectionID, channelID string) (string, error) {
	n.asked = append(n.asked, userID+" "+connectionID+" "+channelID)
	return n.of[channelID], n.err
}

func TestSlackInput(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"message", eventBody, `{"eventId":"Ev1","eventType":"message","channel":"C1","user":"U1","text":"hi","ts":"1.2","threadTs":"1.1","teamId":"T1","raw":RAW}`},
		{"bare", `{"type":"event_callback","event":{}}`, `{"eventId":null,"eventType":null,"channel":null,"user":null,"text":null,"ts":null,"threadTs":null,"teamId":null,"raw":RAW}`},
		{"reaction", `{"type":"event_callback","event_id":"E","event":{"type":"reaction_added","user":"U2","reaction":"tada","item":{"type":"message","channel":"C9","ts":"7.1"},"event_ts":"8.1"}}`,
			`{"eventId":"E","eventType":"reaction_added","channel":"C9","user":"U2","text":null,"ts":null,"threadTs":null,"teamId":null,"raw":RAW}`},
		{"new channel", `{"type":"event_callback","event_id":"E","event":{"type":"channel_created","channel":{"id":"C8","name":"new"}}}`,
			`{"eventId":"E","eventType":"channel_created","channel":"C8","user":null,"text":null,"ts":null,"threadTs":null,"teamId":null,"raw":RAW}`},
		{"new person", `{"type":"event_callback","event_id":"E","event":{"type":"team_join","user":{"id":"U3"}}}`,
			`{"eventId":"E","eventType":"team_join","channel":null,"user":"U3","text":null,"ts":null,"threadTs":null,"teamId":null,"raw":RAW}`},
		{"file", `{"type":"event_callback","event_id":"E","event":{"type":"file_shared","channel_id":"C7","user_id":"U4"}}`,
			`{"eventId":"E","eventType":"file_shared","channel":"C7","user":"U4","text":null,"ts":null,"threadTs":null,"teamId":null,"raw":RAW}`},
		{"a bot's message", `{"type":"event_callback","event_id":"E","event":{"type":"message","subtype":"bot_message","bot_id":"B1","channel":"C1","text":"beep {{x}}","ts":"1.2"}}`,
			`{"eventId":"E","eventType":"message","channel":"C1","user":null,"text":"beep {{x}}","ts":"1.2","threadTs":null,"teamId":null,"raw":RAW}`},
		{"other types than texts", `{"type":"event_callback","event_id":7,"event":{"type":1,"channel":["C"],"user":{"id":2},"text":null,"ts":1.0}}`,
			`{"eventId":null,"eventType":null,"channel":null,"user":null,"text":null,"ts":null,"threadTs":null,"teamId":null,"raw":RAW}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMemory()
			id := m.trigger(blueprint.TriggerSlack, map[string]any{"signingSecret": "s"}, begin)
			w := post(newService(m, clock.NewVirtual(begin)), id, c.body)
			row := m.lastRow(t)
			if w.Code != 200 || answer(t, w)["executionId"] != *row.ExecutionID || row.Source != blueprint.SourceSlack || m.patience[0] != atOnce {
				t.Fatalf("%d %s, row %+v; want 200, executionId %v, Source %v and patience %v", w.Code, w.Body, row, *row.ExecutionID, blueprint.SourceSlack, atOnce)
			}
			want, err := blueprint.Decode([]byte(strings.Replace(c.want, "RAW", c.body, 1)))
			if err != nil {
				t.Fatal(err)
			}
			request := m.runs()[0]
			if !blueprint.Equal(request.InputData, want) {
				t.Errorf("input %v, want %v", request.InputData, want)
			}
			if request.Trigger.Type != blueprint.TriggerSlack || request.Trigger.Headers["x-slack-signature"] != nil || request.Trigger.Headers["x-slack-request-timestamp"] == nil {
				t.Errorf("%+v, want Type %v, x-slack-signature nil and x-slack-request-timestamp not nil", request.Trigger, blueprint.TriggerSlack)
			}
		})
	}
}

// What starts nothing is answered so that Slack sends again what may yet be
// taken, and nothing else.
func TestSlackStartsNothing(t *testing.T) {
	event := func(more string) string { return `{"type":"event_callback","event_id":"E","event":{` + more + `}}` }
	message := event(`"type":"message","channel":"C1","channel_type":"channel"`)
	for _, c := range []struct {
		name     string
		config   map[string]any
		body     string
		headers  []string
		status   int
		decision blueprint.Decision // "" = started
		reason   string
	}{
		{name: "hello", body: `{"type":"url_verification","token":"x","challenge":"3eZbrw1aB"}`, status: 200, decision: "skipped", reason: "URL verification"},
		{name: "hello without a challenge", body: `{"type":"url_verification"}`, status: 400, decision: "refused", reason: "challenge"},
		{name: "rate limited", body: `{"type":"app_rate_limited","minute_rate_limited":1}`, status: 200, decision: "skipped", reason: "rate-limiting"},
		{name: "unknown", body: `{"type":"something_else"}`, status: 200, decision: "skipped", reason: `type "something_else" are not events`},
		{name: "no type", body: `{}`, status: 400, decision: "refused", reason: "object with a type"},
		{name: "a list", body: `[]`, status: 400, decision: "refused", reason: "object with a type"},
		{name: "no event", body: `{"type":"event_callback","event":"x"}`, status: 400, decision: "refused", reason: "event must be an object"},
		{name: "not JSON", body: `{`, status: 400, decision: "refused", reason: "ends unexpectedly"},
		{name: "long id", body: `{"type":"event_callback","event_id":"` + strings.Repeat("x", 300) + `","event":{}}`, status: 400, decision: "refused", reason: "event_id of the body is longer"},
		{name: "slash command", body: `token=x&command=%2Fweather`, headers: []string{"Content-Type: application/x-www-form-urlencoded"}, status: 415, decision: "refused", reason: "slash commands"},
		{name: "text", body: `{}`, headers: []string{"Content-Type: text/plain"}, status: 415, decision: "refused", reason: "must be JSON"},
		{name: "too large", body: `{"x":"` + strings.Repeat("x", 2000) + `"}`, status: 413, decision: "refused", reason: "larger"},
		{name: "another type", config: map[string]any{"eventType": "app_mention"}, body: message, status: 200, decision: "skipped", reason: `"message"; the trigger listens to "app_mention"`},
		{name: "no type of event", config: map[string]any{"eventType": "app_mention"}, body: event(``), status: 200, decision: "skipped", reason: `type ""`},
		{name: "the type", config: map[string]any{"eventType": "message"}, body: message, status: 200},
		{name: "the type by subscription", config: map[string]any{"eventType": "message.channels"}, body: message, status: 200},
		{name: "another subscription", config: map[string]any{"eventType": "message.im"}, body: message, status: 200, decision: "skipped", reason: "message.im"},
		{name: "the channel", config: map[string]any{"channel": "C1"}, body: message, status: 200},
		{name: "another channel", config: map[string]any{"channel": "C2"}, body: message, status: 200, decision: "skipped", reason: `channel "C1"; the trigger listens to "C2"`},
		{name: "no channel", config: map[string]any{"channel": "C2"}, body: event(`"type":"team_join"`), status: 200, decision: "skipped", reason: "has no channel"},
		{name: "a name that cannot be resolved", config: map[string]any{"channel": "#general"}, body: message, status: 503, decision: "refused", reason: `no connection looks up "#general": set config.connectionId`},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMemory()
			config := map[string]any{"signingSecret": "s"}
			for name, value := range c.config {
				config[name] = value
			}
			id := m.trigger(blueprint.TriggerSlack, config, begin)
			s := newService(m, clock.NewVirtual(begin), func(o *Options) { o.MaxBody = 1000 })
			w := post(s, id, c.body, c.headers...)
			row := m.lastRow(t)
			if c.decision == "" {
				c.decision, c.reason = blueprint.DecisionStarted, "the signature is valid"
			}
			if w.Code != c.status || row.Decision != c.decision || !strings.Contains(row.Reason, c.reason) || (row.Decision == blueprint.DecisionStarted) != (len(m.runs()) == 1) {
				t.Errorf("%d %s, row %+v; want reason %v", w.Code, w.Body, row, c.reason)
			}
			object := answer(t, w)
			switch {
			case c.name == "hello":
				if len(object) != 1 || object["challenge"] != "3eZbrw1aB" {
					t.Errorf("%v, want length 1 and challenge 3eZbrw1aB", object)
				}
			case c.decision == "skipped":
				if object["success"] != true || object["skipped"] != true || object["firingId"] != row.ID || object["reason"] != row.Reason {
					t.Errorf("%v, want success true, skipped true, firingId %v and reason %v", object, row.ID, row.Reason)
				}
			}
			if again := c.status >= 400 && w.Header().Get("X-Slack-No-Retry") == ""; again != (c.status == 503) || (c.status == 503) != (w.Header().Get("Retry-After") != "") {
				t.Errorf("headers %v", w.Header())
			}
		})
	}
}

// A request without a valid signature of Slack is refused, and so is every request to a
// trigger that is not active.
func TestSlackAuthentication(t *testing.T) {
	hello := `{"type":"url_verification","challenge":"c"}`
	m := newMemory()
	s := newService(m, clock.NewVirtual(begin))
	id := m.trigger(blueprint.TriggerSlack, map[string]any{"signingSecret": "s"}, begin)
	w := slackSender.deliver(s, id, nil, hello)
	checkError(t, w, blueprint.CodeUnauthorized)
	if w.Header().Get("X-Slack-No-Retry") != "" {
		t.Error("Slack must not be told to stop: the secret can be fixed before its next try")
	}
	checkError(t, slackSender.deliver(s, id, slackSender.sign("x", hello, begin), hello), blueprint.CodeUnauthorized)
	checkError(t, deliver(s, id, delivery{method: "GET", path: "/webhooks/slack/" + id}), blueprint.CodeMethodNotSupported)
	want := post(s, creator, hello).Body.String()
	m.change(id, func(b *blueprint.Binding) { b.Trigger.IsActive = false })
	webhook := m.trigger(blueprint.TriggerWebhook, map[string]any{"secret": "s", "preset": "slack"}, begin)
	for _, other := range []string{id, webhook, "nonsense"} {
		w := post(s, other, hello)
		checkError(t, w, blueprint.CodeNotFound)
		if w.Body.String() != want {
			t.Errorf("%s: %s, want %v", other, w.Body, want)
		}
	}
	w = deliver(s, webhook, delivery{body: hello, headers: slackSender.sign("s", hello, begin)})
	if w.Code != 200 || answer(t, w)["challenge"] != "c" || m.lastRow(t).Decision != blueprint.DecisionSkipped {
		t.Errorf("the preset: %d %s, want 200, challenge c and Decision %v", w.Code, w.Body, blueprint.DecisionSkipped)
	}
	checkError(t, deliver(s, id, delivery{body: hello, headers: slackSender.sign("s", hello, begin)}), blueprint.CodeNotFound)
	if !strings.Contains(m.lastRow(t).Reason, "its address is /webhooks/slack/"+id) {
		t.Errorf("row %+v, want %q in it", m.lastRow(t), "its address is /webhooks/slack/"+id)
	}
}

func TestSlackChannelNames(t *testing.T) {
	const connection = "33333333-3333-4333-8333-333333333333"
	for _, c := range []struct {
		wanted string
		names  names
		status int
		reason string
	}{
		{"#general", names{of: map[string]string{"C1": "general"}}, 200, "is valid"},
		{"general", names{of: map[string]string{"C1": "general"}}, 200, "is valid"},
		{"General", names{of: map[string]string{"C1": "general"}}, 200, "is valid"},
		{"2026", names{of: map[string]string{"C1": "2026"}}, 200, "is valid"},
		{"general", names{of: map[string]string{"C1": "random"}}, 200, `channel "C1", named "random"; the trigger listens to "general"`},
		{"general", names{}, 200, `named ""`},
		{"general", names{err: &blueprint.Failure{Message: "slack.com does not accept the token: invalid_auth"}}, 503, "invalid_auth"},
		{"general", names{err: blueprint.Errorf(blueprint.CodeNotFound, "there is no such connection")}, 503, `the connection that looks up "general" is not found: set config.connectionId, or use the channel's id`},
		{"general", names{err: context.DeadlineExceeded}, 503, "in time"},
		{"general", names{err: errors.New("sqlite says s3cret")}, 503, "internal error"},
	} {
		t.Run(c.wanted+" "+c.reason, func(t *testing.T) {
			m := newMemory()
			id := m.trigger(blueprint.TriggerSlack, map[string]any{"signingSecret": "s", "channel": c.wanted, "connectionId": strings.ToUpper(connection)}, begin)
			s := newService(m, clock.NewVirtual(begin), func(o *Options) { o.Channels = &c.names })
			w := post(s, id, eventBody)
			row := m.lastRow(t)
			if w.Code != c.status || !strings.Contains(row.Reason, c.reason) || (row.Decision == blueprint.DecisionRefused) != (c.status == 503) || strings.Contains(w.Body.String()+row.Reason, "s3cret") {
				t.Errorf("%s %v: %d %s, row %+v", c.wanted, c.names, w.Code, w.Body, row)
			}
			if len(c.names.asked) != 1 || c.names.asked[0] != creator+" "+connection+" C1" {
				t.Errorf("asked %q, want length 1 and %v", c.names.asked, creator+" "+connection+" C1")
			}
			// What could not be looked at has not used up its id.
			if c.names.err != nil {
				c.names.err, c.names.of = nil, map[string]string{"C1": c.wanted}
				if w := post(s, id, eventBody, "X-Slack-Retry-Num: 1", "X-Slack-Retry-Reason: http_error"); w.Code != 200 || len(m.runs()) != 1 {
					t.Errorf("again: %d %s, want 200 and length 1", w.Code, w.Body)
				}
			}
		})
	}
}

// An event that has started a run is a duplicate even when a filter would leave
// it out by now; one that a filter left out starts no run later by itself.
func TestSlackComesAgain(t *testing.T) {
	m := newMemory()
	id := m.trigger(blueprint.TriggerSlack, map[string]any{"signingSecret": "s"}, begin)
	s := newService(m, clock.NewVirtual(begin))
	first := answer(t, post(s, id, eventBody))
	for _, channel := range []any{nil, "C2"} {
		m.change(id, func(b *blueprint.Binding) { b.Trigger.Config["channel"] = channel })
		w := post(s, id, eventBody, "X-Slack-Retry-Num: 1", "X-Slack-Retry-Reason: http_timeout")
		again := answer(t, w)
		row := m.lastRow(t)
		if diff := cmp.Diff([]any{200, first, blueprint.DecisionDuplicate, "Ev1", 1}, []any{w.Code, again, row.Decision, row.Key, len(m.runs())}); diff != "" {
			t.Errorf("%v: status, answer, decision, key and runs (-want +got):\n%s", channel, diff)
		}
	}
}

// Slack is asked to try again while no run can be started.
func TestSlackBackPressure(t *testing.T) {
	for _, c := range []struct {
		err    error
		status int
		again  bool
	}{
		{unavailable(2500 * time.Millisecond), 503, true},
		{&blueprint.Error{Code: blueprint.CodeTooManyRequests, Message: "too many", RetryAfter: time.Second}, 429, true},
		{blueprint.Errorf(blueprint.CodeBadRequest, "the blueprint has no nodes to execute"), 400, false},
		{io.ErrUnexpectedEOF, 500, true},
	} {
		t.Run(fmt.Sprint(c.status), func(t *testing.T) {
			for _, s := range senders {
				m := newMemory()
				id := s.trigger(m, map[string]any{"secret": corpusSecret})
				m.refuseStart = func(*blueprint.StartRequest) error { return c.err }
				w := s.deliver(newService(m, clock.NewVirtual(begin)), id, s.sign(corpusSecret, s.body, begin), s.body)
				if after := w.Header().Get("Retry-After"); w.Code != c.status || (after != "") != (c.status == 503 || c.status == 429) {
					t.Errorf("%s, %v: %d, Retry-After %q", s.name, c.err, w.Code, after)
				}
				if s.kind == blueprint.TriggerSlack && (w.Header().Get("X-Slack-No-Retry") == "") != c.again {
					t.Errorf("%s, %v: %v", s.name, c.err, w.Header())
				}
			}
		})
	}
}

// The rows of refused deliveries are bounded for Slack as well, and have Slack as source.
func TestSlackRefusalsAreBounded(t *testing.T) {
	m := newMemory()
	v := clock.NewVirtual(begin)
	s := newService(m, v)
	id := m.trigger(blueprint.TriggerSlack, map[string]any{"signingSecret": "s"}, begin)
	for range rowBurst + 5 {
		slackSender.deliver(s, id, nil, "{}")
	}
	if err := v.Advance(t.Context(), begin.Add(countDelay)); err != nil {
		t.Fatal(err)
	}
	if row := m.lastRow(t); len(m.snapshot()) != rowBurst+1 || row.Source != blueprint.SourceSlack || !strings.HasPrefix(row.Reason, "5 more deliveries") {
		t.Errorf("%d rows, row %+v; want %v, Source %v and \"5 more deliveries\" at the start", len(m.snapshot()), row, rowBurst+1, blueprint.SourceSlack)
	}
}

// A stored delivery is checked against the present config of the trigger, at the time of
// its first arrival.
func TestSlackStoredDeliveryIsCheckedAgain(t *testing.T) {
	m := newMemory()
	v := clock.NewVirtual(begin)
	s := newService(m, v)
	id := m.trigger(blueprint.TriggerSlack, map[string]any{"signingSecret": "another"}, begin)
	checkError(t, post(s, id, eventBody), blueprint.CodeUnauthorized)
	stored := m.lastRow(t)
	if err := v.Advance(t.Context(), begin.Add(24*time.Hour)); err != nil {
		t.Fatal(err)
	}
	again := func(at time.Time) *refusal {
		a := &activation{binding: m.bindings[id], firing: s.newFiring(id, blueprint.SourceRedelivery)}
		a.firing.Delivery = stored.Delivery
		key := a.firing.Key
		refused := s.judge(a, stored.Source, at)
		if a.firing.Key != key || refused == nil && a.input == nil {
			t.Errorf("activation %+v", a)
		}
		return refused
	}
	if refused := again(begin); refused == nil || refused.answer.Code != blueprint.CodeUnauthorized {
		t.Errorf("with the wrong secret: %+v, want not nil and Code %v", refused, blueprint.CodeUnauthorized)
	}
	m.change(id, func(b *blueprint.Binding) { b.Trigger.Config["signingSecret"] = "s" })
	if refused := again(begin); refused != nil {
		t.Errorf("with the right secret: %+v, want nil", refused.answer)
	}
	if refused := again(v.Now()); refused == nil {
		t.Error("as if it came now it is too old")
	}
	m.change(id, func(b *blueprint.Binding) { b.Trigger.Config["channel"] = "C2" })
	if refused := again(begin); refused == nil || refused.answer != nil {
		t.Errorf("filtered: %+v, want not nil and answer nil", refused)
	}
}

// Whatever a body is that Slack has signed, it leaves one row, and is answered
// with one of the statuses that Slack knows what to do with.
func FuzzSlackBody(f *testing.F) {
	for _, body := range []string{
		"", "{}", "[]", eventBody, `{"type":"url_verification","challenge":"c"}`, `{"type":"url_verification","challenge":1}`, `{"type":"event_callback","event":null}`,
		`{"type":"event_callback","event_id":"\u0000","event":{"type":"message","channel":{"id":"C1"},"user":{"id":[]}}}`, `{"type":"app_rate_limited"}`, `{"type":"\ud800"}`, "{\"type\":\"\xff\"}",
		`{"type":"event_callback","event":{"item":{"channel":"C2"},"type":"reaction_added"}}`,
	} {
		f.Add(body, "C1", "message")
	}
	f.Add(eventBody, "#general", "message.channels")
	f.Fuzz(func(t *testing.T, body, channel, kind string) {
		m := newMemory()
		id := m.trigger(blueprint.TriggerSlack, map[string]any{"signingSecret": "s", "channel": channel, "eventType": kind}, begin)
		w := post(newService(m, clock.NewVirtual(begin)), id, body)
		row := m.rows[0]
		if len(m.rows) != 1 || row.Source != blueprint.SourceSlack || row.Key == "" || len(row.Key) > maxKey {
			t.Fatalf("rows %+v, want one of Slack with a key of at most %d bytes", m.rows, maxKey)
		}
		if len(row.Reason) > 300 || !utf8.ValidString(row.Reason) {
			t.Fatalf("reason %q, want at most 300 bytes of UTF-8", row.Reason)
		}
		started := row.Decision == blueprint.DecisionStarted
		if !slices.Contains([]int{200, 400, 503}, w.Code) || (w.Code == 200) != (row.Decision != blueprint.DecisionRefused) || started != (len(m.requests) == 1) {
			t.Fatalf("%d %s, row %+v", w.Code, w.Body, row)
		}
		if !started {
			return
		}
		input := m.requests[0].InputData.(map[string]any)
		if len(input) != 9 || input["raw"] == nil || channel != "" && input["channel"] != channel {
			t.Fatalf("input %v", input)
		}
	})
}

// However the headers of a preset look, none but what the table signs is let in.
func FuzzPresetHeaders(f *testing.F) {
	for i, s := range senders {
		for _, line := range s.sign(corpusSecret, s.body, begin) {
			_, value, _ := strings.Cut(line, ": ")
			f.Add(uint8(i), value, value, s.body)
		}
		f.Add(uint8(i), "t=1772442000,v1="+strings.Repeat("0", 64), "1772442000", s.body)
		f.Add(uint8(i), "", "-1", "")
		f.Add(uint8(i), ",,=,t=,t=", "9999999999", "{}")
	}
	f.Fuzz(func(t *testing.T, which uint8, value, stamp, body string) {
		s := senders[int(which)%len(senders)]
		way := signature.Slack
		if p, _ := signature.PresetOf(&blueprint.Trigger{Config: s.config}); p != nil {
			way = p.Scheme
		}
		header := http.Header{http.CanonicalHeaderKey(way.Header): {value}, "Webhook-Id": {"msg_1"}, "Webhook-Timestamp": {stamp}, "X-Slack-Request-Timestamp": {stamp}}
		failed, reason := signature.Verify([]*signature.Scheme{way}, corpusSecret, deliveryOf(header, body), begin)
		if (failed == nil) != (reason == "") {
			t.Fatalf("%v %q", failed, reason)
		}
		if form := signature.FormOf([]string{value}); form == "" || len(form) > 300 || len(value) > 8 && strings.Contains(form, value) && strings.Trim(value, "0123456789abcdef") == "" {
			t.Fatalf("form %q", form)
		}
		if reason != "" {
			return
		}
		// It is right: then it has the signature that the definition gives, for
		// one of the times in it that are near.
		if s.name == "stripe" {
			for part := range strings.SplitSeq(value, ",") {
				if text, ok := strings.CutPrefix(part, "t="); ok {
					stamp = text
				}
			}
		}
		var signature string
		for _, line := range s.write(mac([]byte(corpusSecret), []byte(s.signed(stamp, body))), stamp) {
			if name, text, _ := strings.Cut(line, ": "); strings.EqualFold(name, way.Header) {
				signature = text
			}
		}
		for part := range strings.SplitSeq(strings.TrimPrefix(signature, "t="+stamp+","), ",") {
			if text := strings.TrimPrefix(strings.TrimPrefix(part, "sha256="), "v1="); len(text) > 40 && !strings.HasPrefix(part, "v0=000") && !strings.Contains(strings.ToLower(value), strings.ToLower(text)) {
				t.Fatalf("%q is accepted, the signature is %q", value, signature)
			}
		}
	})
}

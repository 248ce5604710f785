package triggers

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/triggers/signature"
)

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
		if len(m.rows) != 1 || row.Key == "" || len(row.Key) > maxKey || len(row.Reason) > 300 || !utf8.ValidString(row.Reason) || row.Source != blueprint.SourceSlack {
			t.Fatalf("rows %+v", m.rows)
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

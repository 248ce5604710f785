package triggers

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/triggers/signature"
)

// sender signs as a service does that a trigger is made for.
type sender struct {
	name   string
	kind   blueprint.TriggerType
	config map[string]any
	timed  bool // it signs a time
	// write gives the headers for a signature; signed gives what it is of.
	write  func(mac []byte, stamp string) []string
	signed func(stamp, body string) string
	header string
	status int
	body   string
}

const eventBody = `{"type":"event_callback","event_id":"Ev1","team_id":"T1","event":{"type":"message","channel":"C1","user":"U1","text":"hi","ts":"1.2","thread_ts":"1.1"}}`

var senders = []sender{
	{
		name: "github", kind: blueprint.TriggerWebhook, config: map[string]any{"preset": "github"}, header: "X-Hub-Signature-256", status: 202, body: corpusBody,
		write: func(mac []byte, _ string) []string {
			return []string{"X-Hub-Signature-256: sha256=" + hex.EncodeToString(mac)}
		},
		signed: func(_, body string) string { return body },
	},
	{
		name: "stripe", kind: blueprint.TriggerWebhook, config: map[string]any{"preset": "stripe"}, timed: true, header: "Stripe-Signature", status: 202, body: `{"id":"evt_1","object":"event"}`,
		write: func(mac []byte, stamp string) []string {
			return []string{"Stripe-Signature: t=" + stamp + ",v1=" + hex.EncodeToString(mac) + ",v0=" + strings.Repeat("0", 64)}
		},
		signed: func(stamp, body string) string { return stamp + "." + body },
	},
	{
		name: "slack preset", kind: blueprint.TriggerWebhook, config: map[string]any{"preset": "slack"}, timed: true, header: "X-Slack-Signature", status: 202, body: eventBody,
		write: slackHeaders, signed: slackSigned,
	},
	{
		name: "standard", kind: blueprint.TriggerWebhook, config: map[string]any{"preset": "standard"}, timed: true, header: "Webhook-Signature", status: 202, body: corpusBody,
		write: func(mac []byte, stamp string) []string {
			return []string{"webhook-id: msg_1", "webhook-timestamp: " + stamp, "webhook-signature: v1," + base64.StdEncoding.EncodeToString(mac)}
		},
		signed: func(stamp, body string) string { return "msg_1." + stamp + "." + body },
	},
	{name: "slack", kind: blueprint.TriggerSlack, timed: true, header: "X-Slack-Signature", status: 200, body: eventBody, write: slackHeaders, signed: slackSigned},
}

func slackHeaders(mac []byte, stamp string) []string {
	return []string{"x-slack-signature: v0=" + hex.EncodeToString(mac), "X-Slack-Request-Timestamp: " + stamp}
}

func slackSigned(stamp, body string) string { return "v0:" + stamp + ":" + body }

// sign returns the headers of a delivery.
func (s *sender) sign(secret, body string, at time.Time) []string {
	stamp := strconv.FormatInt(at.Unix(), 10)
	return s.write(mac([]byte(secret), []byte(s.signed(stamp, body))), stamp)
}

// trigger makes a trigger for the sender, with more config under the names of a
// webhook's.
func (s *sender) trigger(m *memory, more map[string]any) string {
	config := map[string]any{}
	for name, value := range s.config {
		config[name] = value
	}
	names := map[string]string{"secret": "signingSecret", "previousSecret": "previousSigningSecret", "previousSecretUntil": "previousSigningSecretUntil"}
	for name, value := range more {
		if s.kind == blueprint.TriggerSlack && names[name] != "" {
			name = names[name]
		}
		config[name] = value
	}
	return m.trigger(s.kind, config, begin)
}

// deliver sends a delivery to the trigger's address.
func (s *sender) deliver(service *Service, id string, headers []string, body string) *httptest.ResponseRecorder {
	d := delivery{headers: headers, body: body}
	if s.kind == blueprint.TriggerSlack {
		d.path = "/webhooks/slack/" + id
	}
	return deliver(service, id, d)
}

// presetCase is one delivery of the corpus.
type presetCase struct {
	name    string
	headers []string
	body    string
	good    bool
}

// corpus makes the deliveries that every sender is tried with.
func (s *sender) corpus() (all []presetCase) {
	right := s.sign(corpusSecret, s.body, begin)
	add := func(name string, good bool, body string, headers ...string) {
		all = append(all, presetCase{s.name + " " + name, headers, body, good})
	}
	without := func(dropped string) []string {
		return slices.DeleteFunc(slices.Clone(right), func(line string) bool { return strings.HasPrefix(strings.ToLower(line), strings.ToLower(dropped)+":") })
	}
	changed := func(f func(line string) string) []string {
		out := slices.Clone(right)
		for i, line := range out {
			out[i] = f(line)
		}
		return out
	}
	add("right", true, s.body, right...)
	add("lower-case names", true, s.body, changed(func(line string) string {
		name, value, _ := strings.Cut(line, ":")
		return strings.ToLower(name) + ":" + value
	})...)
	add("beside wrong ones of others", true, s.body, append(slices.Clone(right), "X-Webhook-Signature: 00", "X-Signature: 00", "X-Hub-Signature: sha1=00")...)
	add("none", false, s.body)
	add("only of others", false, s.body, "X-Webhook-Signature: "+hexMAC(corpusSecret, s.body), "X-Signature: "+hexMAC(corpusSecret, s.body))
	add("another secret", false, s.body, s.sign("another", s.body, begin)...)
	add("no secret", false, s.body, s.sign("", s.body, begin)...)
	for _, line := range right {
		name, value, _ := strings.Cut(line, ":")
		add("without "+name, false, s.body, without(name)...)
		add("twice "+name, false, s.body, append(slices.Clone(right), line)...)
		add("empty "+name, false, s.body, append(without(name), name+":")...)
		// What Stripe's header ends with is a signature of an older scheme.
		add("cut "+name, s.name == "stripe", s.body, append(without(name), name+":"+value[:len(value)-1])...)
		add("quoted "+name, false, s.body, append(without(name), name+`: "`+strings.TrimSpace(value)+`"`)...)
	}
	add("not the body", false, s.body+" ", right...)
	add("of the empty body", false, s.body, s.sign(corpusSecret, "", begin)...)
	for bit := range 8 * len(s.body) {
		flipped := []byte(s.body)
		flipped[bit/8] ^= 1 << (bit % 8)
		add(fmt.Sprintf("body bit %d", bit), false, string(flipped), right...)
	}
	stamp := strconv.FormatInt(begin.Unix(), 10)
	sum := mac([]byte(corpusSecret), []byte(s.signed(stamp, s.body)))
	for bit := range 8 * len(sum) {
		flipped := slices.Clone(sum)
		flipped[bit/8] ^= 1 << (bit % 8)
		add(fmt.Sprintf("signature bit %d", bit), false, s.body, s.write(flipped, stamp)...)
	}
	for _, away := range []time.Duration{0, time.Second, 5 * time.Minute, 5*time.Minute + time.Second, time.Hour} {
		near := !s.timed || away <= signature.Window
		add(away.String()+" late", near, s.body, s.sign(corpusSecret, s.body, begin.Add(-away))...)
		add(away.String()+" early", near, s.body, s.sign(corpusSecret, s.body, begin.Add(away))...)
	}
	for _, text := range []string{"", "x", "-1", "+" + stamp, stamp + ".0", "1e9", "99999999999999999999", "２０"} {
		add(fmt.Sprintf("stamp %q", text), !s.timed, s.body, s.write(mac([]byte(corpusSecret), []byte(s.signed(text, s.body))), text)...)
	}
	return all
}

func TestPresets(t *testing.T) {
	total := 0
	for _, s := range senders {
		t.Run(s.name, func(t *testing.T) {
			for _, c := range append(s.corpus(), s.lists()...) {
				total++
				m := newMemory()
				id := s.trigger(m, map[string]any{"secret": corpusSecret})
				w := s.deliver(newService(m, clock.NewVirtual(begin)), id, c.headers, c.body)
				row := m.lastRow(t)
				if c.good {
					if w.Code != s.status || row.Decision != blueprint.DecisionStarted || row.Reason != "the signature is valid" {
						t.Errorf("%s: %d %s, row %+v; want %v, Decision %v and Reason the signature is valid", c.name, w.Code, w.Body, row, s.status, blueprint.DecisionStarted)
					}
					continue
				}
				checkError(t, w, blueprint.CodeUnauthorized)
				facts := row.Delivery.Facts
				if len(m.runs()) != 0 || row.Decision != blueprint.DecisionRefused {
					t.Errorf("%s: %d runs, row %+v, want a refusal", c.name, len(m.runs()), row)
				}
				if facts[signature.FactForm] == "" || facts[signature.FactExpected] == "" || facts[signature.FactBytes] != len(c.body) {
					t.Errorf("%s: facts %v, want the form, what was expected and %d bytes", c.name, facts, len(c.body))
				}
				told := fmt.Sprint(w.Body, row.Reason, facts)
				for _, line := range append(c.headers, "x: "+corpusSecret) {
					if _, value, _ := strings.Cut(line, ": "); len(value) > 20 && strings.Contains(told, value) {
						t.Errorf("%s: %q shows in %s", c.name, value, told)
					}
				}
			}
		})
	}
	t.Logf("%d deliveries", total)
}

// lists are the deliveries with several signatures of which one may be right.
func (s *sender) lists() []presetCase {
	stamp := strconv.FormatInt(begin.Unix(), 10)
	right := mac([]byte(corpusSecret), []byte(s.signed(stamp, s.body)))
	text, wrong := hex.EncodeToString(right), strings.Repeat("0", 64)
	make := func(name string, good bool, headers ...string) presetCase {
		return presetCase{s.name + " " + name, headers, s.body, good}
	}
	switch s.name {
	case "stripe":
		h := "Stripe-Signature: t=" + stamp
		return []presetCase{
			make("right second", true, h+",v1="+wrong+",v1="+text), make("right first", true, h+",v1="+text+",v1="+wrong), make("time last", true, "Stripe-Signature: v1="+text+",t="+stamp),
			make("only v0", false, h+",v0="+text), make("no v1", false, h), make("two times", false, h+",t="+stamp+",v1="+text), make("no time", false, "Stripe-Signature: v1="+text),
			make("capitals", false, h+",v1="+strings.ToUpper(text)), make("blank", false, h+", v1="+text), make("semicolon", false, h+";v1="+text), make("bare", false, "Stripe-Signature: "+text),
			make("commas", false, "Stripe-Signature: ,,,="), make("another time", false, "Stripe-Signature: t="+strconv.FormatInt(begin.Unix()+1, 10)+",v1="+text),
		}
	case "standard":
		h := []string{"webhook-id: msg_1", "webhook-timestamp: " + stamp}
		v1 := "v1," + base64.StdEncoding.EncodeToString(right)
		return []presetCase{
			make("right second", true, append(h, "webhook-signature: v1,AAAA "+v1)...), make("another id", false, "webhook-id: msg_2", h[1], "webhook-signature: "+v1),
			make("beside a right one of GitHub", false, "X-Hub-Signature-256: sha256="+hexMAC(corpusSecret, s.body)),
		}
	case "github":
		return []presetCase{
			make("bare", true, "X-Hub-Signature-256: "+text), make("SHA-1 alone", false, "X-Hub-Signature: sha1="+strings.Repeat("0", 40)), make("list", false, "X-Hub-Signature-256: sha256="+text+",sha256="+text),
		}
	default:
		at := "X-Slack-Request-Timestamp: " + stamp
		return []presetCase{
			make("v1", false, at, "X-Slack-Signature: v1="+text), make("bare", false, at, "X-Slack-Signature: "+text), make("capitals", false, at, "X-Slack-Signature: v0="+strings.ToUpper(text)),
			make("list", false, at, "X-Slack-Signature: v0="+wrong+",v0="+text), make("another time", false, "X-Slack-Request-Timestamp: "+strconv.FormatInt(begin.Unix()+1, 10), "X-Slack-Signature: v0="+text),
		}
	}
}

// While a secret is exchanged both are good, and then only the new one.
func TestTwoSecrets(t *testing.T) {
	for _, s := range senders {
		t.Run(s.name, func(t *testing.T) {
			for _, c := range []struct {
				name   string
				secret string
				until  any
				reason string // "" = refused
				tried  string
			}{
				{"the new one", "new", begin.Add(time.Hour).Format(time.RFC3339), "the signature is valid", ""},
				{"the old one", "old", begin.Add(time.Hour).Format(time.RFC3339), "the signature is valid (previous secret)", ""},
				{"the old one, another zone", "old", "2026-03-02T12:00:00+02:30", "the signature is valid (previous secret)", ""},
				{"the old one, a millisecond before the end", "old", "2026-03-02T09:00:00.001Z", "the signature is valid (previous secret)", ""},
				{"the old one at the end", "old", begin.Format(time.RFC3339), "", "secret"},
				{"the old one, no end", "old", nil, "", "secret"},
				{"the old one, nonsense", "old", "tomorrow", "", "secret"},
				{"a third", "third", begin.Add(time.Hour).Format(time.RFC3339), "", "secret and previousSecret"},
			} {
				t.Run(c.name, func(t *testing.T) {
					m := newMemory()
					id := s.trigger(m, map[string]any{"secret": "new", "previousSecret": "old", "previousSecretUntil": c.until})
					w := s.deliver(newService(m, clock.NewVirtual(begin)), id, s.sign(c.secret, s.body, begin), s.body)
					row := m.lastRow(t)
					if c.reason != "" && (w.Code != s.status || row.Reason != c.reason) || c.reason == "" && w.Code != 401 {
						t.Errorf("%s, %s: %d, row %+v; want reason %v", s.name, c.name, w.Code, row, c.reason)
					}
					if s.kind == blueprint.TriggerSlack {
						c.tried = strings.NewReplacer("previousSecret", "previousSigningSecret", "secret", "signingSecret").Replace(c.tried)
					}
					if got := row.Delivery.Facts[signature.FactTried]; c.reason == "" && got != c.tried {
						t.Errorf("%s, %s: tried %v; want reason %v", s.name, c.name, got, c.reason)
					}
				})
			}
		})
	}
}

// A trigger whose config lacks its secret refuses every delivery.
func TestPresetsFailClosed(t *testing.T) {
	for _, config := range []map[string]any{
		{"preset": "github"}, {"preset": "github", "secret": ""}, {"preset": "GitHub", "secret": "s"}, {"preset": true, "secret": "s"}, {"preset": "stripe", "secret": nil, "previousSecret": "s"},
	} {
		m := newMemory()
		id := m.trigger(blueprint.TriggerWebhook, config, begin)
		for _, headers := range [][]string{nil, {"X-Hub-Signature-256: " + hexMAC("s", "{}")}, {"X-Hub-Signature-256: " + hexMAC("", "{}")}} {
			checkError(t, deliver(newService(m, clock.NewVirtual(begin)), id, delivery{body: "{}", headers: headers}), blueprint.CodeUnauthorized)
		}
	}
}

// The id of a delivery is where the sender has it, and nowhere else.
func TestPresetIDs(t *testing.T) {
	want := map[string]string{"github": "g-1", "stripe": "evt_1", "slack preset": "Ev1", "standard": "msg_1", "slack": "Ev1"}
	for _, s := range senders {
		t.Run(s.name, func(t *testing.T) {
			m := newMemory()
			id := s.trigger(m, map[string]any{"secret": corpusSecret})
			service := newService(m, clock.NewVirtual(begin))
			headers := append(s.sign(corpusSecret, s.body, begin), "X-GitHub-Delivery: g-1", "Idempotency-Key: k-1")
			if w := s.deliver(service, id, headers, s.body); w.Code != s.status {
				t.Errorf("%d %s, want %v", w.Code, w.Body, s.status)
			}
			first := m.lastRow(t)
			again := answer(t, s.deliver(service, id, append(headers, "X-Slack-Retry-Num: 1"), s.body))
			got := []any{first.Key, m.lastRow(t).Decision, again["executionId"], len(m.runs()), m.patience[0]}
			if diff := cmp.Diff([]any{want[s.name], blueprint.DecisionDuplicate, *first.ExecutionID, 1, time.Duration(atOnce)}, got); diff != "" {
				t.Errorf("key, decision, execution, runs and patience (-want +got):\n%s", diff)
			}
		})
	}
	for _, member := range []string{"", `"id":null`, `"id":7`, `"id":""`} { // it stands for itself
		m := newMemory()
		stripe := senders[1]
		id := stripe.trigger(m, map[string]any{"secret": "s"})
		body := "{" + member + "}"
		if w := stripe.deliver(newService(m, clock.NewVirtual(begin)), id, stripe.sign("s", body, begin), body); w.Code != 202 || m.lastRow(t).Key != m.lastRow(t).ID {
			t.Errorf("%s: %d %s, want 202 and Key %v", body, w.Code, w.Body, m.lastRow(t).ID)
		}
	}
	m := newMemory()
	id := senders[1].trigger(m, map[string]any{"secret": "s"})
	body := `{"id":"` + strings.Repeat("x", 256) + `"}`
	checkError(t, senders[1].deliver(newService(m, clock.NewVirtual(begin)), id, senders[1].sign("s", body, begin), body), blueprint.CodeBadRequest)
}

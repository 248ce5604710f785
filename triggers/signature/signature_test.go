package signature

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
)

const (
	testSecret = "a secret of a test"
	testBody   = `{"order": 7}`
)

var testTime = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// sum returns the HMAC-SHA256 of texts, computed beside the package.
func sum(key string, parts ...string) []byte {
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(strings.Join(parts, "")))
	return mac.Sum(nil)
}

func hexSum(key string, parts ...string) string { return hex.EncodeToString(sum(key, parts...)) }

// delivery returns a delivery with headers, names and values in turn; a name may repeat.
func delivery(headers ...string) *blueprint.Delivery {
	d := &blueprint.Delivery{Body: []byte(testBody), Header: map[string][]string{}, Proof: map[string][]string{}}
	for i := 0; i < len(headers); i += 2 {
		name := strings.ToLower(headers[i])
		in := d.Header
		if IsProof(name) {
			in = d.Proof
		}
		in[name] = append(in[name], headers[i+1])
	}
	return d
}

func stamp(at time.Time) string { return fmt.Sprint(at.Unix()) }

func TestVerify(t *testing.T) {
	now := stamp(testTime)
	b64 := func(key, id, at string) string {
		return "v1," + base64.StdEncoding.EncodeToString(sum(key, id, ".", at, ".", testBody))
	}
	for _, c := range []struct {
		name    string
		schemes []*Scheme
		headers []string
		want    string // a part of the reason; "" when the signature is valid
	}{
		{"hex", Usual, []string{"X-Webhook-Signature", hexSum(testSecret, testBody)}, ""},
		{"hex with its prefix", Usual, []string{"X-Signature", "sha256=" + hexSum(testSecret, testBody)}, ""},
		{"hex in capitals", Usual, []string{"X-Hub-Signature-256", "SHA256=" + strings.ToUpper(hexSum(testSecret, testBody))}, ""},
		{"two that are right", Usual, []string{"X-Signature", hexSum(testSecret, testBody), "X-Webhook-Signature", hexSum(testSecret, testBody)}, ""},
		{"one of two is wrong", Usual, []string{"X-Signature", hexSum("x", testBody), "X-Webhook-Signature", hexSum(testSecret, testBody)}, "X-Signature does not match"},
		{"another secret", Usual, []string{"X-Webhook-Signature", hexSum("another", testBody)}, "X-Webhook-Signature does not match"},
		{"another body", Usual, []string{"X-Webhook-Signature", hexSum(testSecret, testBody+" ")}, "does not match"},
		{"too short", Usual, []string{"X-Webhook-Signature", hexSum(testSecret, testBody)[:62]}, "64 hexadecimal digits"},
		{"too long", Usual, []string{"X-Webhook-Signature", hexSum(testSecret, testBody) + "00"}, "64 hexadecimal digits"},
		{"not hexadecimal", Usual, []string{"X-Webhook-Signature", strings.Repeat("g", 64)}, "64 hexadecimal digits"},
		{"the prefix alone", Usual, []string{"X-Webhook-Signature", "sha256="}, "64 hexadecimal digits"},
		{"sent twice", Usual, []string{"X-Webhook-Signature", hexSum(testSecret, testBody), "X-Webhook-Signature", hexSum(testSecret, testBody)}, "more than once"},
		{"none of several", Usual, nil, "the signature is missing: send X-Webhook-Signature"},
		{"none of one", []*Scheme{Slack}, nil, "the signature is missing: X-Slack-Signature is required, with v0="},

		{"standard", Usual, []string{StandardSignature, b64(testSecret, "msg_1", now), StandardID, "msg_1", StandardTimestamp, now}, ""},
		{"standard, the second of two", Usual, []string{StandardSignature, b64("old", "msg_1", now) + " " + b64(testSecret, "msg_1", now), StandardID, "msg_1", StandardTimestamp, now}, ""},
		{"standard, another version", Usual, []string{StandardSignature, strings.Replace(b64(testSecret, "msg_1", now), "v1,", "v2,", 1), StandardID, "msg_1", StandardTimestamp, now}, "does not match"},
		{"standard, another id", Usual, []string{StandardSignature, b64(testSecret, "msg_1", now), StandardID, "msg_2", StandardTimestamp, now}, "does not match"},
		{"standard without an id", Usual, []string{StandardSignature, b64(testSecret, "", now), StandardTimestamp, now}, "needs Webhook-Id"},
		{"standard with an empty id", Usual, []string{StandardSignature, b64(testSecret, "", now), StandardID, "", StandardTimestamp, now}, "needs Webhook-Id"},
		{"standard with two ids", Usual, []string{StandardSignature, b64(testSecret, "a", now), StandardID, "a", StandardID, "a", StandardTimestamp, now}, "needs Webhook-Id"},
		{"standard without a time", Usual, []string{StandardSignature, b64(testSecret, "msg_1", ""), StandardID, "msg_1"}, "Webhook-Timestamp, once each"},
		{"standard with two times", Usual, []string{StandardSignature, b64(testSecret, "a", now), StandardID, "a", StandardTimestamp, now, StandardTimestamp, now}, "needs Webhook-Id"},

		{"stripe", []*Scheme{Stripe}, []string{"Stripe-Signature", "t=" + now + ",v1=" + hexSum(testSecret, now, ".", testBody)}, ""},
		{"stripe, the second of two", []*Scheme{Stripe}, []string{"Stripe-Signature", "t=" + now + ",v1=" + hexSum("x", now, ".", testBody) + ",v0=y,v1=" + hexSum(testSecret, now, ".", testBody)}, ""},
		{"stripe, an older version", []*Scheme{Stripe}, []string{"Stripe-Signature", "t=" + now + ",v0=" + hexSum(testSecret, now, ".", testBody)}, "does not match"},
		{"stripe without a time", []*Scheme{Stripe}, []string{"Stripe-Signature", "v1=" + hexSum(testSecret, ".", testBody)}, "needs t="},
		{"stripe with two times", []*Scheme{Stripe}, []string{"Stripe-Signature", "t=" + now + ",t=" + now + ",v1=" + hexSum(testSecret, now, ".", testBody)}, "needs t="},

		{"slack", []*Scheme{Slack}, []string{"X-Slack-Signature", "v0=" + hexSum(testSecret, "v0:", now, ":", testBody), "X-Slack-Request-Timestamp", now}, ""},
		{"slack without v0", []*Scheme{Slack}, []string{"X-Slack-Signature", hexSum(testSecret, "v0:", now, ":", testBody), "X-Slack-Request-Timestamp", now}, "does not match"},
		{"slack without a time", []*Scheme{Slack}, []string{"X-Slack-Signature", "v0=" + hexSum(testSecret, "v0:", now, ":", testBody)}, "needs X-Slack-Request-Timestamp"},
		{"slack with two times", []*Scheme{Slack}, []string{"X-Slack-Signature", "v0=" + hexSum(testSecret, "v0:", now, ":", testBody), "X-Slack-Request-Timestamp", now, "X-Slack-Request-Timestamp", now}, "needs X-Slack-Request-Timestamp"},
	} {
		t.Run(c.name, func(t *testing.T) {
			failed, reason := Verify(c.schemes, testSecret, delivery(c.headers...), testTime)
			if (reason == "") != (c.want == "") || !strings.Contains(reason, c.want) {
				t.Errorf("reason %q, want %q in it", reason, c.want)
			}
			if reason == "" && failed != nil {
				t.Errorf("a signature that is right failed by %s", failed.Header)
			}
			if failed != nil && !strings.Contains(reason, failed.Header) {
				t.Errorf("reason %q does not name %s", reason, failed.Header)
			}
			if strings.Contains(reason, testSecret) || strings.Contains(reason, hexSum(testSecret, testBody)) {
				t.Errorf("reason %q shows the secret or a signature that is right", reason)
			}
		})
	}
}

func TestStale(t *testing.T) {
	for _, c := range []struct {
		name string
		at   string
		want string
	}{
		{"now", stamp(testTime), ""},
		{"at the edge, before", stamp(testTime.Add(-Window)), ""},
		{"at the edge, after", stamp(testTime.Add(Window)), ""},
		{"too old", stamp(testTime.Add(-Window - time.Second)), "is too old or too new"},
		{"too early", stamp(testTime.Add(Window + time.Second)), "is too old or too new"},
		{"empty", "", "has no valid time"},
		{"signed", "+" + stamp(testTime), "has no valid time"},
		{"negative", "-1", "has no valid time"},
		{"a word", "noon", "has no valid time"},
		{"milliseconds", stamp(testTime) + "000", "has no valid time"},
		{"the largest that fits", "1099511627775", "is too old or too new"},
	} {
		t.Run(c.name, func(t *testing.T) {
			claim := Claim{Stamp: c.at, Timer: "t"}
			if got := claim.Stale(testTime); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
	if got := (&Claim{Stamp: "noon"}).Stale(testTime); got != "" {
		t.Errorf("a scheme without a time says %q, want nothing", got)
	}
	if got := (&Claim{Stamp: stamp(testTime.Add(-time.Hour)), Timer: "t"}).Stale(testTime); !strings.Contains(got, "at most 5 minutes") {
		t.Errorf("%q, want the window in words", got)
	}
}

func TestStandardKey(t *testing.T) {
	for secret, want := range map[string]string{
		"plain":        "plain",
		"whsec_QUJD":   "ABC",
		"whsec_":       "whsec_",
		"whsec_!":      "whsec_!",
		"WHSEC_QUJD":   "WHSEC_QUJD",
		"xwhsec_QUJD":  "xwhsec_QUJD",
		"whsec_QUJD  ": "whsec_QUJD  ",
	} {
		t.Run(secret, func(t *testing.T) {
			if got := string(StandardKey(secret)); got != want {
				t.Errorf("StandardKey(%q) = %q, want %q", secret, got, want)
			}
		})
	}
}

// trigger returns a webhook with a config.
func trigger(config map[string]any) *blueprint.Trigger {
	return &blueprint.Trigger{Type: blueprint.TriggerWebhook, Config: config}
}

func TestCheck(t *testing.T) {
	right, wrong := hexSum(testSecret, testBody), hexSum("wrong", testBody)
	old := hexSum("the previous one", testBody)
	rotated := func(until string) map[string]any {
		return map[string]any{"secret": testSecret, "previousSecret": "the previous one", "previousSecretUntil": until}
	}
	later, earlier := testTime.Add(time.Hour).Format(time.RFC3339), testTime.Format(time.RFC3339)
	for _, c := range []struct {
		name    string
		trigger *blueprint.Trigger
		header  string
		value   string
		reason  blueprint.ReasonCode
		refused bool
	}{
		{"without a secret", trigger(nil), "", "", blueprint.ReasonUnsigned, false},
		{"without a secret, signed anyway", trigger(nil), "X-Signature", wrong, blueprint.ReasonUnsigned, false},
		{"signed", trigger(map[string]any{"secret": testSecret}), "X-Signature", right, blueprint.ReasonSigned, false},
		{"wrong", trigger(map[string]any{"secret": testSecret}), "X-Signature", wrong, blueprint.ReasonSignature, true},
		{"missing", trigger(map[string]any{"secret": testSecret}), "", "", blueprint.ReasonSignature, true},
		{"an empty secret", trigger(map[string]any{"secret": ""}), "X-Signature", hexSum("", testBody), blueprint.ReasonSecretUnusable, true},
		{"a blank secret", trigger(map[string]any{"secret": " \t"}), "X-Signature", hexSum(" \t", testBody), blueprint.ReasonSecretUnusable, true},
		{"a secret that is a number", trigger(map[string]any{"secret": 7}), "X-Signature", hexSum("7", testBody), blueprint.ReasonSecretUnusable, true},
		{"a preset without a secret", trigger(map[string]any{"preset": "github"}), "", "", blueprint.ReasonSecretUnusable, true},
		{"an unknown preset", trigger(map[string]any{"preset": "gitlab", "secret": testSecret}), "X-Signature", right, blueprint.ReasonPresetUnknown, true},
		{"a preset that is a number", trigger(map[string]any{"preset": 1, "secret": testSecret}), "X-Signature", right, blueprint.ReasonPresetUnknown, true},
		{"the header of the preset", trigger(map[string]any{"preset": "github", "secret": testSecret}), "X-Hub-Signature-256", "sha256=" + right, blueprint.ReasonSigned, false},
		{"another header than the preset's", trigger(map[string]any{"preset": "github", "secret": testSecret}), "X-Signature", right, blueprint.ReasonSignature, true},
		{"the previous secret", trigger(rotated(later)), "X-Signature", old, blueprint.ReasonSignedPrevious, false},
		{"the present one beside it", trigger(rotated(later)), "X-Signature", right, blueprint.ReasonSigned, false},
		{"neither of them", trigger(rotated(later)), "X-Signature", wrong, blueprint.ReasonSignature, true},
		{"the previous secret at its end", trigger(rotated(earlier)), "X-Signature", old, blueprint.ReasonSignature, true},
		{"the previous secret without an end", trigger(rotated("")), "X-Signature", old, blueprint.ReasonSignature, true},
		{"slack without a secret", &blueprint.Trigger{Type: blueprint.TriggerSlack}, "", "", blueprint.ReasonSecretUnusable, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := delivery()
			if c.header != "" {
				d = delivery(c.header, c.value)
			}
			firing := &blueprint.Firing{Delivery: d}
			err := Check(c.trigger, firing, testTime, testTime)
			if (err != nil) != c.refused {
				t.Fatalf("refused by %v, want refused: %t", err, c.refused)
			}
			if err != nil {
				if err.Code != blueprint.CodeUnauthorized {
					t.Errorf("code %s, want %s", err.Code, blueprint.CodeUnauthorized)
				}
				if got := err.Reason; got.Code != c.reason {
					t.Errorf("reason %+v, want %s", got, c.reason)
				}
				return
			}
			if got := firing.Why; got.Code != c.reason {
				t.Errorf("reason %+v, want %s", got, c.reason)
			}
		})
	}
}

// What is kept of a refused signature describes it without a word of it.
func TestFacts(t *testing.T) {
	for _, c := range []struct {
		name    string
		trigger *blueprint.Trigger
		d       *blueprint.Delivery
		want    map[string]any
	}{
		{
			"a wrong one", trigger(map[string]any{"secret": testSecret}), delivery("X-Signature", "sha256="+hexSum("wrong", testBody)),
			map[string]any{FactHeader: "X-Signature", FactForm: "sha256= and 64 hexadecimal digits", FactExpected: Hex("").Form, FactBytes: len(testBody), FactTried: "secret"},
		},
		{
			"none", trigger(map[string]any{"secret": testSecret, "previousSecret": "p", "previousSecretUntil": testTime.Add(time.Hour).Format(time.RFC3339)}), delivery(),
			map[string]any{FactHeader: nil, FactForm: "none", FactExpected: "64 hexadecimal digits in X-Webhook-Signature or X-Signature, or the headers of Standard Webhooks", FactBytes: len(testBody), FactTried: "secret and previousSecret"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := Check(c.trigger, &blueprint.Firing{Delivery: c.d}, testTime, testTime); err == nil {
				t.Fatal("want a refusal")
			}
			if diff := cmp.Diff(c.want, c.d.Facts); diff != "" {
				t.Errorf("facts (-want +got):\n%s", diff)
			}
			if !WasForged(trigger(nil), c.d) || WasForged(c.trigger, c.d) {
				t.Error("want a forgery only once the trigger has no secret")
			}
		})
	}
	if WasForged(trigger(nil), nil) || WasForged(trigger(nil), delivery()) {
		t.Error("a delivery without facts counts as forged")
	}
}

func TestPresets(t *testing.T) {
	if diff := cmp.Diff([]string{"github", "slack", "standard", "stripe"}, PresetNames()); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(PresetNames(), slices.Sorted(maps.Keys(Presets))); diff != "" {
		t.Errorf("names and presets differ:\n%s", diff)
	}
	if p, known := PresetOf(trigger(nil)); p != nil || !known {
		t.Errorf("no preset: %v, %t", p, known)
	}
	if got := SchemesOf(&blueprint.Trigger{Type: blueprint.TriggerSlack, Config: map[string]any{"preset": "github"}}); len(got) != 1 || got[0] != Slack {
		t.Errorf("a slack trigger takes %v, want Slack's scheme alone", got)
	}
	if got := SchemesOf(trigger(nil)); len(got) != len(Usual) {
		t.Errorf("a webhook takes %d schemes, want %d", len(got), len(Usual))
	}
}

func TestHeader(t *testing.T) {
	d := delivery("X-Request-Id", "7", "X-Signature", "proof")
	for name, want := range map[string][]string{"X-REQUEST-ID": {"7"}, "x-signature": {"proof"}, "X-Signature": {"proof"}, "absent": nil} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(want, Header(d, name)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		})
	}
}

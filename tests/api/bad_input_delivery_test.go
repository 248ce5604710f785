package api

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strings"
	"testing"

	"blueprintd/server"
	"blueprintd/tests/servertest"
)

// badDeliveries are bodies and headers that plain endpoints refuse.
func badDeliveries(most int) []struct {
	name, body string
	headers    []string
	status     map[string]int // by endpoint; "" for all others
} {
	all := func(status int) map[string]int { return map[string]int{"": status} }
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	writer.Write(make([]byte, 100<<20)) // a bomb: 100 MiB in 100 KiB
	writer.Close()
	return []struct {
		name, body string
		headers    []string
		status     map[string]int
	}{
		{"half of it", `{"a":`, nil, all(400)},
		{"no JSON", `{]`, nil, all(400)},
		{"two values", `{} {}`, nil, all(400)},
		{"a NUL byte", "{\"a\":\"\x00\"}", nil, all(400)},
		{"invalid UTF-8", "{\"a\":\"\xff\"}", nil, all(400)},
		{"129 levels", strings.Repeat("[", 129) + strings.Repeat("]", 129), nil, all(400)},
		{"50,000 levels", strings.Repeat("[", 50_000), nil, all(400)},
		{"too large", strings.Repeat(" ", most) + "{}", nil, all(413)},
		{"far too large", strings.Repeat(" ", 2*most) + "{}", nil, all(413)},
		{"a compressed bomb", packed.String(), []string{"Content-Encoding", "gzip"}, all(415)},
		{"another encoding", "{}", []string{"Content-Encoding", "br"}, all(415)},
		{"a form", "a=b", []string{"Content-Type", "application/x-www-form-urlencoded"}, map[string]int{"": 415, "clock": 400}},
		{"no media type", "{}", []string{"Content-Type", ";;;"}, map[string]int{"": 415, "clock": 400}},
		{"a long key", "{}", []string{"Idempotency-Key", strings.Repeat("k", 256)}, all(400)},
		{"a key that is no text", "{}", []string{"Idempotency-Key", "\xff"}, all(400)},
	}
}

// TestBadDeliveries sends each to the webhooks, to the endpoint of an api trigger and to
// the clock.
func TestBadDeliveries(t *testing.T) {
	t.Parallel()
	const most = 128 << 10
	v := newVictim(t, func(o *server.Options) { o.MaxBody = most })
	v.unharmed(t, func() {
		for _, way := range []struct {
			name, path string
			who        servertest.Caller
		}{
			{"webhook", "/webhooks/blueprint/" + v.webhook, servertest.Caller{Server: v.Server}},
			{"api", "/v1/triggers/" + v.api + "/fire", v.Root},
			{"clock", "/clock/advance", v.Root},
		} {
			t.Run(way.name, func(t *testing.T) {
				for _, bad := range badDeliveries(most) {
					want, special := bad.status[way.name]
					if !special {
						want = bad.status[""]
					}
					answer := way.who.Send(t, http.MethodPost, way.path, bad.body, bad.headers...)
					message, _ := at(answer.Value, "error.message").(string)
					if answer.Status != want || message == "" || at(answer.Value, "error.code") == nil || len(answer.Text) > 4096 {
						t.Errorf("%s, %s: %d %.500s, want %d", way.name, bad.name, answer.Status, answer.Text, want)
					}
				}
			})
		}
	})
}

// TestBadWays sends requests to unknown addresses, with wrong methods and without
// valid credentials.
func TestBadWays(t *testing.T) {
	t.Parallel()
	v := newVictim(t)
	const unknown = "6b1f0c5e-8a6d-4c1e-9f33-2d5b7a90c412"
	nobody := servertest.Caller{Server: v.Server}
	v.unharmed(t, func() {
		for _, test := range []struct {
			method, path string
			who          servertest.Caller
			body         string
			headers      []string
			status       int
		}{
			{"POST", "/webhooks/blueprint/" + unknown, nobody, "{}", nil, 404},
			{"POST", "/webhooks/blueprint/" + v.api, nobody, "{}", nil, 404},
			{"POST", "/webhooks/blueprint/x", nobody, "{}", nil, 404},
			{"POST", "/webhooks/blueprint/" + v.webhook + "%00", nobody, "{}", nil, 404},
			{"POST", "/webhooks/blueprint/" + strings.Repeat("f", 20_000), nobody, "{}", nil, 404},
			{"POST", "/webhooks/blueprint/%FF%FE", nobody, "{}", nil, 404},
			{"POST", "/webhooks/blueprint/" + v.webhook + "/more", nobody, "{}", nil, 404},
			{"GET", "/webhooks/blueprint/" + v.webhook, nobody, "", nil, 405},
			{"POST", "/webhooks/blueprint/" + v.signed, nobody, "{}", nil, 401},
			{"POST", "/webhooks/blueprint/" + v.signed, nobody, "{}", []string{"X-Webhook-Signature", "sha256=" + strings.Repeat("0", 64)}, 401},
			{"POST", "/webhooks/blueprint/" + v.signed, nobody, "{}", []string{"X-Webhook-Signature", strings.Repeat("f", 20_000)}, 401},
			{"POST", "/webhooks/blueprint/" + v.signed, nobody, "{}", []string{"Webhook-Signature", strings.Repeat("v1,A ", 5_000), "Webhook-Id", "a", "Webhook-Timestamp", "1903953600"}, 401},
			{"POST", "/webhooks/blueprint/" + v.signed, nobody, "{}", []string{"Webhook-Signature", "v1,A", "Webhook-Id", "a", "Webhook-Timestamp", strings.Repeat("9", 10_000)}, 401},
			{"POST", "/webhooks/blueprint/" + v.signed, nobody, "{]", nil, 401},
			{"POST", "/v1/triggers/" + unknown + "/fire", v.Root, "{}", nil, 404},
			{"POST", "/v1/triggers/" + v.webhook + "/fire", v.Root, "{}", nil, 404},
			{"POST", "/v1/triggers/x/fire", v.Root, "{}", nil, 400},
			{"POST", "/v1/triggers/" + v.api + "%00/fire", v.Root, "{}", nil, 400},
			{"PUT", "/v1/triggers/" + v.api + "/fire", v.Root, "{}", nil, 405},
			{"POST", "/v1/triggers/" + v.api + "/fire", nobody, "{}", nil, 401},
			{"POST", "/v1/triggers/" + v.api + "/fire", servertest.Caller{Server: v.Server, Authorization: "Bearer " + strings.Repeat("x", 20_000)}, "{}", nil, 401},
			{"POST", "/v1/triggers/" + v.api + "/fire", servertest.Caller{Server: v.Server, Authorization: "Bearer \x80\xff"}, "{}", nil, 401},
			{"POST", "/clock/advance", nobody, `{"by":"1h"}`, nil, 401},
			{"GET", "/clock/advance", v.Root, "", nil, 405},
			{"POST", "/clock/advance", v.Root, ``, nil, 400},
			{"POST", "/clock/advance", v.Root, `5`, nil, 400},
			{"POST", "/clock/advance", v.Root, `{"by":"-1ns"}`, nil, 400},
			{"POST", "/clock/advance", v.Root, `{"by":"1h","to":"2031-01-01T00:00:00Z"}`, nil, 400},
			{"POST", "/clock/advance", v.Root, `{"by":5}`, nil, 400},
			{"POST", "/clock/advance", v.Root, `{"by":"36501d"}`, nil, 400},
			{"POST", "/clock/advance", v.Root, `{"by":"` + strings.Repeat("1", 60_000) + `h"}`, nil, 400},
			{"POST", "/clock/advance", v.Root, `{"to":"2030-05-01T11:59:59Z"}`, nil, 400},
			{"POST", "/clock/advance", v.Root, `{"to":"10000-01-01T00:00:00Z"}`, nil, 400},
			{"POST", "/clock/advance", v.Root, `{"to":"\u0000"}`, nil, 400},
			{"GET", "/nothing/here", v.Root, "", nil, 404},
			{"GET", "/nothing/%FF", v.Root, "", nil, 404},
		} {
			t.Run(caseName(test.method+" "+test.path), func(t *testing.T) {
				answer := test.who.Send(t, test.method, test.path, test.body, test.headers...)
				message, _ := at(answer.Value, "error.message").(string)
				if answer.Status != test.status || message == "" || len(message) > 21_000 || strings.Contains(message, "victims-secret") {
					t.Errorf("%s %.80s %.80s: %d %.500s, want %d", test.method, test.path, test.body, answer.Status, answer.Text, test.status)
				}
			})
		}
	})
}

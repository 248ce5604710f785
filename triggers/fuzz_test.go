package triggers

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/triggers/signature"
)

func FuzzWebhookBody(f *testing.F) {
	for _, body := range []string{"", "{}", `{"a":1.0}`, "[1", `"\u0000"`, "\"\xff\"", "\ufeff1", strings.Repeat("[", 129), "null null", "1e999", " \n", "{\"a\":1,\"a\":2}"} {
		f.Add([]byte(body), "application/json", "", "")
	}
	f.Add([]byte("{}"), "text/plain", "gzip", "k")
	f.Add([]byte("{}"), "application/x+json; charset=\"utf-8\"", "identity", strings.Repeat("k", 300))
	m := newMemory()
	id := m.trigger(blueprint.TriggerWebhook, nil, begin)
	s := newService(m, clock.NewVirtual(begin), func(o *Options) { o.MaxBody = 1000 })
	f.Fuzz(func(t *testing.T, body []byte, kind, encoding, key string) {
		m.rows, m.requests, m.patience = nil, nil, nil
		s.throttle.buckets = map[string]*bucket{}
		r := httptest.NewRequest("POST", "/", bytes.NewReader(body))
		r.SetPathValue("triggerId", id)
		r.Header = http.Header{"Content-Type": {kind}, "Content-Encoding": {encoding}, "Webhook-Id": {key}}
		w := httptest.NewRecorder()
		s.Handler(blueprint.TriggerWebhook).ServeHTTP(w, r)
		if len(m.rows) != 1 || m.rows[0].Key == "" || len(m.rows[0].Key) > maxKey {
			t.Fatalf("rows %+v, want one with a key of at most %d bytes", m.rows, maxKey)
		}
		if reason := m.rows[0].Reason; len(reason) > 300 || !utf8.ValidString(reason) {
			t.Fatalf("reason %q, want at most 300 bytes of UTF-8", reason)
		}
		if w.Code != 202 {
			if !slices.Contains([]int{400, 413, 415}, w.Code) || len(m.requests) != 0 || m.rows[0].Decision != blueprint.DecisionRefused {
				t.Fatalf("%d %s", w.Code, w.Body)
			}
			return
		}
		text := bytes.TrimPrefix(body, []byte("\ufeff"))
		if len(text) == 0 {
			text = []byte("{}")
		}
		if len(body) > 1000 || !json.Valid(text) || !utf8.Valid(body) {
			t.Fatalf("accepted %q", body)
		}
		var want, got any
		encoded, err := blueprint.Encode(m.requests[0].InputData)
		if err != nil {
			t.Fatal(err)
		}
		if a, b := json.Unmarshal(text, &want), json.Unmarshal(encoded, &got); a == nil && (b != nil || !blueprint.Equal(want, got)) {
			t.Fatalf("%q became %q, want %v", text, encoded, want)
		}
	})
}

// plainHex is what a hexadecimal signature looks like.
var plainHex = regexp.MustCompile(`^(?i:sha256=)?([0-9a-fA-F]{64})$`)

func FuzzSignatureHeaders(f *testing.F) {
	right := hexMAC(corpusSecret, corpusBody)
	now := strconv.FormatInt(begin.Unix(), 10)
	f.Add(corpusSecret, corpusBody, "sha256="+right, "", "", "", "", "", uint8(1))
	f.Add(corpusSecret, corpusBody, right, strings.ToUpper(right), right, "", "", "", uint8(7))
	f.Add(corpusSecret, corpusBody, "", "", "", "id", now, standardMAC([]byte(corpusSecret), "id", now, corpusBody), uint8(8))
	f.Add("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "", "x", ",", "sha1=", "id", "1e9", "v1,AAAA v1a,", uint8(15))
	f.Add("s", "", "", "", "", "", "", "", uint8(0))
	f.Fuzz(func(t *testing.T, secret, body, first, second, third, id, timestamp, standard string, present uint8) {
		header := http.Header{}
		wanted := present&15 != 0
		for i, value := range []string{first, second, third} {
			if present>>i&1 == 0 {
				continue
			}
			header[signature.Usual[i].Header] = []string{value}
			match := plainHex.FindStringSubmatch(value)
			wanted = wanted && match != nil && strings.EqualFold(match[1], hexMAC(secret, body))
		}
		if present&8 != 0 {
			header[signature.StandardID], header[signature.StandardTimestamp], header[signature.StandardSignature] = []string{id}, []string{timestamp}, []string{standard}
			key := []byte(secret)
			if rest, ok := strings.CutPrefix(secret, "whsec_"); ok {
				if decoded, err := base64.StdEncoding.DecodeString(rest); err == nil && len(decoded) > 0 {
					key = decoded
				}
			}
			seconds, err := strconv.ParseInt(timestamp, 10, 64)
			near := err == nil && time.Unix(seconds, 0).Sub(begin).Abs() <= 5*time.Minute && timestamp[0] != '+'
			wanted = wanted && id != "" && utf8.ValidString(id) && near && slices.Contains(strings.Fields(standard), standardMAC(key, id, timestamp, body))
		}
		_, reason := signature.Verify(signature.Usual, secret, deliveryOf(header, body), begin)
		if (reason == "") != wanted {
			t.Fatalf("verify returns %q, want acceptance %v", reason, wanted)
		}
		if wanted {
			for name := range header {
				twice := header.Clone()
				twice.Add(name, header.Get(name))
				if _, reason := signature.Verify(signature.Usual, secret, deliveryOf(twice, body), begin); strings.HasSuffix(name, "Signature") && reason == "" {
					t.Fatalf("%s twice is accepted", name)
				}
			}
			_, otherSecret := signature.Verify(signature.Usual, secret+"x", deliveryOf(header, body), begin)
			_, otherBody := signature.Verify(signature.Usual, secret, deliveryOf(header, body+" "), begin)
			if otherSecret == "" || otherBody == "" {
				t.Fatal("another secret or body is accepted")
			}
		}
		if _, err := hex.DecodeString(reason); err == nil && reason != "" {
			t.Fatal("the reason is a digest")
		}
	})
}

func FuzzTriggerHeaders(f *testing.F) {
	f.Add("X-One", "a", "b")
	f.Add("authorization", "Bearer", "")
	f.Add("x-hub-signature-256", "\xff", "\x00")
	f.Fuzz(func(t *testing.T, name, one, two string) {
		r := httptest.NewRequest("POST", "/", nil)
		r.Header[http.CanonicalHeaderKey(name)] = []string{one, two}
		got := headersOf(newDelivery(r))
		for key, value := range got {
			if key != strings.ToLower(key) || signature.Confidential[key] || signature.IsProof(key) || !utf8.ValidString(value.(string)) {
				t.Fatalf("%q: %q", key, value)
			}
		}
		to := http.Header{}
		setHeaders(to, map[string]string{name: one})
		for key := range to {
			if isReserved(strings.ToLower(key)) || strings.ContainsAny(key, " :\r\n") {
				t.Fatalf("set %q", key)
			}
		}
	})
}

// deliveryOf makes a delivery of headers and a body.
func deliveryOf(header http.Header, body string) *blueprint.Delivery {
	d := newDelivery(&http.Request{Header: header})
	d.Body, d.Size = []byte(body), int64(len(body))
	return d
}

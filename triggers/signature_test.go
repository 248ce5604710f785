package triggers

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
)

// mac computes an HMAC-SHA256 from its definition, so that the tests do not
// ask the code they test.
func mac(key, message []byte) []byte {
	if len(key) > 64 {
		sum := sha256.Sum256(key)
		key = sum[:]
	}
	inner, outer := bytes.Repeat([]byte{0x36}, 64), bytes.Repeat([]byte{0x5c}, 64)
	for i, b := range key {
		inner[i] ^= b
		outer[i] ^= b
	}
	first := sha256.Sum256(append(inner, message...))
	second := sha256.Sum256(append(outer, first[:]...))
	return second[:]
}

func hexMAC(secret, body string) string { return hex.EncodeToString(mac([]byte(secret), []byte(body))) }

func standardMAC(key []byte, id, timestamp, body string) string {
	return "v1," + base64.StdEncoding.EncodeToString(mac(key, []byte(id+"."+timestamp+"."+body)))
}

// signed is one delivery of the signature corpus.
type signed struct {
	name    string
	secret  string
	body    string
	headers []string
	now     time.Time // zero = begin
	good    bool
}

const (
	corpusSecret = "It's a Secret to Everybody"
	corpusBody   = `{"action":"opened","number":1}`
)

func signatureCorpus() []signed {
	right := hexMAC(corpusSecret, corpusBody)
	wrong := hexMAC("another secret", corpusBody)
	var corpus []signed
	add := func(name string, good bool, headers ...string) {
		corpus = append(corpus, signed{name: name, secret: corpusSecret, body: corpusBody, headers: headers, good: good})
	}
	for _, header := range []string{"X-Webhook-Signature", "X-Signature", "X-Hub-Signature-256", "x-webhook-signature", "x-hub-signature-256"} {
		h := header + ": "
		add(header+" bare", true, h+right)
		add(header+" upper", true, h+strings.ToUpper(right))
		add(header+" mixed", true, h+strings.ToUpper(right[:20])+right[20:])
		add(header+" prefix", true, h+"sha256="+right)
		add(header+" prefix upper", true, h+"sha256="+strings.ToUpper(right))
		add(header+" prefix in capitals", true, h+"SHA256="+right)
		add(header+" spaces around", true, h+"  "+right+" ")
		add(header+" of another secret", false, h+wrong)
		add(header+" empty", false, h)
		add(header+" prefix alone", false, h+"sha256=")
		add(header+" prefix twice", false, h+"sha256=sha256="+right)
		add(header+" sha1 prefix", false, h+"sha1="+right)
		add(header+" sha512 prefix", false, h+"sha512="+right)
		add(header+" colon", false, h+"sha256:"+right)
		add(header+" inner space", false, h+"sha256= "+right)
		add(header+" cut", false, h+right[:63])
		add(header+" half", false, h+right[:32])
		add(header+" longer", false, h+right+"00")
		add(header+" doubled", false, h+right+right)
		add(header+" list", false, h+right+","+right)
		add(header+" list with a space", false, h+right+", "+right)
		add(header+" list of wrong and right", false, h+wrong+","+right)
		add(header+" no hex", false, h+strings.Repeat("zz", 32))
		add(header+" base64", false, h+base64.StdEncoding.EncodeToString(mac([]byte(corpusSecret), []byte(corpusBody))))
		add(header+" quoted", false, h+`"`+right+`"`)
		add(header+" zeros", false, h+strings.Repeat("0", 64))
		add(header+" of the empty body", false, h+hexMAC(corpusSecret, ""))
		add(header+" of the body with a newline", false, h+hexMAC(corpusSecret, corpusBody+"\n"))
		add(header+" plain hash", false, h+plainHash(corpusBody))
		add(header+" secret in the clear", false, h+corpusSecret)
		add(header+" twice", false, h+right, h+right)
		add(header+" wrong and right", false, h+wrong, h+right)
	}
	add("none", false)
	add("only a signature header we do not know", false, "X-Hub-Signature: sha1=aa", "Stripe-Signature: t=1,v1="+right)
	add("SHA-1 beside a right one is not looked at", true, "X-Hub-Signature: sha1=00", "X-Hub-Signature-256: sha256="+right)
	add("both right", true, "X-Webhook-Signature: "+right, "X-Signature: sha256="+right)
	add("first wrong", false, "X-Webhook-Signature: "+wrong, "X-Signature: "+right)
	add("second wrong", false, "X-Webhook-Signature: "+right, "X-Signature: "+wrong)
	add("second empty", false, "X-Webhook-Signature: "+right, "X-Signature:")
	add("three right", true, "X-Webhook-Signature: "+right, "X-Signature: "+right, "X-Hub-Signature-256: "+right)
	add("third wrong", false, "X-Webhook-Signature: "+right, "X-Signature: "+right, "X-Hub-Signature-256: "+wrong)

	// Vectors of openssl dgst -sha256 -hmac, and the one that GitHub publishes.
	for body, sum := range map[string]string{
		"":              "66a0c074deaa0f489ead6537e0d32f9a344b90bbeda705b6ed45ecd3b413fb40",
		"{}":            "50b0123e6e44430d2c43ecca0ee520d961ffd326425c07859f70a57161c3ebcd",
		`{"a":1}`:       "3aea7d9882012d69ea49b8443b94e755179f85ee830bfa901efb5dc673af63a3",
		"Hello, World!": "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17",
	} {
		corpus = append(corpus, signed{"openssl " + body, corpusSecret, body, []string{"X-Hub-Signature-256: sha256=" + sum}, time.Time{}, true})
	}
	for _, secret := range []string{"s", " spaces ", "käse", strings.Repeat("long", 100), "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "\u0000"} {
		corpus = append(corpus, signed{"secret " + secret, secret, corpusBody, []string{"X-Signature: " + hexMAC(secret, corpusBody)}, time.Time{}, true})
	}
	corpus = append(corpus, standardCorpus()...)

	sum := mac([]byte(corpusSecret), []byte(corpusBody))
	for bit := range 8 * len(sum) {
		flipped := bytes.Clone(sum)
		flipped[bit/8] ^= 1 << (bit % 8)
		add(fmt.Sprintf("signature bit %d", bit), false, "X-Webhook-Signature: "+hex.EncodeToString(flipped))
	}
	for bit := range 8 * len(corpusBody) {
		flipped := []byte(corpusBody)
		flipped[bit/8] ^= 1 << (bit % 8)
		corpus = append(corpus, signed{fmt.Sprintf("body bit %d", bit), corpusSecret, string(flipped), []string{"X-Signature: " + right}, time.Time{}, false})
	}
	return corpus
}

// standardCorpus is about the headers of Standard Webhooks.
func standardCorpus() []signed {
	var corpus []signed
	stamp := func(at time.Time) string { return strconv.FormatInt(at.Unix(), 10) }
	now := stamp(begin)
	right := standardMAC([]byte(corpusSecret), "msg_1", now, corpusBody)
	add := func(name string, good bool, headers ...string) {
		corpus = append(corpus, signed{name: "standard " + name, secret: corpusSecret, body: corpusBody, headers: headers, good: good})
	}
	const id = "webhook-id: msg_1"
	at := "webhook-timestamp: " + now
	add("right", true, id, at, "webhook-signature: "+right)
	add("others before it", true, id, at, "webhook-signature: v1a,AAAA v1,AAAA v2,x "+right)
	add("others after it", true, id, at, "webhook-signature: "+right+" v1,AAAA")
	add("beside a right hexadecimal one", true, id, at, "webhook-signature: "+right, "X-Signature: "+hexMAC(corpusSecret, corpusBody))
	add("beside a wrong hexadecimal one", false, id, at, "webhook-signature: "+right, "X-Signature: "+hexMAC("x", corpusBody))
	add("wrong beside a right hexadecimal one", false, id, at, "webhook-signature: v1,AAAA", "X-Signature: "+hexMAC(corpusSecret, corpusBody))
	add("no id", false, at, "webhook-signature: "+right)
	add("empty id", false, "webhook-id:", at, "webhook-signature: "+standardMAC([]byte(corpusSecret), "", now, corpusBody))
	add("another id", false, "webhook-id: msg_2", at, "webhook-signature: "+right)
	add("id twice", false, id, id, at, "webhook-signature: "+right)
	add("no timestamp", false, id, "webhook-signature: "+right)
	add("timestamp twice", false, id, at, at, "webhook-signature: "+right)
	add("signature twice", false, id, at, "webhook-signature: "+right, "webhook-signature: "+right)
	add("empty", false, id, at, "webhook-signature:")
	add("no version", false, id, at, "webhook-signature: "+strings.TrimPrefix(right, "v1,"))
	add("another version", false, id, at, "webhook-signature: v2,"+strings.TrimPrefix(right, "v1,"))
	add("version in capitals", false, id, at, "webhook-signature: V1,"+strings.TrimPrefix(right, "v1,"))
	add("comma instead of a space", false, id, at, "webhook-signature: v1,AAAA,"+right)
	add("hexadecimal", false, id, at, "webhook-signature: v1,"+hex.EncodeToString(mac([]byte(corpusSecret), []byte("msg_1."+now+"."+corpusBody))))
	add("without padding", false, id, at, "webhook-signature: "+strings.TrimSuffix(right, "="))
	add("only the body signed", false, id, at, "webhook-signature: v1,"+base64.StdEncoding.EncodeToString(mac([]byte(corpusSecret), []byte(corpusBody))))
	// The last character of base64 has bits that stand for nothing.
	loose := []byte(right)
	loose[len(loose)-2]++
	add("loose last character", false, id, at, "webhook-signature: "+string(loose))
	for i := range len(right) - 3 {
		flipped := []byte(right)
		flipped[i+3] ^= 1
		add(fmt.Sprintf("character %d", i), false, id, at, "webhook-signature: "+string(flipped))
	}
	for _, text := range []string{"", "x", "-1", "+" + now, now + ".0", "0x1", "1e9", "99999999999999999999", now + " ", strings.Repeat("1", 40), "２０"} {
		good := strings.TrimSpace(text) == now
		add(fmt.Sprintf("timestamp %q", text), good, id, "webhook-timestamp: "+text, "webhook-signature: "+standardMAC([]byte(corpusSecret), "msg_1", text, corpusBody))
		if good {
			corpus[len(corpus)-1].headers[2] = "webhook-signature: " + right
		}
	}
	for away, good := range map[time.Duration]bool{
		0: true, time.Second: true, 5 * time.Minute: true, 5*time.Minute + time.Second: false, time.Hour: false, 24 * 365 * time.Hour: false,
		-time.Second: true, -5 * time.Minute: true, -5*time.Minute - time.Second: false, -time.Hour: false,
	} {
		text := stamp(begin.Add(away))
		add("signed "+away.String()+" away", good, id, "webhook-timestamp: "+text, "webhook-signature: "+standardMAC([]byte(corpusSecret), "msg_1", text, corpusBody))
	}
	corpus = append(corpus,
		// What the scheme's own libraries sign.
		signed{"standard published", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", `{"test": 2432232314}`, []string{
			"webhook-id: msg_p5jXN8AQM9LWM0D4loKWxJek", "webhook-timestamp: 1614265330", "webhook-signature: v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
		}, time.Unix(1614265330, 0), true},
		signed{"standard published, too late", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", `{"test": 2432232314}`, []string{
			"webhook-id: msg_p5jXN8AQM9LWM0D4loKWxJek", "webhook-timestamp: 1614265330", "webhook-signature: v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
		}, time.Unix(1614265330+301, 0), false},
		signed{"standard raw secret", "a raw secret", `{"a":1}`, []string{
			"webhook-id: evt-1", "webhook-timestamp: " + now, "webhook-signature: v1,8E5aOzTytL1q/ygXSpvfC4Gtpr9dQf/TfP2PcJzRzr8=",
		}, begin, true},
		signed{"standard secret taken literally", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "{}", []string{
			id, at, "webhook-signature: " + standardMAC([]byte("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"), "msg_1", now, "{}"),
		}, begin, false},
		signed{"standard prefix without base64", "whsec_!", "{}", []string{id, at, "webhook-signature: " + standardMAC([]byte("whsec_!"), "msg_1", now, "{}")}, begin, true},
		signed{"standard prefix without anything", "whsec_", "{}", []string{id, at, "webhook-signature: " + standardMAC([]byte("whsec_"), "msg_1", now, "{}")}, begin, true},
		signed{"standard prefix without anything, no key", "whsec_", "{}", []string{id, at, "webhook-signature: " + standardMAC(nil, "msg_1", now, "{}")}, begin, false},
	)
	return corpus
}

func plainHash(body string) string {
	sum := sha256.Sum256([]byte(body))
	return hex.EncodeToString(sum[:])
}

func TestSignatures(t *testing.T) {
	corpus := signatureCorpus()
	if len(corpus) < 200 {
		t.Fatalf("%d cases, want at least 200", len(corpus))
	}
	for _, c := range corpus {
		m := newMemory()
		id := m.trigger(blueprint.TriggerWebhook, map[string]any{"secret": c.secret}, begin)
		now := c.now
		if now.IsZero() {
			now = begin
		}
		w := deliver(newService(m, clock.NewVirtual(now)), id, delivery{headers: c.headers, body: c.body})
		row := m.lastRow(t)
		good := w.Code == 202 || w.Code == 400 // a body that is signed and no JSON
		if good != c.good || !good && w.Code != 401 {
			t.Errorf("%s: %d %s, want good %v", c.name, w.Code, w.Body, c.good)
		}
		if !good {
			checkError(t, w, blueprint.CodeUnauthorized)
			if len(m.runs()) != 0 || row.Decision != blueprint.DecisionRefused || row.Reason == "" {
				t.Errorf("%s: row %+v, want none, Decision %v and Reason not empty", c.name, row, blueprint.DecisionRefused)
			}
		}
		if len(c.secret) > 6 && (strings.Contains(w.Body.String(), c.secret) || strings.Contains(row.Reason, c.secret)) {
			t.Errorf("%s: the secret shows: %s %s", c.name, w.Body, row.Reason)
		}
		for _, header := range c.headers {
			if _, value, _ := strings.Cut(header, ": "); len(value) > 30 && strings.Contains(row.Reason+w.Body.String(), value) {
				t.Errorf("%s: the signature shows: %s", c.name, row.Reason)
			}
		}
	}
	t.Logf("%d signatures", len(corpus))
}

func TestNoSecretNoSignature(t *testing.T) {
	m := newMemory()
	id := m.trigger(blueprint.TriggerWebhook, map[string]any{"secret": nil}, begin)
	if w := deliver(newService(m, clock.NewVirtual(begin)), id, delivery{headers: []string{"X-Signature: nonsense", "X-Signature: twice"}}); w.Code != 202 {
		t.Errorf("%d %s, want 202", w.Code, w.Body)
	}
}

func TestRightSignatureWrongBody(t *testing.T) {
	// A right signature does not make JSON of a body, and the id stays unused.
	m := newMemory()
	id := m.trigger(blueprint.TriggerWebhook, map[string]any{"secret": "s"}, begin)
	s := newService(m, clock.NewVirtual(begin))
	w := deliver(s, id, delivery{body: "{", headers: []string{"X-Signature: " + hexMAC("s", "{"), "Idempotency-Key: k"}})
	checkError(t, w, blueprint.CodeBadRequest)
	w = deliver(s, id, delivery{body: "{}", headers: []string{"X-Signature: " + hexMAC("s", "{}"), "Idempotency-Key: k"}})
	if w.Code != 202 {
		t.Errorf("%d %s, want 202", w.Code, w.Body)
	}
}

package mail

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"net/netip"
	"strings"
	"testing"

	"github.com/emersion/go-msgauth/dkim"

	"blueprintd/blueprint"
)

// signed signs a message for a domain, and publishes the key.
func signed(t *testing.T, z zone, domain, message string) string {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	z["key._domainkey."+domain] = []string{"v=DKIM1; k=ed25519; p=" + base64.StdEncoding.EncodeToString(public)}
	var out bytes.Buffer
	options := &dkim.SignOptions{Domain: domain, Selector: "key", Signer: private, HeaderKeys: []string{"From", "Subject"}}
	if err := dkim.Sign(&out, strings.NewReader(message), options); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestSenderCheck tests combinations of SPF, DKIM and DMARC. The client is
// 192.0.2.1 and its EHLO name is mx.example.org.
func TestSenderCheck(t *testing.T) {
	letter := func(from string) string { return "From: " + from + "\r\nSubject: x\r\n\r\nhello\r\n" }
	good, bad := []string{"v=spf1 ip4:192.0.2.1 -all"}, []string{"v=spf1 -all"}
	for name, test := range map[string]struct {
		zone     zone
		envelope string // from
		from     string
		sign     []string // domains
		tampered bool     // after it was signed
		want     string   // spf dkim dmarc
		passed   bool
		open     bool // undecided
	}{
		"no records":                          {zone{}, "a@example.org", "a@example.org", nil, false, "none none none", false, false},
		"SPF of the author, no record":        {zone{"example.org": good}, "a@example.org", "a@Example.ORG", nil, false, "pass none none", true, false},
		"SPF of another domain, no record":    {zone{"example.com": good}, "a@example.com", "a@example.org", nil, false, "pass none none", false, false},
		"SPF of a subdomain, no record":       {zone{"mail.example.org": good}, "a@mail.example.org", "a@example.org", nil, false, "pass none none", false, false},
		"SPF of a subdomain":                  {zone{"mail.example.org": good, "_dmarc.example.org": {"v=DMARC1; p=reject"}}, "a@mail.example.org", "a@example.org", nil, false, "pass none pass", true, false},
		"SPF of a subdomain, strict":          {zone{"mail.example.org": good, "_dmarc.example.org": {"v=DMARC1; p=reject; aspf=s"}}, "a@mail.example.org", "a@example.org", nil, false, "pass none fail", false, false},
		"SPF fails":                           {zone{"example.org": bad, "_dmarc.example.org": {"v=DMARC1; p=none"}}, "a@example.org", "a@example.org", nil, false, "fail none fail", false, false},
		"SPF of the EHLO name":                {zone{"mx.example.org": good, "_dmarc.example.org": {"v=DMARC1; p=none"}}, "", "a@example.org", nil, false, "pass none pass", true, false},
		"a signature":                         {zone{"_dmarc.example.org": {"v=DMARC1; p=reject"}}, "a@example.com", "a@example.org", []string{"example.org"}, false, "none pass pass", true, false},
		"a signature, no record":              {zone{}, "a@example.com", "a@example.org", []string{"example.org"}, false, "none pass none", true, false},
		"a signature of the parent":           {zone{"_dmarc.example.org": {"v=DMARC1; p=reject"}}, "", "a@news.example.org", []string{"example.org"}, false, "none pass pass", true, false},
		"a signature of a sibling":            {zone{"_dmarc.example.org": {"v=DMARC1; p=reject"}}, "", "a@news.example.org", []string{"shop.example.org"}, false, "none pass pass", true, false},
		"a sibling under a public name":       {zone{"_dmarc.example.org": {"v=DMARC1; p=reject; psd=y"}}, "", "a@ada.example.org", []string{"eve.example.org"}, false, "none pass fail", false, false},
		"a signature of another domain":       {zone{"_dmarc.example.org": {"v=DMARC1; p=reject"}}, "", "a@example.org", []string{"example.com"}, false, "none pass fail", false, false},
		"a signature strict, of the parent":   {zone{"_dmarc.example.org": {"v=DMARC1; p=reject; adkim=s"}}, "", "a@news.example.org", []string{"example.org"}, false, "none pass fail", false, false},
		"a tampered message":                  {zone{"_dmarc.example.org": {"v=DMARC1; p=reject"}}, "", "a@example.org", []string{"example.org"}, true, "none fail fail", false, false},
		"the second signature is right":       {zone{"_dmarc.example.org": {"v=DMARC1; p=reject"}}, "", "a@example.org", []string{"example.org", "example.com"}, false, "none pass pass", true, false},
		"several authors":                     {zone{"example.org": good}, "a@example.org", "a@example.org, b@example.com", nil, false, "pass none permerror", false, false},
		"two headers":                         {zone{"example.org": good}, "a@example.org", "a@example.org\r\nFrom: b@example.com", nil, false, "pass none permerror", false, false},
		"no address":                          {zone{"example.org": good}, "a@example.org", "nobody", nil, false, "pass none permerror", false, false},
		"DNS of the record is down":           {zone{"example.org": good, "_dmarc.example.org": {"!"}}, "a@example.org", "a@example.org", nil, false, "pass none temperror", false, true},
		"DNS of SPF is down":                  {zone{"example.org": {"!"}, "_dmarc.example.org": {"v=DMARC1; p=none"}}, "a@example.org", "a@example.org", nil, false, "temperror none temperror", false, true},
		"DNS of SPF is down, but a signature": {zone{"example.org": {"!"}, "_dmarc.example.org": {"v=DMARC1; p=none"}}, "a@example.org", "a@example.org", []string{"example.org"}, false, "temperror pass pass", true, false},
		"two records are none":                {zone{"mail.example.org": good, "_dmarc.example.org": {"v=DMARC1; p=none", "v=DMARC1; p=reject"}}, "a@mail.example.org", "a@example.org", nil, false, "pass none none", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			message := letter(test.from)
			for _, domain := range test.sign {
				message = signed(t, test.zone, domain, message)
			}
			if test.tampered {
				message += "more\r\n"
			}
			read, err := Parse([]byte(message))
			if err != nil {
				t.Fatal(err)
			}
			c := checker{resolver: &limitedResolver{Resolver: test.zone}, identity: "flows.example.org"}
			got := c.check(t.Context(), netip.MustParseAddr("192.0.2.1"), &blueprint.Envelope{From: test.envelope, Hello: "mx.example.org"}, []byte(message), read.Author)
			if all := got.SPF + " " + got.DKIM + " " + got.DMARC; all != test.want || got.Passed != test.passed || got.Undecided != test.open {
				t.Errorf("%s, passed %v, undecided %v; want %v, %v and %v", all, got.Passed, got.Undecided, test.want, test.passed, test.open)
			}
			if !strings.HasPrefix(got.Results, "flows.example.org; spf="+got.SPF) || !strings.Contains(got.Results, "; dmarc="+got.DMARC) {
				t.Errorf("%v, want %q at the start and %q in it", got.Results, "flows.example.org; spf="+got.SPF, "; dmarc="+got.DMARC)
			}
		})
	}
}

// TestLookupLimit tests that the number of lookups per message is limited.
func TestLookupLimit(t *testing.T) {
	l := &limitedResolver{Resolver: zone{}}
	for range maxLookups {
		if _, err := l.LookupTXT(t.Context(), "x"); !isNotFound(err) {
			t.Fatal(err)
		}
	}
	if _, err := l.LookupTXT(t.Context(), "x"); err == nil || isNotFound(err) {
		t.Fatal(err)
	}
}

func TestWalk(t *testing.T) {
	for domain, want := range map[string]string{
		"localhost": "localhost", "example.org": "example.org", "a.b.example.org": "a.b.example.org b.example.org example.org",
		"a.b.c.d.e.f.g.h.example.org": "a.b.c.d.e.f.g.h.example.org d.e.f.g.h.example.org e.f.g.h.example.org f.g.h.example.org g.h.example.org h.example.org example.org",
	} {
		t.Run(domain, func(t *testing.T) {
			if got := strings.Join(walk(domain), " "); got != want {
				t.Errorf("%v, want %v", got, want)
			}
		})
	}
}

// TestResultsInjection tests that a sender cannot end the field or add results.
func TestResultsInjection(t *testing.T) {
	c := checker{resolver: zone{}, identity: "flows.example.org"}
	envelope := &blueprint.Envelope{From: "a; dmarc=pass (\"@example.org", Hello: "x\r\nX: y; dkim=pass"}
	got := c.results(envelope, authenticated{"example.org", pass}, []authenticated{{"d; spf=pass", fail}}, fail, "example.org")
	if strings.ContainsAny(got, "\r\n()") || strings.Count(got, ";") != 3 || strings.Contains(got, "=pass dmarc") {
		t.Error(got)
	}
}

package mail

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"blueprintd/blueprint"
)

// TestRepeatedField tests that a field prepended to a signed message, in any
// spelling, fails the check.
func TestRepeatedField(t *testing.T) {
	const letter = "From: a@example.org\r\nSubject: x\r\nMessage-ID: <1@example.org>\r\n\r\nhello\r\n"
	zone := zone{"_dmarc.example.org": {"v=DMARC1; p=reject"}}
	good := signed(t, zone, "example.org", letter)
	for name, c := range map[string]struct{ message, repeated string }{
		"as it was":         {good, ""},
		"traces":            {"Received: a\r\nReceived: b\r\nX-Seen: 1\r\nX-Seen: 2\r\n" + good, ""},
		"a subject":         {"Subject: pay eve\r\n" + good, "subject"},
		"an id":             {"message-ID : <2@example.org>\r\n" + good, "message-id"},
		"a tab":             {"Subject\t: pay eve\r\n" + good, "subject"},
		"what is no field":  {"Subject: pay eve\r\n" + strings.Replace(good, "Subject:", "Subject\v:", 1), "subject"},
		"an odd blank":      {"From: b@example.org\r\n" + strings.Replace(good, "From:", "From\u00a0:", 1), "from"},
		"two content types": {"Content-Type: text/html\r\nContent-Type: text/plain\r\n" + good, "content-type"},
		"a folded first":    {" Subject: x\r\nSubject: pay eve\r\n" + letter, "subject"},
	} {
		t.Run(name, func(t *testing.T) {
			read, err := Parse([]byte(c.message))
			if err != nil {
				t.Fatal(err)
			}
			k := checker{resolver: &limitedResolver{Resolver: zone}, identity: "flows.example.org"}
			got := k.check(t.Context(), netip.MustParseAddr("192.0.2.1"), &blueprint.Envelope{Hello: "x"}, []byte(c.message), read.Author)
			if want := c.repeated == ""; got.Repeated != c.repeated || got.Passed != want || got.Undecided {
				t.Errorf("got %+v, want repeated %q, passed %v, decided", got, c.repeated, want)
			}
			if (got.Domain == "example.org") != got.Passed || !got.Passed && got.DMARC != permerror {
				t.Errorf("got %+v, want example.org if it passed, else %s", got, permerror)
			}
		})
	}
	m, _ := Parse([]byte("Subject: x\r\nno field\r\n and more\r\n\r\n"))
	if m.Subject != "x" {
		t.Errorf("%q, want x", m.Subject)
	}
}

// TestFieldsAreClean tests that control characters are removed from all fields.
func TestFieldsAreClean(t *testing.T) {
	m, err := Parse([]byte("From: \"\x1b]0;O\x07 N\u202e\" <a@b\x1b[2Jc.d>\r\nTo: =?utf-8?q?=1B=C2=9B?= <e@f.g>\r\nSubject: =?utf-8?q?a=1B[31mb=E2=80=AE?=\r\nMessage-ID: <\x1b[31mred\xc2\x9b\u202e>\r\nX-Y: a\tb\x08\r\n\r\n"))
	if err != nil {
		t.Fatal(err)
	}
	if m.Author != "" && strings.Contains(m.Author, "\x1b") || m.Subject != "a[31mb" || m.MessageID != "<[31mred>" || m.Headers["x-y"][0] != "a b" {
		t.Errorf("%+v", m)
	}
	all := []string{m.MessageID, m.Subject, m.Author}
	for _, one := range slices.Concat(m.From, m.To) {
		all = append(all, one.Address, one.Name)
	}
	for _, values := range m.Headers {
		all = append(all, values...)
	}
	for _, text := range all {
		if clean(text) != text {
			t.Errorf("%q", text)
		}
	}
}

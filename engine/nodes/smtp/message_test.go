package smtp

import (
	"bytes"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"slices"
	"strings"
	"testing"
	"time"

	"blueprintd/blueprint"
)

// read parses a message as its receiver does, and checks its form on the way.
func readMail(t testing.TB, data []byte) (header mail.Header, text, html string) {
	t.Helper()
	for line := range strings.SplitSeq(strings.TrimSuffix(string(data), "\r\n"), "\r\n") {
		if len(line) > maxHeaderLine && !strings.HasPrefix(line, " <") && !strings.Contains(line, "@") {
			t.Errorf("a line of %d bytes: %q", len(line), line)
		}
		if len(line) > 998 || strings.ContainsAny(line, "\r\n\x00") {
			t.Errorf("a line that may not be: %q", line)
		}
	}
	message, err := mail.ReadMessage(bytes.NewReader(data))
	if err != nil {
		t.Fatalf("%v in\n%s", err, data)
	}
	decode := func(r io.Reader) string {
		out, err := io.ReadAll(quotedprintable.NewReader(r))
		if err != nil {
			t.Error(err)
		}
		return string(out)
	}
	kind, parameters, err := mime.ParseMediaType(message.Header.Get("Content-Type"))
	if err != nil {
		t.Error(err)
	}
	if kind == "text/plain" {
		return message.Header, decode(message.Body), ""
	}
	parts := multipart.NewReader(message.Body, parameters["boundary"])
	var list []string
	for _, want := range []string{"text/plain; charset=utf-8", "text/html; charset=utf-8"} {
		part, err := parts.NextRawPart()
		if err != nil || part.Header.Get("Content-Type") != want || part.Header.Get("Content-Transfer-Encoding") != "quoted-printable" {
			t.Fatalf("%v %v, want Content-Type %v and Content-Transfer-Encoding quoted-printable", part, err, want)
		}
		list = append(list, decode(part))
	}
	if _, err := parts.NextRawPart(); err != io.EOF {
		t.Errorf("a third part, %v; want %v", err, io.EOF)
	}
	return message.Header, list[0], list[1]
}

// received is what a text becomes on the way: its line breaks are CR LF.
func lineBreaks(source string) string {
	source = strings.ReplaceAll(strings.ReplaceAll(source, "\r\n", "\n"), "\r", "\n")
	return strings.ReplaceAll(source, "\n", "\r\n")
}

var decoder = &mime.WordDecoder{}

var sentAt = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

// trickySubjects and trickyTexts are what mailers are known to break.
var (
	trickySubjects = []string{
		"", "Hello", "two  spaces", " around ", "Grüße aus Zürich", "日本語の件名はとても長いので、何度も折り返さなければなりません。それでも壊れてはいけません。", "🎉🎉🎉 👩‍👩‍👧‍👦 done",
		"=?utf-8?q?not_encoded?=", "a =? b ?= c", strings.Repeat("word ", 40) + "end", strings.Repeat("x", 900), strings.Repeat("é", 400), "tab\there", "100% of $5 <b> \"quoted\" \\ (comment)",
		"Subject: x", "- -- .", strings.Repeat(" ", 100),
	}
	trickyTexts = []string{
		"", "x", ".", "..", ".\r\n", "a\n.\nb\n..\n.c", "\r\n.\r\nMAIL FROM:<evil@example.org>\r\n", "line\rbreaks\nof\r\nall kinds\n\r", strings.Repeat("long ", 1000), strings.Repeat("日本", 2000),
		"trailing spaces  \nand tabs\t\n", "From here on\n>From there", "=3D is not an equals sign, = is", "--=_boundary--\r\n--=_", "Grüße\u0000\u0007", "no end of line",
	}
)

func TestMessage(t *testing.T) {
	names := []string{"", "Ada", "Ada \"the\" Countess, of \\ Lovelace", "Éva", "=?x?=", "日本語の名前はとても長いので折り返さなければなりませんとても", strings.Repeat("name ", 30)}
	for i, subject := range trickySubjects {
		for j, text := range trickyTexts {
			m := &Message{
				From: mail.Address{Name: names[j%len(names)], Address: "ada@sender.example"}, ID: "<0123@sender.example>", Date: sentAt, Subject: subject, Text: text,
				CC: []mail.Address{{Name: names[i%len(names)], Address: "c@" + strings.Repeat("x.", 100) + "example"}},
			}
			for n := range 30 {
				m.To = append(m.To, mail.Address{Name: names[n%len(names)], Address: strings.Repeat("r", n+1) + "@recipient.example"})
			}
			if i%2 == 0 {
				m.HTML = "<p>" + trickyTexts[(i+j)%len(trickyTexts)] + "</p>"
			}
			data := m.bytes()
			header, gotText, gotHTML := readMail(t, data)
			if got, err := decoder.DecodeHeader(header.Get("Subject")); err != nil || got != strings.TrimRight(subject, " ") && got != subject {
				t.Errorf("subject %q became %q, %v", subject, got, err)
			}
			want := lineBreaks(text)
			if m.HTML == "" && !strings.HasSuffix(gotText, want) && want+"\r\n" != gotText || m.HTML != "" && gotText != want {
				t.Errorf("text %q became %q", want, gotText)
			}
			if gotHTML != lineBreaks(m.HTML) {
				t.Errorf("html %q became %q", m.HTML, gotHTML)
			}
			for key, want := range map[string][]mail.Address{"From": {m.From}, "To": m.To, "Cc": m.CC} {
				t.Run(key, func(t *testing.T) {
					got, err := header.AddressList(key)
					same := slices.EqualFunc(got, want, func(a *mail.Address, b mail.Address) bool { return *a == b })
					if err != nil || !same {
						t.Errorf("%v, %v in\n%s", got, err, data)
					}
				})
			}
			if !isASCII(string(data)) || m.international() {
				t.Error("the message is not ASCII")
			}
		}
	}
}

func TestAddresses(t *testing.T) {
	cases := []struct{ source, want string }{
		{"a@b", "a@b"},
		{"ada@example.org, Name <c@d.org>", "ada@example.org, Name <c@d.org>"},
		{`"Last, First" <a@b.org>,b@c.org`, "Last, First <a@b.org>, b@c.org"},
		{"=?utf-8?q?=C3=89va?= <e@x.org>", "Éva <e@x.org>"},
		{"Éva <éva@bücher.example>", "Éva <éva@bücher.example>"},
		{"a+tag@b.org (Ada)", "Ada <a+tag@b.org>"},
		{"Team: a@b.org, c@d.org;", "a@b.org, c@d.org"},
		{"o'brien@x.org", "o'brien@x.org"},
		{"", "!must be an address"},
		{"Team:;", "!must be an address"},
		{"a@b,, c@d,", "a@b, c@d"},
		{"a@b c@d", "!must be an address"},
		{"ada", "!must be an address"},
		{"a@", "!must be an address"},
		{"@b", "!must be an address"},
		{"<a@b", "!must be an address"},
		{"a@b\r\nRCPT TO:<c@d>", "!must be one line"},
		{"a@b\x00", "!must be one line"},
		{"a\u2028b <a@b>", "!must be one line"},
		{"=?utf-8?q?a=0D=0ABcc?= <a@b>", "!must not have control characters"},
		{`"a b"@c.org`, "!is not a valid address"},
		{`"x@evil.org> "@c.org`, "!is not a valid address"},
		{`"xclow3n@evil.org x"@c.org`, "!is not a valid address"},
		{"a@[127.0.0.1]", "!"},
		{"a@b..c", "!"},
		{"a@-b.org", "!is not a valid address"},
		{"a@b_c.org", "!is not a valid address"},
		{"a..b@c.org", "!"},
		{".a@c.org", "!"},
		{strings.Repeat("a", 65) + "@c.org", "!is not a valid address"},
		{"a@" + strings.Repeat("b", 64) + ".org", "!is not a valid address"},
		{"a@" + strings.Repeat("b.", 130) + "org", "!is not a valid address"},
		{"a\u200e@b.org", "!is not a valid address"},
		{strings.Repeat("a@b,", 30_000), "!is too long"},
		{"\xff@b.org", "!must be one line"},
	}
	for _, c := range cases {
		t.Run(c.want, func(t *testing.T) {
			list, err := ParseAddresses(c.source)
			var parts []string
			for _, one := range list {
				if one.Name != "" {
					one.Address = one.Name + " <" + one.Address + ">"
				}
				parts = append(parts, one.Address)
			}
			got := strings.Join(parts, ", ")
			if part, bad := strings.CutPrefix(c.want, "!"); bad {
				if err == nil || !strings.Contains(err.Error(), part) {
					t.Errorf("%.60q: %q, %v; want an error and %q in it", c.source, got, err, part)
				}
			} else if err != nil || got != c.want {
				t.Errorf("%q: %q, %v, want %q", c.source, got, err, c.want)
			}
		})
	}
}

// FuzzAddresses: whatever is taken for addresses cannot end a line or a command,
// and a header with them says the same.
func FuzzAddresses(f *testing.F) {
	for _, seed := range []string{"a@b", "Ada <a@b.org>, \"x, y\" <c@d>", "=?utf-8?b?w4k=?= <é@ü.example>", "g: a@b, c@d;", "(c) a@b (d)", "\"a>b\"@c", "a@[1.2.3.4]", "<@x,@y:a@b>", "=?utf-8?q?=0A?= <a@b>", "a . b @ c . d"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, source string) {
		list, err := ParseAddresses(source)
		if err != nil {
			return
		}
		for _, one := range list {
			if strings.ContainsAny(one.Address, " \r\n\t<>\"\\(),:;[]\x00") || strings.Count(one.Address, "@") != 1 || !blueprint.IsOneLine(one.Name+one.Address) {
				t.Fatalf("%q returned %+v", source, one)
			}
		}
		m := &Message{From: list[0], To: list, ID: "<0@x>", Date: sentAt}
		header, _, _ := readMail(t, m.bytes())
		got, err := header.AddressList("To")
		if err != nil || !slices.EqualFunc(got, list, func(a *mail.Address, b mail.Address) bool { return *a == b }) {
			t.Fatalf("%q returned %+v, written %q, read %v, %v", source, list, header.Get("To"), got, err)
		}
	})
}

// FuzzMessage: a subject and texts arrive as they were, and nothing in them is
// taken for a header or for the end of the message.
func FuzzMessage(f *testing.F) {
	for i, subject := range trickySubjects {
		f.Add(subject, trickyTexts[i%len(trickyTexts)], "<p>"+subject)
	}
	f.Fuzz(func(t *testing.T, subject, text, html string) {
		if strings.ContainsFunc(subject, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }) || len(subject) > 1000 {
			return
		}
		m := &Message{From: mail.Address{Address: "a@b"}, To: []mail.Address{{Address: "c@d"}}, ID: "<0@x>", Date: sentAt, Subject: subject, Text: text, HTML: html}
		header, gotText, gotHTML := readMail(t, m.bytes())
		want := func(source string) string { return lineBreaks(strings.ToValidUTF8(source, "\uFFFD")) }
		if got, err := decoder.DecodeHeader(header.Get("Subject")); err != nil || got != strings.ToValidUTF8(subject, "\uFFFD") {
			t.Errorf("subject %q became %q, %v; want %v", subject, got, err, strings.ToValidUTF8(subject, "\uFFFD"))
		}
		if html != "" && (gotText != want(text) || gotHTML != want(html)) || html == "" && strings.TrimSuffix(gotText, "\r\n") != strings.TrimSuffix(want(text), "\r\n") {
			t.Errorf("%q %q became %q %q", text, html, gotText, gotHTML)
		}
		if len(header) > 10 {
			t.Errorf("headers %v, want length at most 10", header)
		}
	})
}

package mail

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
)

// crlf returns text with CR LF line endings.
func crlf(text string) []byte { return []byte(strings.ReplaceAll(text, "\n", "\r\n")) }

func TestParse(t *testing.T) {
	for name, test := range map[string]struct {
		message string
		want    string // text | html | attachments as name:type:size
	}{
		"nothing":                          {"", "||"},
		"no header":                        {"\nhello\n", "hello\n||"},
		"no end of the header":             {"Subject: x", "||"},
		"only text":                        {"Subject: x\n\none\ntwo\n", "one\ntwo\n||"},
		"HTML alone":                       {"Content-Type: text/html; charset=utf-8\n\n<p>", "|<p>|"},
		"a charset":                        {"Content-Type: text/plain; charset=windows-1252\nContent-Transfer-Encoding: quoted-printable\n\n=80 =E4", "€ ä||"},
		"a Japanese charset":               {"Content-Type: text/plain; charset=iso-2022-jp\n\n\x1b$B$3\x1b(B", "こ||"},
		"HTML that names its charset":      {"Content-Type: text/html\n\n<meta charset=shift_jis><p>\x93\xfa\x96\x7b", "|<meta charset=shift_jis><p>日本|"},
		"HTML in seven bits":               {"Content-Type: text/html\n\n<meta http-equiv=Content-Type content='text/html; charset=iso-2022-jp'>\x1b$B$3\x1b(B", "|<meta http-equiv=Content-Type content='text/html; charset=iso-2022-jp'>こ|"},
		"HTML that is UTF-8 after all":     {"Content-Type: text/html\n\n<meta charset=iso-8859-1>ä", "|<meta charset=iso-8859-1>ä|"},
		"HTML that names none":             {"Content-Type: text/html\n\n<p>\xe4", "|<p>ä|"},
		"HTML in Shift-JIS":                {"Content-Type: text/html; charset=Shift_JIS\n\n\x93\xfa", "|日|"},
		"no charset, Latin 1":              {"Subject: x\n\nGr\xfc\xdfe", "Grüße||"},
		"an unknown charset":               {"Content-Type: text/plain; charset=klingon\n\nnuqneH \xe4", "nuqneH ä||"},
		"an unknown encoding":              {"Content-Transfer-Encoding: rot13\n\nuryyb", "uryyb||"},
		"base64 that breaks off":           {"Content-Transfer-Encoding: base64\n\naGVsbG8gdGhlcmU", "hello there||"},
		"base64 with blanks":               {"Content-Transfer-Encoding: BASE64 \n\n aGVs\tbG8= \n", "hello||"},
		"base64 with dirt":                 {"Content-Transfer-Encoding: base64\n\naGVsbG8h!!!!", "hello!||"},
		"quoted-printable that breaks off": {"Content-Transfer-Encoding: quoted-printable\n\na=3Db=", "a=b||"},
		"alternatives":                     {"Content-Type: multipart/alternative; boundary=\"b b\"\n\npreamble\n--b b\n\ntext\n--b b\nContent-Type: text/html\n\n<p>\n--b b--\nepilogue", "text|<p>|"},
		"an attachment":                    {"Content-Type: multipart/mixed; boundary=b\n\n--b\n\ntext\n--b\nContent-Type: image/png\nContent-Disposition: attachment; filename=a.png\nContent-Transfer-Encoding: base64\n\nAAEC\n--b--\n", "text||a.png:image/png:3"},
		"a text as an attachment":          {"Content-Type: multipart/mixed; boundary=b\n\n--b\n\ntext\n--b\nContent-Disposition: ATTACHMENT; filename=\"a.txt\"\n\nattached\n--b--\n", "text||a.txt:text/plain:8"},
		"an attachment keeps its charset":  {"Content-Type: text/csv; charset=iso-8859-1; name=a.csv\n\n\xe4", "||a.csv:text/csv:1"},
		"two texts":                        {"Content-Type: multipart/mixed; boundary=b\n\n--b\n\none\n--b\n\ntwo\n--b--\n", "one\ntwo||"},
		"no name":                          {"Content-Type: application/pdf\n\n%PDF", "||part-1.pdf:application/pdf:4"},
		"a mail within":                    {"Content-Type: message/rfc822\n\nSubject: inner\n\nx", "||part-1.eml:message/rfc822:19"},
		"a digest":                         {"Content-Type: multipart/digest; boundary=b\n\n--b\n\nSubject: inner\n\nx\n--b--\n", "||part-1.eml:message/rfc822:19"},
		"nested":                           {"Content-Type: multipart/mixed; boundary=a\n\n--a\nContent-Type: multipart/related; boundary=b\n\n--b\nContent-Type: text/html\n\n<p>\n--b\nContent-Type: image/gif; name=x.gif\n\nGIF\n--b--\n--a\n\ntext\n--a--\n", "text|<p>|x.gif:image/gif:3"},
		"no end of the parts":              {"Content-Type: multipart/mixed; boundary=b\n\n--b\n\ntext\n", "text\n||"},
		"a boundary that never comes":      {"Content-Type: multipart/mixed; boundary=b\n\ntext", "text||"},
		"no boundary":                      {"Content-Type: multipart/mixed\n\ntext", "text||"},
		"a boundary within a line":         {"Content-Type: multipart/mixed; boundary=b\n\n--b\n\nx --b\n--bc\n--b\t\n\ny\n--b--", "x --b\n--bc\ny||"},
		"an encoded name":                  {"Content-Type: image/png; name=\"=?utf-8?q?=C3=A4.png?=\"\n\nx", "||ä.png:image/png:1"},
		"a name in pieces":                 {"Content-Type: image/png\nContent-Disposition: attachment; filename*0*=utf-8''%C3%A4; filename*1=b.png\n\nx", "||äb.png:image/png:1"},
		"a name with a folder":             {"Content-Type: image/png; name=\"../../etc/passwd\"\n\nx", "||passwd:image/png:1"},
		"a name with a drive":              {"Content-Type: image/png; name=\"C:\\\\x\\\\y.png\"\n\nx", "||y.png:image/png:1"},
		"a name that turns around":         {"Content-Type: image/png; name=\"=?utf-8?b?YeKArmIucG5n?=\"\n\nx", "||ab.png:image/png:1"},
		"a name that is none":              {"Content-Type: image/png; name=\"..\"\n\nx", "||part-1.png:image/png:1"},
		"no media type at all":             {"Content-Type: ;;;\n\nx", "||part-1:application/octet-stream:1"},
		"a broken media type":              {"Content-Type: text/plain; charset=\"utf-8; x\n\nhello", "hello||"},
		"lines that are no fields":         {"Subject: x\nthis is none\n: nor this\nContent-Type: text/html\n\n<p>", "|<p>|"},
		"a NUL":                            {"\na\x00b", "ab||"},
		"control characters":               {"Content-Type: multipart/mixed; boundary=b\n\n--b\n\na\x01\x1b[2J\tb\x7f\xc2\x9b\nc\n--b\nContent-Type: text/html\n\n\x02<p>\n--b--\n", "a[2J\tb\nc|<p>|"},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := Parse(crlf(test.message))
			if err != nil {
				t.Fatal(err)
			}
			var files []string
			for _, file := range m.Attachments {
				files = append(files, fmt.Sprintf("%s:%s:%d", file.Name, file.ContentType, file.Size))
				content, err := Open(crlf(test.message), file.Part)
				if err != nil || int64(len(content)) != file.Size {
					t.Errorf("part %d: %q, %v; want %v", file.Part, content, err, file.Size)
				}
			}
			if got := m.Text + "|" + m.HTML + "|" + strings.Join(files, " "); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

func TestFields(t *testing.T) {
	m, err := Parse(crlf("From: \"L=F6we, =?utf-8?q?Ada?=\" <Ada@example.org>\nTO: a@example.org,\n\t=?iso-8859-1?q?J=FCrg?= <b@example.org>, c d <c@example.org>\nTo: undisclosed-recipients:;\n" +
		"Subject: =?utf-8?b?R3LDvMOf?=\n =?utf-8?q?_e?=\nMessage-ID:  <x@y> \nDate: Tue, 3 Mar 2026 04:05:06 -0700 (MST)\nX-Raw: Gr\xfc\xdfe\n\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := []any{"Grüß e", "<x@y>", time.Date(2026, 3, 3, 11, 5, 6, 0, time.UTC), "Ada@example.org", []string{"Grüße"}, 2}
	if diff := cmp.Diff(want, []any{m.Subject, m.MessageID, m.Date, m.Author, m.Headers["x-raw"], len(m.Headers["to"])}); diff != "" {
		t.Errorf("subject, id, date, author, x-raw and number of to (-want +got):\n%s", diff)
	}
	if got := fmt.Sprint(m.To); got != "[{a@example.org } {b@example.org Jürg} {c@example.org c d}]" {
		t.Error(got)
	}
	for value, want := range map[string]string{ // address of the author, all addresses
		"a@b.c": "a@b.c [a@b.c]", "a@b.c, d@e.f": " [a@b.c d@e.f]", "broken <a@b.c": " [a@b.c]", "nobody": " []", "": " []", "\"a@b.c\" <d@e.f>": "d@e.f [d@e.f]", "<a@b@c.d>": " [a@b]", "a@b.c <d@e.f>": " [a@b.c d@e.f]",
	} {
		t.Run(value, func(t *testing.T) {
			m, _ := Parse(crlf("From: " + value + "\n\n"))
			var all []string
			for _, one := range m.From {
				all = append(all, one.Address)
			}
			if got := fmt.Sprintf("%s %v", m.Author, all); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		})
	}
	if m, _ := Parse(crlf("Date: yesterday\nMessage-ID: " + strings.Repeat("x", 2000) + "\n\n")); !m.Date.IsZero() || m.MessageID != "" {
		t.Errorf("%+v", m)
	}
}

// TestLimits tests messages at and just beyond the limits.
func TestLimits(t *testing.T) {
	parts := func(n int) string {
		return "Content-Type: multipart/mixed; boundary=b\n\n" + strings.Repeat("--b\n\nx\n", n) + "--b--\n"
	}
	nested := func(n int) string {
		text := ""
		for i := range n {
			text += fmt.Sprintf("Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n", i, i)
		}
		return text + "\nx"
	}
	for name, test := range map[string]struct {
		message string
		refused bool
	}{
		"parts":            {parts(maxParts - 1), false}, // and the whole
		"too many parts":   {parts(maxParts), true},
		"very many parts":  {parts(100_000), true},
		"levels":           {nested(maxDepth), false},
		"too many levels":  {nested(maxDepth + 1), true},
		"very many levels": {nested(1000), true},
		"fields":           {strings.Repeat("X: y\n", maxFields) + "\n", false},
		"too many fields":  {strings.Repeat("X: y\n", maxFields+1) + "\n", true},
		"a header":         {"X: " + strings.Repeat("x", maxHeader-10) + "\n\n", false},
		"too large":        {"X: " + strings.Repeat("x", maxHeader) + "\n\n", true},
		"never ends":       {"X: " + strings.Repeat(" x\n", maxHeader), true},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse(crlf(test.message))
			if refused := err != nil; refused != test.refused || refused && blueprint.CodeOf(err) != blueprint.CodeBadRequest {
				t.Errorf("got %v, want refused %v", err, test.refused)
			}
		})
	}
	m, err := Parse(append(crlf("Content-Type: text/plain\n\n"), bytes.Repeat([]byte("x"), maxText)...))
	if err != nil || len(m.Text) != maxText || len(m.Attachments) != 0 {
		t.Errorf("%d bytes of text, %v; want %v and none", len(m.Text), err, maxText)
	}
	m, err = Parse(append(crlf("Content-Type: text/plain\n\n"), bytes.Repeat([]byte("x"), maxText+1)...))
	if err != nil || m.Text != "" || len(m.Attachments) != 1 {
		t.Fatalf("%d bytes of text, %+v, %v; want one attachment and no text", len(m.Text), m.Attachments, err)
	}
	if a := m.Attachments[0]; a.Name != "part-1.txt" || a.Size != maxText+1 {
		t.Errorf("attachment %+v, want part-1.txt of %d bytes", a, maxText+1)
	}
	if _, err := Open([]byte("\r\nx"), 1); blueprint.CodeOf(err) != blueprint.CodeNotFound {
		t.Errorf("%v, want %v", err, blueprint.CodeNotFound)
	}
}

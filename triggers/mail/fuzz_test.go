package mail

import (
	"strings"
	"testing"
	"unicode/utf8"

	"blueprintd/blueprint"
)

// FuzzParse tests that every message is parsed or refused, that texts are valid
// UTF-8, and that each attachment has its reported size.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"", "\r\n", "Subject: x\r\n\r\nhello\r\n", "From: =?utf-8?q?=C3=A4?= <a@b.c>\r\nTo: a@b.c, \"x, y\" <d@e.f>\r\nDate: Mon, 2 Mar 2026 10:30:00 +0100\r\n\r\n",
		"Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\none\r\n--b\r\nContent-Type: multipart/alternative; boundary=c\r\n\r\n--c\r\nContent-Type: text/html; charset=iso-8859-1\r\n\r\n\xe4\r\n--c--\r\n--b\r\nContent-Disposition: attachment; filename*0*=utf-8''%C3%A4; filename*1=b\r\nContent-Transfer-Encoding: base64\r\n\r\nAAEC\r\n--b--\r\n",
		"Content-Type: text/plain; charset=utf-7\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n=zz=\r\n=", "Content-Type: message/rfc822\r\n\r\nSubject: y\r\n\r\nz", "Content-Type: multipart/digest; boundary=\"\"\r\n\r\n--\r\n",
		"Message-ID: <a@b>\r\nFrom: <a@b@c>\r\nFrom: (c) d <e@f>\r\n x\r\n\r\n--b", "Content-Type: text/plain; charset=iso-2022-jp\r\n\r\n\x1b$B$3", "Content-Transfer-Encoding: base64\r\n\r\naGVsbG8\r\n\x00=",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, err := Parse(raw)
		if err != nil {
			if m != nil || blueprint.CodeOf(err) != blueprint.CodeBadRequest {
				t.Fatalf("%v, want nil and %v", err, blueprint.CodeBadRequest)
			}
			return
		}
		texts := []string{m.MessageID, m.Author, m.Subject, m.Text, m.HTML}
		for _, one := range append(m.From, m.To...) {
			texts = append(texts, one.Address, one.Name)
		}
		for name, values := range m.Headers {
			texts = append(append(texts, name), values...)
		}
		for _, file := range m.Attachments {
			texts = append(texts, file.Name, file.ContentType)
			content, err := Open(raw, file.Part)
			if err != nil || int64(len(content)) != file.Size {
				t.Errorf("part %d has %d bytes, not %d: %v", file.Part, len(content), file.Size, err)
			}
			if file.Name == "" || strings.ContainsAny(file.Name, "/\\\r\n\x00") || len(file.Name) > maxFilename {
				t.Errorf("the name %q", file.Name)
			}
		}
		for _, text := range texts {
			if !utf8.ValidString(text) {
				t.Errorf("%q is no text", text)
			}
		}
		if len(m.Text) > maxText || len(m.HTML) > maxText {
			t.Errorf("%d and %d bytes, want at most %v and at most %v", len(m.Text), len(m.HTML), maxText, maxText)
		}
	})
}

// FuzzRecipient: what is taken is the plain address of a mailbox and nothing
// else, and the library reads the same in it.
func FuzzRecipient(f *testing.F) {
	for _, seed := range []string{"<abc@flows.example.org>", " <ABC@FLOWS.EXAMPLE.ORG> NOTIFY=NEVER", "<@a:abc@flows.example.org>", `<"abc"@flows.example.org>`, "<a%b@flows.example.org>", "<abc@flows.example.org", "abc@flows.example.org", "<a@b@flows.example.org>", "<>", "<\xff@flows.example.org>"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, path string) {
		if !isPlainRecipient("TO:" + path) {
			return
		}
		inside, _, _ := strings.Cut(strings.TrimLeft(path, " "), ">")
		local, ok := localPart(strings.TrimPrefix(inside, "<"), "flows.example.org")
		if !ok {
			return
		}
		if !strings.EqualFold(local+"@flows.example.org", strings.TrimPrefix(inside, "<")) || strings.Trim(local, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
			t.Errorf("%q is %q", path, local)
		}
	})
}

// FuzzReception tests that a message ends at the first CR LF . CR LF after whole
// lines, and that what is passed on has only CR LF line endings.
func FuzzReception(f *testing.F) {
	for _, seed := range []string{".\r\n", "a\r\n.\r\n", "a\n.\r\nb\r\n.\r\n", "..\r\n.\r\n", "\r\r\n.\r\n", ".\r.\r\n\r\n.\r\n", "a\r\n..b\r\n.\r\nQUIT\r\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, sent []byte) {
		m := &reception{atBreak: true}
		var out []byte
		end := -1
		for i, c := range sent {
			var done bool
			if out, done = m.consume(c, out); done {
				end = i + 1
				break
			}
		}
		if end < 0 {
			return
		}
		if whole := "\r\n" + string(sent[:end]); !strings.HasSuffix(whole, "\r\n.\r\n") {
			t.Fatalf("%q was read as the end", whole)
		}
		if !strings.HasSuffix("\r\n"+string(out), "\r\n.\r\n") || strings.Count("\r\n"+string(out), "\r\n.\r\n") != 1 {
			t.Errorf("passed on: %q", out)
		}
		bare := strings.ReplaceAll(string(sent[:end]), "\r\n", "")
		if hasBare := strings.ContainsAny(bare, "\r\n"); hasBare != (m.defect != "") && end <= maxLine {
			t.Errorf("%q: defect %q", sent[:end], m.defect)
		}
		if m.defect == "" && string(out) != string(sent[:end]) {
			t.Errorf("%q was passed on as %q", sent[:end], out)
		}
	})
}

package smtp

import (
	"bytes"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"net/textproto"
	"slices"
	"strings"
	"time"
)

// Message is one message. All in it has been checked; see parseAddresses.
type Message struct {
	From            mail.Address
	To, CC, ReplyTo []mail.Address
	ID              string // with < and >
	Date            time.Time
	Subject         string
	Text, HTML      string // html "" = none
}

// international tells whether an address that the message shows needs UTF-8 in
// headers (RFC 6532). Everything else is written in ASCII.
func (m *Message) international() bool {
	return slices.ContainsFunc(slices.Concat([]mail.Address{m.From}, m.To, m.CC, m.ReplyTo), func(one mail.Address) bool { return !isASCII(one.Address) })
}

// bytes writes the message (RFC 5322 and 2045): lines that end in CR LF, of at
// most 76 characters but for long addresses, which stand alone on theirs.
func (m *Message) bytes() []byte {
	var out bytes.Buffer
	writeHeader(&out, "From", addressWords([]mail.Address{m.From}))
	if len(m.ReplyTo) > 0 {
		writeHeader(&out, "Reply-To", addressWords(m.ReplyTo))
	}
	writeHeader(&out, "To", addressWords(m.To))
	if len(m.CC) > 0 {
		writeHeader(&out, "Cc", addressWords(m.CC))
	}
	writeHeader(&out, "Subject", textWords(m.Subject))
	writeHeader(&out, "Date", []string{m.Date.Format(time.RFC1123Z)})
	writeHeader(&out, "Message-ID", []string{m.ID})
	writeHeader(&out, "Auto-Submitted", []string{"auto-generated"}) // nobody's holiday notice answers it (RFC 3834)
	writeHeader(&out, "MIME-Version", []string{"1.0"})
	if m.HTML == "" {
		writeHeader(&out, "Content-Type", []string{"text/plain;", "charset=utf-8"})
		writeHeader(&out, "Content-Transfer-Encoding", []string{"quoted-printable"})
		out.WriteString("\r\n")
		writeText(&out, m.Text)
		if !bytes.HasSuffix(out.Bytes(), []byte("\r\n")) {
			out.WriteString("\r\n")
		}
		return out.Bytes()
	}
	parts := multipart.NewWriter(&out)
	// No text that is quoted-printable holds "=_".
	boundary := "=_" + strings.Trim(m.ID[:strings.IndexByte(m.ID, '@')], "<")
	parts.SetBoundary(boundary)
	writeHeader(&out, "Content-Type", []string{"multipart/alternative;", `boundary="` + boundary + `"`})
	out.WriteString("\r\n")
	for _, part := range []struct{ kind, source string }{{"text/plain", m.Text}, {"text/html", m.HTML}} { // the better one comes last
		header := textproto.MIMEHeader{"Content-Type": {part.kind + "; charset=utf-8"}, "Content-Transfer-Encoding": {"quoted-printable"}}
		if _, err := parts.CreatePart(header); err == nil { // a buffer takes everything
			writeText(&out, part.source)
		}
	}
	parts.Close()
	return out.Bytes()
}

var oneLineBreak = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// writeText writes a text as quoted-printable lines. Its line breaks are made
// one first: the writer forgets the LF of a CR, a letter beyond ASCII and a LF.
func writeText(out *bytes.Buffer, source string) {
	w := quotedprintable.NewWriter(out)
	w.Write([]byte(oneLineBreak.Replace(strings.ToValidUTF8(source, "\uFFFD"))))
	w.Close()
}

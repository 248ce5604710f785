package smtp

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"net/textproto"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"blueprintd/blueprint"
)

// Message is a message with valid fields; see ParseAddresses.
type Message struct {
	From            mail.Address
	To, CC, ReplyTo []mail.Address
	ID              string // with < and >
	Date            time.Time
	Subject         string
	Text, HTML      string // HTML "" = none
}

// international reports whether an address needs UTF-8 in headers (RFC 6532).
// Everything else is encoded as ASCII.
func (m *Message) international() bool {
	return slices.ContainsFunc(slices.Concat([]mail.Address{m.From}, m.To, m.CC, m.ReplyTo), func(one mail.Address) bool { return !isASCII(one.Address) })
}

// bytes returns the message (RFC 5322 and 2045) with CRLF line ends and lines of at
// most 76 characters, except for long addresses, which have their own lines.
func (m *Message) bytes() []byte {
	var out bytes.Buffer
	writeHeader(&out, "From", addressWords([]mail.Address{m.From})...)
	if len(m.ReplyTo) > 0 {
		writeHeader(&out, "Reply-To", addressWords(m.ReplyTo)...)
	}
	writeHeader(&out, "To", addressWords(m.To)...)
	if len(m.CC) > 0 {
		writeHeader(&out, "Cc", addressWords(m.CC)...)
	}
	writeHeader(&out, "Subject", textWords(m.Subject)...)
	writeHeader(&out, "Date", m.Date.Format(time.RFC1123Z))
	writeHeader(&out, "Message-ID", m.ID)
	writeHeader(&out, "Auto-Submitted", "auto-generated") // no automatic replies (RFC 3834)
	writeHeader(&out, "MIME-Version", "1.0")
	if m.HTML == "" {
		writeHeader(&out, "Content-Type", "text/plain;", "charset=utf-8")
		writeHeader(&out, "Content-Transfer-Encoding", "quoted-printable")
		out.WriteString("\r\n")
		writeText(&out, m.Text)
		if !bytes.HasSuffix(out.Bytes(), []byte("\r\n")) {
			out.WriteString("\r\n")
		}
		return out.Bytes()
	}
	parts := multipart.NewWriter(&out)
	// Quoted-printable text cannot contain "=_".
	boundary := "=_" + strings.Trim(m.ID[:strings.IndexByte(m.ID, '@')], "<")
	parts.SetBoundary(boundary)
	writeHeader(&out, "Content-Type", "multipart/alternative;", `boundary="`+boundary+`"`)
	out.WriteString("\r\n")
	for _, part := range []struct{ kind, source string }{{"text/plain", m.Text}, {"text/html", m.HTML}} { // the preferred one last
		header := textproto.MIMEHeader{"Content-Type": {part.kind + "; charset=utf-8"}, "Content-Transfer-Encoding": {"quoted-printable"}}
		if _, err := parts.CreatePart(header); err == nil { // writing to a buffer does not fail
			writeText(&out, part.source)
		}
	}
	parts.Close()
	return out.Bytes()
}

var oneLineBreak = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// writeText writes a text as quoted-printable lines. Line breaks are normalized first:
// the writer loses the LF of a CR, a non-ASCII letter and a LF.
func writeText(out *bytes.Buffer, source string) {
	w := quotedprintable.NewWriter(out)
	w.Write([]byte(oneLineBreak.Replace(strings.ToValidUTF8(source, "\uFFFD"))))
	w.Close()
}

const (
	// maxHeaderLine bounds lines with encoded words.
	maxHeaderLine = 76
	// maxPlainWord bounds unencoded words, so that a header's name fits beside them.
	maxPlainWord = 60
	// maxEncoded bounds the bytes in an encoded word: 52 of base64 and 12 around them.
	maxEncoded = 39
)

// writeHeader writes a header, with line breaks between words where necessary.
func writeHeader(out *bytes.Buffer, name string, words ...string) {
	out.WriteString(name)
	out.WriteByte(':')
	column := len(name) + 1
	for i, word := range words {
		if i > 0 && column+1+len(word) > maxHeaderLine {
			out.WriteString("\r\n")
			column = 0
		}
		if word != "" || i > 0 {
			out.WriteByte(' ')
			out.WriteString(word)
			column += 1 + len(word)
		}
	}
	out.WriteString("\r\n")
}

// textWords returns the words of a header text, encoded (RFC 2047) where necessary.
func textWords(source string) []string {
	words := strings.Split(source, " ")
	if source == "" {
		return words
	}
	for _, word := range words {
		// Repeated and trailing spaces may be lost on the way.
		if word == "" || len(word) > maxPlainWord || strings.Contains(word, "=?") || !isPrintable(word) {
			return encodedWords(source)
		}
	}
	return words
}

// encodedWords encodes a text in words of whole characters.
func encodedWords(source string) (words []string) {
	source = strings.ToValidUTF8(source, "\uFFFD")
	for source != "" {
		end := min(maxEncoded, len(source))
		for end < len(source) && !utf8.RuneStart(source[end]) {
			end--
		}
		words = append(words, "=?utf-8?b?"+base64.StdEncoding.EncodeToString([]byte(source[:end]))+"?=")
		source = source[end:]
	}
	return words
}

func addressWords(list []mail.Address) (words []string) {
	for i, one := range list {
		address := one.Address
		if one.Name != "" {
			words = append(words, nameWords(one.Name)...)
			address = "<" + address + ">"
		}
		if i < len(list)-1 {
			address += ","
		}
		words = append(words, address)
	}
	return words
}

func nameWords(name string) []string {
	if len(name) > maxPlainWord || strings.Contains(name, "=?") || !isPrintable(strings.ReplaceAll(name, " ", "")) {
		return encodedWords(name)
	}
	return []string{`"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(name) + `"`}
}

// isPrintable reports whether a text is of visible ASCII characters.
func isPrintable(source string) bool {
	return !strings.ContainsFunc(source, func(c rune) bool { return c <= ' ' || c >= 0x7f })
}

var errAddress = errors.New("must be an address such as ada@example.org or Ada <ada@example.org>, or several with commas between")

// ParseAddresses parses comma-separated addresses. The result is safe in headers and
// SMTP commands: it needs no quotes, has no line breaks, and cannot be parsed as two
// addresses.
func ParseAddresses(source string) ([]mail.Address, error) {
	if len(source) > maxAddressList {
		return nil, errors.New("is too long")
	}
	if !blueprint.IsOneLine(source) {
		return nil, errors.New("must be one line without control characters")
	}
	list, err := mail.ParseAddressList(source)
	if err != nil || len(list) == 0 { // a group may be empty
		return nil, errAddress
	}
	all := make([]mail.Address, len(list))
	for i, one := range list {
		if problem := addressProblem(one.Address); problem != "" {
			return nil, fmt.Errorf("%q is not a valid address: %s", one.Address, problem)
		}
		if !blueprint.IsOneLine(one.Name) {
			return nil, errors.New("must not have control characters in a name")
		}
		all[i] = *one
	}
	return all, nil
}

// addressProblem returns why an address cannot be used, "" when it can. Quoted local
// parts are rare, and servers have parsed them differently.
func addressProblem(address string) string {
	at := strings.LastIndexByte(address, '@')
	if at < 0 {
		return "there is no @ in it"
	}
	local, domain := address[:at], address[at+1:]
	switch {
	case local == "" || domain == "":
		return "something is missing before or after the @"
	case len(local) > 64 || len(domain) > 253:
		return "it is too long"
	case strings.HasPrefix(local, ".") || strings.HasSuffix(local, ".") || strings.Contains(local, ".."):
		return "a dot is out of place"
	case strings.ContainsFunc(local, notInLocal):
		return "before the @ there is a character that would need quotes"
	}
	for label := range strings.SplitSeq(domain, ".") {
		switch {
		case label == "" || len(label) > 63:
			return "its domain has a part that is empty or too long"
		case strings.HasPrefix(label, "-") || strings.HasSuffix(label, "-") || strings.ContainsFunc(label, notInDomain):
			return "its domain is not a host name"
		}
	}
	return ""
}

func notInLocal(c rune) bool {
	switch {
	case isLetterOrDigit(c):
		return false
	case c < utf8.RuneSelf:
		return !strings.ContainsRune("!#$%&'*+-/=?^_`{|}~.", c)
	default:
		return c == utf8.RuneError || unicode.IsSpace(c) || !unicode.IsGraphic(c)
	}
}

func notInDomain(c rune) bool {
	if c < utf8.RuneSelf {
		return !isLetterOrDigit(c) && c != '-'
	}
	return !unicode.IsLetter(c) && !unicode.IsMark(c) && !unicode.IsDigit(c)
}

func isLetterOrDigit(c rune) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

func isASCII(source string) bool {
	return !strings.ContainsFunc(source, func(c rune) bool { return c >= utf8.RuneSelf })
}

// maxAddressList bounds a list of addresses, in bytes.
const maxAddressList = 100 << 10

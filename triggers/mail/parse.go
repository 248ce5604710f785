package mail

import (
	"errors"
	"io"
	"mime"
	"net/mail"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/emersion/go-message"
	"github.com/emersion/go-message/charset"
	fields "github.com/emersion/go-message/mail"

	"blueprintd/blueprint"
)

// What a message may have.
const (
	maxHeader = 64 << 10 // bytes of a header
	maxFields = 200      // of a header
	maxParts  = 100
	maxDepth  = 10
	maxText   = 1 << 20 // bytes of text, and of HTML, that are handed over as such
)

// Parse reads a message. Whatever is wrong with it, what can be read is there;
// only what is beyond the limits of this package is refused: CodeBadRequest.
// Attachments are numbered as Open counts the parts.
func Parse(raw []byte) (*blueprint.Mail, error) {
	leaves, root, err := read(raw)
	if err != nil {
		return nil, err
	}
	m := &blueprint.Mail{Headers: texts(root)}
	readFields(m, root)
	for i, leaf := range leaves {
		into := leaf.body(m)
		if into == nil || !leaf.addTo(into) {
			m.Attachments = append(m.Attachments, leaf.file(i))
		}
	}
	return m, nil
}

// Open returns the bytes of a part of a message, decoded: CodeNotFound when there
// is none of that number, CodeBadRequest as with Parse.
func Open(raw []byte, part int) ([]byte, error) {
	leaves, _, err := read(raw)
	if err != nil {
		return nil, err
	}
	if part < 0 || part >= len(leaves) {
		return nil, blueprint.Errorf(blueprint.CodeNotFound, "the mail has no part %d", part)
	}
	return leaves[part].bytes(), nil
}

// read takes a message apart: the parts that have none of their own, from the
// top down, and the header of the whole.
func read(raw []byte) ([]*leaf, message.Header, error) {
	root, body, err := splitHeader(raw)
	if err != nil {
		return nil, root, err
	}
	w := &walker{}
	err = w.walk(root, body, "text/plain", 0)
	return w.leaves, root, err
}

// walker gathers the leaves of a message.
type walker struct {
	leaves []*leaf
	seen   int // parts, those that have parts among them
}

func (w *walker) walk(header message.Header, body []byte, otherwise string, depth int) error {
	if w.seen++; w.seen > maxParts {
		return blueprint.Errorf(blueprint.CodeBadRequest, "the mail has more than %d parts", maxParts)
	}
	if depth > maxDepth {
		return blueprint.Errorf(blueprint.CodeBadRequest, "the mail has parts within parts more than %d levels deep", maxDepth)
	}
	kind, parameters := contentType(header, otherwise)
	var parts [][]byte
	if strings.HasPrefix(kind, "multipart/") {
		parts = split(body, parameters["boundary"])
		otherwise = "text/plain"
		if kind == "multipart/digest" {
			otherwise = "message/rfc822"
		}
	}
	if len(parts) == 0 { // without parts it is what it looks like
		if strings.HasPrefix(kind, "multipart/") {
			kind = "text/plain"
		}
		w.leaves = append(w.leaves, &leaf{header: header, kind: kind, parameters: parameters, raw: body})
		return nil
	}
	for _, part := range parts {
		header, body, err := splitHeader(part)
		if err == nil {
			err = w.walk(header, body, otherwise, depth+1)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

const (
	maxAddress = 320 // bytes
	maxName    = 1000
	maxID      = 1000
)

// readFields fills in what the header of a message says.
func readFields(m *blueprint.Mail, root message.Header) {
	header := fields.Header{Header: root}
	m.Subject = decoded(root.Get("Subject"))
	if id := root.Get("Message-Id"); len(id) <= maxID {
		m.MessageID = strings.TrimSpace(decoded(id))
	}
	m.Date, _ = header.Date()
	from := root.Values("From")
	var sure bool
	for _, value := range from {
		var found []blueprint.MailAddress
		found, sure = addresses(value)
		m.From = append(m.From, found...)
	}
	if len(from) == 1 && sure && len(m.From) == 1 && strings.Count(m.From[0].Address, "@") == 1 {
		m.Author = m.From[0].Address
	}
	for _, value := range root.Values("To") {
		found, _ := addresses(value)
		m.To = append(m.To, found...)
	}
}

// texts returns all fields of a header, names in lower case.
func texts(header message.Header) map[string][]string {
	all := map[string][]string{}
	for field := header.Fields(); field.Next(); {
		name := strings.ToLower(field.Key())
		all[name] = append(all[name], decoded(field.Value()))
	}
	return all
}

// something@somewhere, for what is no list of addresses.
var looksLikeAddress = regexp.MustCompile(`[^\s<>,;:"()\[\]@]+@[^\s<>,;:"()\[\]@]+`)

// addresses reads a list of addresses. Sure is false when it had to guess.
func addresses(value string) (list []blueprint.MailAddress, sure bool) {
	parser := mail.AddressParser{WordDecoder: wordDecoder()}
	found, err := parser.ParseList(value)
	if err == nil {
		sure = true
		for _, one := range found {
			address := clean(one.Address)
			sure = sure && address == one.Address // what is left may be another's
			list = append(list, blueprint.MailAddress{Address: blueprint.Prefix(address, maxAddress), Name: blueprint.Prefix(clean(one.Name), maxName)})
		}
		return list, sure
	}
	for _, at := range looksLikeAddress.FindAllString(clean(value), -1) {
		list = append(list, blueprint.MailAddress{Address: blueprint.Prefix(at, maxAddress)})
	}
	return list, false
}

// decoded returns a value with its encoded words (RFC 2047) as text; one that
// cannot be decoded stays as it is.
func decoded(value string) string {
	text, err := wordDecoder().DecodeHeader(value)
	if err != nil {
		text = value
	}
	return clean(text)
}

func wordDecoder() *mime.WordDecoder {
	return &mime.WordDecoder{CharsetReader: func(name string, input io.Reader) (io.Reader, error) { return charset.Reader(name, input) }}
}

// toUTF8 reads bytes that are no UTF-8 as Windows-1252, which is what most
// programs that break the rule mean.
func toUTF8(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	reader, err := charset.Reader("windows-1252", strings.NewReader(text))
	if err == nil {
		if all, err := io.ReadAll(reader); err == nil {
			text = string(all)
		}
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

// clean makes valid UTF-8 of one line of text, without what a terminal takes
// for an order, or what shows it in another order than it has.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\r' || r == '\n' || r == '\t' || r == 0:
			return ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
}

// legible takes the control characters out of a text of many lines: nobody
// reads them, and each takes six bytes where the text is stored as JSON.
func legible(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\t' && r != '\r' && r != '\n' {
			return -1
		}
		return r
	}, text)
}

// maxLocal is the length of a local part, in bytes.
const maxLocal = 64

// isPlainRecipient reports whether what stands behind RCPT names a recipient in
// the one form that is understood: TO:<letters and digits@domain>, perhaps with
// blanks before the bracket and parameters behind it. Routes, quotes, comments
// and all that other servers take for a request to pass mail on are not in it.
func isPlainRecipient(argument string) bool {
	const prefix = "TO:"
	if len(argument) < len(prefix) || !strings.EqualFold(argument[:len(prefix)], prefix) {
		return true // no recipient at all: the library says so
	}
	path := strings.TrimLeft(argument[len(prefix):], " ")
	inside, parameters, closed := strings.Cut(path, ">")
	inside, opened := strings.CutPrefix(inside, "<")
	if !opened || !closed || parameters != "" && parameters[0] != ' ' {
		return false
	}
	local, domain, found := strings.Cut(inside, "@")
	return found && isWord(local) && domain != "" && !strings.ContainsFunc(domain, func(r rune) bool {
		return !isWordLetter(r) && r != '.' && r != '-'
	})
}

// localPart returns the local part of an address in the mail domain, in lower
// case.
func localPart(address, domain string) (local string, ok bool) {
	local, behind, found := strings.Cut(address, "@")
	if !found || !strings.EqualFold(behind, domain) || !isWord(local) {
		return "", false
	}
	return strings.ToLower(local), true
}

func isWord(text string) bool {
	return text != "" && len(text) <= maxLocal && !strings.ContainsFunc(text, func(r rune) bool { return !isWordLetter(r) })
}

func isWordLetter(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
}

// refusedBecause is the reason of a refusal, for the sender.
func refusedBecause(err error) string {
	var known *blueprint.Error
	if errors.As(err, &known) {
		return plain(known.Message)
	}
	return "the message cannot be read"
}

package mail

import (
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

// texts gives all fields of a header, names in lower case.
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
			list = append(list, blueprint.MailAddress{Address: short(address, maxAddress), Name: short(clean(one.Name), maxName)})
		}
		return list, sure
	}
	for _, at := range looksLikeAddress.FindAllString(clean(value), -1) {
		list = append(list, blueprint.MailAddress{Address: short(at, maxAddress)})
	}
	return list, false
}

// decoded gives a value with its encoded words (RFC 2047) as text; one that
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

// short bounds a text, at a character's end.
func short(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}

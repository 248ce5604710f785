package mail

import (
	"bytes"
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
	"github.com/emersion/go-message/textproto"

	"blueprintd/blueprint"
)

// Limits of a message.
const (
	maxHeader = 64 << 10 // bytes of one header
	maxFields = 200      // of one header
	maxParts  = 100
	maxDepth  = 10
	maxText   = 1 << 20 // bytes each of text and HTML; longer parts become attachments
)

// Parse parses a message as far as possible. The error is CodeBadRequest: the
// message exceeds a limit of this package. Attachments are numbered as Open counts
// parts.
func Parse(raw []byte) (*blueprint.Mail, error) {
	leaves, root, err := readParts(raw)
	if err != nil {
		return nil, err
	}
	m := &blueprint.Mail{Headers: headerValues(root)}
	readFields(m, root)
	for i, leaf := range leaves {
		body := leaf.body(m)
		if body == nil || !leaf.appendTo(body) {
			m.Attachments = append(m.Attachments, leaf.file(i))
		}
	}
	return m, nil
}

// Open returns the decoded content of a part. Errors: CodeNotFound if there is no
// such part, CodeBadRequest as Parse.
func Open(raw []byte, part int) ([]byte, error) {
	leaves, _, err := readParts(raw)
	if err != nil {
		return nil, err
	}
	if part < 0 || part >= len(leaves) {
		return nil, blueprint.Errorf(blueprint.CodeNotFound, "the mail has no part %d", part)
	}
	content, _ := io.ReadAll(leaves[part].decode(leaves[part].encodingHeader())) // truncated if malformed
	return content, nil
}

// readParts returns the leaf parts of a message in order, and its header.
func readParts(raw []byte) ([]*leaf, message.Header, error) {
	root, body, err := splitHeader(raw)
	if err != nil {
		return nil, root, err
	}
	w := &walker{}
	err = w.walk(root, body, "text/plain", 0)
	return w.leaves, root, err
}

// walker collects the leaf parts of a message.
type walker struct {
	leaves []*leaf
	parts  int // including multiparts
}

// walk visits a part; defaultType applies if its header has no Content-Type.
func (w *walker) walk(header message.Header, body []byte, defaultType string, depth int) error {
	if w.parts++; w.parts > maxParts {
		return blueprint.Errorf(blueprint.CodeBadRequest, "the mail has more than %d parts", maxParts)
	}
	if depth > maxDepth {
		return blueprint.Errorf(blueprint.CodeBadRequest, "the parts of the mail are nested more than %d levels deep", maxDepth)
	}
	mediaType, parameters := contentType(header, defaultType)
	var parts [][]byte
	if strings.HasPrefix(mediaType, "multipart/") {
		parts = splitParts(body, parameters["boundary"])
		defaultType = "text/plain"
		if mediaType == "multipart/digest" {
			defaultType = "message/rfc822"
		}
	}
	if len(parts) == 0 {
		if strings.HasPrefix(mediaType, "multipart/") {
			mediaType = "text/plain"
		}
		w.leaves = append(w.leaves, &leaf{header: header, mediaType: mediaType, parameters: parameters, raw: body})
		return nil
	}
	for _, part := range parts {
		header, body, err := splitHeader(part)
		if err == nil {
			err = w.walk(header, body, defaultType, depth+1)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// splitHeader splits a message or part into header and body. It ignores malformed
// lines of the header. The error is CodeBadRequest: the header exceeds a limit.
func splitHeader(raw []byte) (header message.Header, body []byte, err error) {
	type field struct {
		name  string
		lines []string
	}
	var fields []field
	rest, inField := raw, false
	for len(rest) > 0 {
		line, next := cutLine(rest)
		if len(line) == 0 {
			rest = next
			break
		}
		if len(raw)-len(next) > maxHeader {
			return header, nil, blueprint.Errorf(blueprint.CodeBadRequest, "a header of the mail has more than %d bytes", maxHeader)
		}
		rest = next
		if line[0] == ' ' || line[0] == '\t' {
			if inField {
				last := &fields[len(fields)-1]
				last.lines = append(last.lines, strings.TrimSpace(string(line)))
			}
			continue
		}
		name, value, found := strings.Cut(string(line), ":")
		name = strings.TrimRight(name, " \t")
		if inField = found && isFieldName(name); !inField {
			continue
		}
		if fields = append(fields, field{name, []string{strings.TrimSpace(value)}}); len(fields) > maxFields {
			return header, nil, blueprint.Errorf(blueprint.CodeBadRequest, "a header of the mail has more than %d fields", maxFields)
		}
	}
	var lines textproto.Header
	for i := len(fields) - 1; i >= 0; i-- { // Add prepends
		lines.Add(fields[i].name, toUTF8(strings.Join(fields[i].lines, " ")))
	}
	return message.Header{Header: lines}, rest, nil
}

// cutLine returns the first line of a text, without its line ending.
func cutLine(text []byte) (line, rest []byte) {
	line, rest, _ = bytes.Cut(text, []byte("\n"))
	return bytes.TrimSuffix(line, []byte("\r")), rest
}

func isFieldName(name string) bool {
	return name != "" && len(name) <= 100 && !strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r >= 0x7f })
}

// splitParts returns the parts between the boundaries of a body, none if there is
// no boundary. The closing boundary is optional.
func splitParts(body []byte, boundary string) (parts [][]byte) {
	if boundary == "" {
		return nil
	}
	delimiter := []byte("--" + boundary)
	begin, inside := 0, false
	for at := 0; at < len(body); {
		line, rest := cutLine(body[at:])
		next := len(body) - len(rest)
		suffix, found := bytes.CutPrefix(line, delimiter)
		suffix, last := bytes.CutPrefix(suffix, []byte("--"))
		if !found || len(bytes.Trim(suffix, " \t")) > 0 {
			at = next
			continue
		}
		if inside { // the line ending before a boundary belongs to it
			part := bytes.TrimSuffix(body[begin:at], []byte("\n"))
			parts = append(parts, bytes.TrimSuffix(part, []byte("\r")))
		}
		if begin, inside = next, !last; last || len(parts) > maxParts {
			return parts
		}
		at = next
	}
	if inside && begin < len(body) {
		parts = append(parts, body[begin:])
	}
	return parts
}

const (
	maxAddress = 320 // bytes
	maxName    = 1000
	maxID      = 1000
)

// readFields sets the fields of m that come from the header of the message.
func readFields(m *blueprint.Mail, root message.Header) {
	header := fields.Header{Header: root}
	m.Subject = decoded(root.Get("Subject"))
	if id := root.Get("Message-Id"); len(id) <= maxID {
		m.MessageID = strings.TrimSpace(decoded(id))
	}
	m.Date, _ = header.Date()
	from := root.Values("From")
	var exact bool
	for _, value := range from {
		var list []blueprint.MailAddress
		list, exact = addresses(value)
		m.From = append(m.From, list...)
	}
	if len(from) == 1 && exact && len(m.From) == 1 && strings.Count(m.From[0].Address, "@") == 1 {
		m.Author = m.From[0].Address
	}
	for _, value := range root.Values("To") {
		list, _ := addresses(value)
		m.To = append(m.To, list...)
	}
}

// headerValues returns all fields of a header, by name in lower case.
func headerValues(header message.Header) map[string][]string {
	all := map[string][]string{}
	for field := header.Fields(); field.Next(); {
		name := strings.ToLower(field.Key())
		all[name] = append(all[name], decoded(field.Value()))
	}
	return all
}

// looksLikeAddress finds addresses in a malformed list.
var looksLikeAddress = regexp.MustCompile(`[^\s<>,;:"()\[\]@]+@[^\s<>,;:"()\[\]@]+`)

// addresses parses a list of addresses. Exact is false if the list is malformed or
// an address had to be modified, and so may belong to another sender.
func addresses(value string) (list []blueprint.MailAddress, exact bool) {
	parser := mail.AddressParser{WordDecoder: wordDecoder()}
	parsed, err := parser.ParseList(value)
	if err != nil {
		for _, address := range looksLikeAddress.FindAllString(clean(value), -1) {
			list = append(list, blueprint.MailAddress{Address: blueprint.Prefix(address, maxAddress)})
		}
		return list, false
	}
	exact = true
	for _, one := range parsed {
		address := clean(one.Address)
		exact = exact && address == one.Address
		list = append(list, blueprint.MailAddress{Address: blueprint.Prefix(address, maxAddress), Name: blueprint.Prefix(clean(one.Name), maxName)})
	}
	return list, exact
}

// decoded decodes the encoded words of a value (RFC 2047); a malformed value is
// returned unchanged except for clean.
func decoded(value string) string {
	text, err := wordDecoder().DecodeHeader(value)
	if err != nil {
		text = value
	}
	return clean(text)
}

func wordDecoder() *mime.WordDecoder { return &mime.WordDecoder{CharsetReader: charset.Reader} }

// toUTF8 converts text that is not UTF-8 from Windows-1252, the most common mistake.
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

var lineBreaks = strings.NewReplacer("\r", " ", "\n", " ", "\t", " ", "\x00", " ")

// clean is plain, but replaces line breaks, tabs and NUL with spaces.
func clean(text string) string { return plain(lineBreaks.Replace(text)) }

// withoutControls removes control characters except tabs and line breaks, which
// would take six bytes each when the text is stored as JSON.
func withoutControls(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\t' && r != '\r' && r != '\n' {
			return -1
		}
		return r
	}, text)
}

package mail

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"mime"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/emersion/go-message"
	_ "github.com/emersion/go-message/charset" // message reads all of them then
	"github.com/emersion/go-msgauth/dmarc"
	"golang.org/x/net/html/charset"

	"blueprintd/blueprint"
)

// maxWalk is how many names are asked for one domain.
const maxWalk = 8

// record is a DMARC record.
type record struct {
	*dmarc.Record
	public bool // the domain is one under which others register theirs
}

// tree finds DMARC records by walking from a domain to its parents, and tells
// by them which domains belong together. It keeps what it found.
type tree struct {
	ctx      context.Context
	resolver Resolver
	records  map[string]*record
}

// policy returns the record that holds for a domain: its own, or that of the
// nearest parent that has one; nil when there is none.
func (t *tree) policy(domain string) (*record, error) {
	for _, name := range walk(domain) {
		if found, err := t.at(name); found != nil || err != nil {
			return found, err
		}
	}
	return nil, nil
}

// same reports whether two domains are of one organization.
func (t *tree) same(one, other string) (bool, error) {
	if one == other {
		return true, nil
	}
	first, err := t.organization(one)
	if err != nil {
		return false, err
	}
	second, err := t.organization(other)
	return err == nil && first == second, err
}

// organization returns the highest parent of a domain that has a record, or the
// domain itself when there is none. Below a domain whose record says that
// others register theirs under it, the child on the way is meant.
func (t *tree) organization(domain string) (string, error) {
	highest, child := domain, domain
	for _, name := range walk(domain) {
		found, err := t.at(name)
		switch {
		case err != nil:
			return "", err
		case found != nil && found.public:
			return child, nil
		case found != nil:
			highest = name
		}
		child = name
	}
	return highest, nil
}

// at returns the record of one name, nil when it has none that can be used.
func (t *tree) at(name string) (*record, error) {
	if found, known := t.records[name]; known {
		return found, nil
	}
	texts, err := t.resolver.LookupTXT(t.ctx, "_dmarc."+name)
	if err != nil && !notFound(err) {
		return nil, err
	}
	var found *record
	for _, text := range texts {
		parsed, err := dmarc.Parse(text)
		if err != nil {
			continue
		}
		if found != nil { // several are none
			found = nil
			break
		}
		found = &record{parsed, saysPublic(text)}
	}
	t.records[name] = found
	return found, nil
}

func saysPublic(text string) bool {
	for tag := range strings.SplitSeq(text, ";") {
		name, value, _ := strings.Cut(tag, "=")
		if strings.TrimSpace(name) == "psd" && strings.EqualFold(strings.TrimSpace(value), "y") {
			return true
		}
	}
	return false
}

// walk lists the names to ask for a domain, the longest first: itself, and its
// parents down to two labels. Of very long ones the middle is left out.
func walk(domain string) []string {
	labels := strings.Split(domain, ".")
	names := []string{domain}
	if len(labels) > maxWalk {
		labels = labels[len(labels)-maxWalk+1:]
		names = append(names, strings.Join(labels, "."))
	}
	for len(labels) > 2 {
		labels = labels[1:]
		names = append(names, strings.Join(labels, "."))
	}
	return names
}

// leaf is a part that has none of its own.
type leaf struct {
	header     message.Header
	kind       string // such as "text/plain", in lower case
	parameters map[string]string
	raw        []byte // encoded
}

// contentType returns what a part says it is, in lower case.
func contentType(header message.Header, otherwise string) (kind string, parameters map[string]string) {
	value := header.Get("Content-Type")
	if value == "" {
		return otherwise, nil
	}
	kind, parameters, err := mime.ParseMediaType(value)
	if kind == "" && err != nil { // the parameters may be what is wrong
		kind, _, _ = strings.Cut(value, ";")
		kind = strings.ToLower(strings.TrimSpace(kind))
	}
	if !isKind(kind) {
		kind = "application/octet-stream"
	}
	return kind, parameters
}

func isKind(kind string) bool {
	major, minor, found := strings.Cut(kind, "/")
	return found && major != "" && minor != "" && len(kind) <= 100 && !strings.ContainsFunc(kind, func(r rune) bool {
		return !isWordLetter(r) && !strings.ContainsRune("/+-._", r)
	})
}

// body returns where the text of a part belongs; nil for an attachment.
func (l *leaf) body(m *blueprint.Mail) *string {
	if l.name() != "" || strings.HasPrefix(strings.ToLower(l.header.Get("Content-Disposition")), "attachment") {
		return nil
	}
	switch l.kind {
	case "text/plain":
		return &m.Text
	case "text/html":
		return &m.HTML
	}
	return nil
}

// addTo adds the text of a part to what others said before it; false when that
// would be too much.
func (l *leaf) addTo(text *string) bool {
	decoded, _ := io.ReadAll(io.LimitReader(l.reader(l.asText()), maxText+1))
	said := strings.ReplaceAll(legible(toUTF8(string(decoded))), "\r\n", "\n")
	if *text != "" && !strings.HasSuffix(*text, "\n") {
		said = "\n" + said
	}
	if len(decoded) > maxText || len(*text)+len(said) > maxText {
		return false
	}
	*text += said
	return true
}

// reader decodes the part, and its charset if the header names one. It ends
// early where the encoding is broken.
func (l *leaf) reader(header message.Header) io.Reader {
	entity, err := message.New(header, l.source())
	if err == nil || entity != nil && message.IsUnknownEncoding(err) || entity != nil && message.IsUnknownCharset(err) {
		return entity.Body
	}
	return l.source()
}

// encoding is a header that says of a part how it is encoded, and no more.
func (l *leaf) encoding() (header message.Header) {
	header.Set("Content-Type", "application/octet-stream")
	if how := l.encoded(); how != "base64" {
		header.Set("Content-Transfer-Encoding", how)
	}
	return header
}

// encoded says how a part is encoded, in lower case.
func (l *leaf) encoded() string {
	return strings.ToLower(strings.TrimSpace(l.header.Get("Content-Transfer-Encoding")))
}

// source returns the part as it came, but for base64, which is often broken and
// is read as well as can be.
func (l *leaf) source() io.Reader {
	var source io.Reader = bytes.NewReader(l.raw)
	if l.encoded() == "base64" {
		source = base64.NewDecoder(base64.RawStdEncoding, &letters{source})
	}
	return source
}

// asText is the header of a text.
func (l *leaf) asText() message.Header {
	header := l.encoding()
	set := l.parameters["charset"]
	if set == "" && l.kind == "text/html" {
		set = l.declared()
	}
	if set != "" {
		header.SetContentType("text/plain", map[string]string{"charset": set})
	}
	return header
}

// declared returns the charset that a part in HTML names in itself, "" when it is
// UTF-8 or names none.
func (l *leaf) declared() string {
	html, _ := io.ReadAll(io.LimitReader(l.reader(l.encoding()), maxText+1))
	if utf8.Valid(html) && bytes.ContainsFunc(html, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return "" // and so it is not what it says
	}
	_, name, _ := charset.DetermineEncoding(html, "text/html")
	if name == "utf-8" {
		return ""
	}
	return name
}

// bytes returns the part as it was before it was encoded for its way.
func (l *leaf) bytes() []byte {
	var out bytes.Buffer
	_, _ = out.ReadFrom(l.reader(l.encoding()))
	return out.Bytes()
}

// file describes the part as an attachment.
func (l *leaf) file(part int) blueprint.File {
	size, _ := io.Copy(io.Discard, l.reader(l.encoding()))
	name := l.name()
	if name == "" {
		name = fmt.Sprintf("part-%d%s", part+1, extensions[l.kind])
	}
	return blueprint.File{Part: part, Name: name, ContentType: l.kind, Size: size}
}

// extensions end the names of attachments that have none.
var extensions = map[string]string{
	"message/rfc822": ".eml", "text/calendar": ".ics", "text/csv": ".csv", "text/html": ".html", "text/plain": ".txt",
	"application/pdf": ".pdf", "image/gif": ".gif", "image/jpeg": ".jpg", "image/png": ".png",
}

// maxFilename is the length of an attachment's name, in bytes.
const maxFilename = 200

// name returns the part's name as one of a file without a folder; "" when it has
// none.
func (l *leaf) name() string {
	_, parameters, _ := mime.ParseMediaType(l.header.Get("Content-Disposition"))
	name := parameters["filename"]
	if name == "" {
		name = l.parameters["name"]
	}
	name = decoded(name)
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, name)
	if name = strings.TrimSpace(name); name == "." || name == ".." {
		return ""
	}
	return blueprint.Prefix(name, maxFilename)
}

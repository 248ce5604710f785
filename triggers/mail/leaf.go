package mail

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"fmt"
	"io"
	"mime"
	"strings"
	"unicode/utf8"

	"github.com/emersion/go-message"
	_ "github.com/emersion/go-message/charset" // registers the charsets that message decodes
	"golang.org/x/net/html/charset"

	"blueprintd/blueprint"
)

// leaf is a part that is not a multipart.
type leaf struct {
	header     message.Header
	mediaType  string // such as "text/plain", in lower case
	parameters map[string]string
	raw        []byte // encoded
}

// contentType returns the media type of a part, in lower case.
func contentType(header message.Header, defaultType string) (mediaType string, parameters map[string]string) {
	value := header.Get("Content-Type")
	if value == "" {
		return defaultType, nil
	}
	mediaType, parameters, err := mime.ParseMediaType(value)
	if mediaType == "" && err != nil { // only the parameters may be malformed
		mediaType, _, _ = strings.Cut(value, ";")
		mediaType = strings.ToLower(strings.TrimSpace(mediaType))
	}
	if !isMediaType(mediaType) {
		mediaType = "application/octet-stream"
	}
	return mediaType, parameters
}

func isMediaType(mediaType string) bool {
	major, minor, found := strings.Cut(mediaType, "/")
	return found && major != "" && minor != "" && len(mediaType) <= 100 && !strings.ContainsFunc(mediaType, func(r rune) bool {
		return !isWordLetter(r) && !strings.ContainsRune("/+-._", r)
	})
}

// body returns the field of m that the part belongs to; nil for an attachment.
func (l *leaf) body(m *blueprint.Mail) *string {
	if l.name() != "" || strings.HasPrefix(strings.ToLower(l.header.Get("Content-Disposition")), "attachment") {
		return nil
	}
	switch l.mediaType {
	case "text/plain":
		return &m.Text
	case "text/html":
		return &m.HTML
	}
	return nil
}

// appendTo appends the text of the part to others and reports whether it fits.
func (l *leaf) appendTo(text *string) bool {
	decoded, _ := io.ReadAll(io.LimitReader(l.decode(l.textHeader()), maxText+1))
	addition := strings.ReplaceAll(withoutControls(toUTF8(string(decoded))), "\r\n", "\n")
	if *text != "" && !strings.HasSuffix(*text, "\n") {
		addition = "\n" + addition
	}
	if len(decoded) > maxText || len(*text)+len(addition) > maxText {
		return false
	}
	*text += addition
	return true
}

// decode decodes the part as a header says, which may name an encoding and a
// charset. The result is truncated where the encoding is malformed.
func (l *leaf) decode(header message.Header) io.Reader {
	entity, err := message.New(header, l.source())
	if entity != nil && (err == nil || message.IsUnknownEncoding(err) || message.IsUnknownCharset(err)) {
		return entity.Body
	}
	return l.source()
}

// encodingHeader returns a header with the part's encoding, unless base64, and no charset.
func (l *leaf) encodingHeader() (header message.Header) {
	header.Set("Content-Type", "application/octet-stream")
	if encoding := l.encoding(); encoding != "base64" {
		header.Set("Content-Transfer-Encoding", encoding)
	}
	return header
}

func (l *leaf) encoding() string {
	return strings.ToLower(strings.TrimSpace(l.header.Get("Content-Transfer-Encoding")))
}

// source returns the encoded part. It decodes base64, also malformed input.
func (l *leaf) source() io.Reader {
	if l.encoding() != "base64" {
		return bytes.NewReader(l.raw)
	}
	encoded, _, _ := bytes.Cut(l.raw, []byte("="))
	return base64.NewDecoder(base64.RawStdEncoding, &base64Filter{bytes.NewReader(encoded)})
}

// base64Filter skips bytes that are not in the base64 alphabet.
type base64Filter struct{ source io.Reader }

func (f *base64Filter) Read(b []byte) (int, error) {
	for {
		n, err := f.source.Read(b)
		count := 0
		for _, c := range b[:n] {
			if isWordLetter(rune(c)) || c == '+' || c == '/' {
				b[count] = c
				count++
			}
		}
		if count > 0 || err != nil || len(b) == 0 {
			return count, err
		}
	}
}

// textHeader returns a header with the part's encoding and charset.
func (l *leaf) textHeader() message.Header {
	header := l.encodingHeader()
	name := l.parameters["charset"]
	if name == "" && l.mediaType == "text/html" {
		name = l.declaredCharset()
	}
	if name != "" {
		header.SetContentType("text/plain", map[string]string{"charset": name})
	}
	return header
}

// declaredCharset returns an HTML document's charset, "" if it is UTF-8 or missing.
func (l *leaf) declaredCharset() string {
	html, _ := io.ReadAll(io.LimitReader(l.decode(l.encodingHeader()), maxText+1))
	if utf8.Valid(html) && bytes.ContainsFunc(html, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return "" // whatever it declares
	}
	_, name, _ := charset.DetermineEncoding(html, "text/html")
	if name == "utf-8" {
		return ""
	}
	return name
}

// file describes the part as an attachment.
func (l *leaf) file(part int) blueprint.File {
	size, _ := io.Copy(io.Discard, l.decode(l.encodingHeader()))
	name := l.name()
	if name == "" {
		name = fmt.Sprintf("part-%d%s", part+1, extensions[l.mediaType])
	}
	return blueprint.File{Part: part, Name: name, ContentType: l.mediaType, Size: size}
}

// extensions are appended to the generated names of attachments without a name.
var extensions = map[string]string{
	"message/rfc822": ".eml", "text/calendar": ".ics", "text/csv": ".csv", "text/html": ".html", "text/plain": ".txt",
	"application/pdf": ".pdf", "image/gif": ".gif", "image/jpeg": ".jpg", "image/png": ".png",
}

// maxFilename is the maximum length of an attachment's name, in bytes.
const maxFilename = 200

// name returns the file name of the part without directories, "" if it has none.
func (l *leaf) name() string {
	_, parameters, _ := mime.ParseMediaType(l.header.Get("Content-Disposition"))
	name := parameters["filename"]
	name = cmp.Or(name, l.parameters["name"])
	name = decoded(name)
	name = strings.TrimSpace(name[strings.LastIndexAny(name, `/\`)+1:])
	if name == "." || name == ".." {
		return ""
	}
	return blueprint.Prefix(name, maxFilename)
}

package form

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

//go:embed form.html
var source string

//go:embed form.css
var style string

var pageTemplate = template.Must(template.New("form").Parse(source))

// policy allows the style sheet and the server's icon, and nothing else: no scripts and no
// frames. Only pages with fields may send a form.
var policy = func() string {
	sum := sha256.Sum256([]byte(style))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'"
}()

// Page is a page with a form, or with text and a link.
type Page struct {
	Title       string
	Description []string // paragraphs
	Message     string   // what is wrong with what was sent
	Issues      []string // of no field
	Ticket      string
	Buttons     []Button // the default is one to send the form
	Link        Link     // none if its URL is empty
	// Trap adds the field of Submission.IsTrapped.
	Trap bool
	// Stays reports that the answer to the form does not redirect to another server.
	Stays bool

	fields  []shownField
	files   bool
	focused bool
}

// Button sends the form, with a value.
type Button struct {
	Name, Value, Label string
	Quiet              bool // it is not the usual choice
}

// Link is a link that looks like a button.
type Link struct {
	URL, Label string
}

// shownField is a field with what was entered, as the template shows it.
type shownField struct {
	Field
	ID     string
	Value  string
	Chosen map[string]bool
	Issue  string
	Focus  bool // on the first field with an issue
}

// Ask adds fields with the values that were sent, or before that with the values of the
// address, of which those of other fields are ignored. issueOf returns what is wrong with a
// field, "" for nothing.
func (p *Page) Ask(fields []Field, values url.Values, issueOf func(name string) string) {
	for i, field := range fields {
		shown := shownField{Field: field, ID: "f" + strconv.Itoa(i), Chosen: map[string]bool{}, Issue: sentence(issueOf(field.Name))}
		entered := field.Default
		if values.Has(field.Name) || values.Has(TicketName) {
			entered = values[field.Name]
		}
		for _, value := range entered {
			shown.Chosen[value] = true
			shown.Value = value
		}
		if shown.Issue != "" && !p.focused {
			shown.Focus, p.focused = true, true
		}
		p.files = p.files || field.Control == "file" || field.Control == "files"
		p.fields = append(p.fields, shown)
	}
}

// sentence returns a message as a text of a page, which starts with a capital letter.
func sentence(message string) string {
	first, size := utf8.DecodeRuneInString(message)
	if size == 0 {
		return ""
	}
	return string(unicode.ToUpper(first)) + message[size:]
}

// Paragraphs divides a text at empty lines.
func Paragraphs(text string) (list []string) {
	for part := range strings.SplitSeq(strings.ReplaceAll(text, "\r\n", "\n"), "\n\n") {
		if part = strings.TrimSpace(part); part != "" {
			list = append(list, part)
		}
	}
	return list
}

// Write sends the page, which no browser keeps and whose address it does not pass on.
func (p *Page) Write(w http.ResponseWriter, status int) {
	var out strings.Builder
	shown := struct {
		*Page
		Style                template.CSS
		Fields               []shownField
		Files                bool
		TicketName, TrapName string
	}{p, template.CSS(style), p.fields, p.files, TicketName, trapName}
	if len(p.Buttons) == 0 {
		p.Buttons = []Button{{Label: "Send"}}
	}
	for i := range p.Issues {
		p.Issues[i] = sentence(p.Issues[i])
	}
	if err := pageTemplate.Execute(&out, shown); err != nil {
		panic(fmt.Sprintf("form: the page of a form: %v", err))
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	switch {
	case len(p.fields) == 0:
		h.Set("Content-Security-Policy", policy+"; form-action 'none'")
	case p.Stays:
		h.Set("Content-Security-Policy", policy+"; form-action 'self'")
	default:
		h.Set("Content-Security-Policy", policy)
	}
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("X-Robots-Tag", "noindex")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(out.String()))
}

package triggers

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
	"time"

	"blueprintd/blueprint"
)

//go:embed form.html
var formHTML string

//go:embed form.css
var formStyle string

var formTemplate = template.Must(template.New("form").Parse(formHTML))

// formPolicy allows the one style sheet and nothing else: no scripts and no frames. Without
// form-action, a run may redirect to another server after the form was sent.
var formPolicy = func() string {
	sum := sha256.Sum256([]byte(formStyle))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; frame-ancestors 'none'"
}()

// formPage is a page of a form: the form itself, or what is said after it was sent.
type formPage struct {
	form    map[string]any
	thanks  string
	message string            // what is wrong with what was sent
	issues  []blueprint.Issue // of the fields

	hadFiles bool // which a browser does not choose again
}

// shownField is a field with what was entered, as the template shows it.
type shownField struct {
	formField
	ID     string
	Value  string
	Chosen map[string]bool
	Issue  string
	Focus  bool // on the first field with an issue
}

type shownPage struct {
	Style       template.CSS
	Title       string
	Description []string
	Message     string
	Issues      []string // of no field
	Focused     bool
	Fields      []shownField
	Files       bool
	Ticket      string
	TicketName  string
	TrapName    string
}

// show writes the form with values, of which those of other fields are ignored.
func (p *formPage) show(w http.ResponseWriter, status int, ticket string, values url.Values) {
	page := p.page()
	page.Message, page.Ticket, page.TicketName, page.TrapName = p.message, ticket, fieldTicket, fieldTrap
	if p.hadFiles {
		page.Message += " Choose your files again."
	}
	for i, field := range formFieldsOf(p.form) {
		shown := shownField{formField: field, ID: "f" + strconv.Itoa(i), Chosen: map[string]bool{}, Issue: p.issueOf(field.Name)}
		entered := field.Default
		if values.Has(field.Name) || values.Has(fieldTicket) {
			entered = values[field.Name]
		}
		for _, value := range entered {
			shown.Chosen[value] = true
			shown.Value = value
		}
		if shown.Issue != "" && !page.Focused {
			shown.Focus, page.Focused = true, true
		}
		page.Files = page.Files || field.Control == "file" || field.Control == "files"
		page.Fields = append(page.Fields, shown)
	}
	for _, issue := range p.issues {
		if len(issue.Path) < 2 {
			page.Issues = append(page.Issues, issue.Message)
		}
	}
	p.write(w, status, page)
}

// issueOf returns what is wrong with a field, "" for nothing.
func (p *formPage) issueOf(name string) string {
	for _, issue := range p.issues {
		if len(issue.Path) > 1 && issue.Path[1] == name { // after inputData
			return issue.Message
		}
	}
	return ""
}

// thank writes the page after the form was sent.
func (p *formPage) thank(w http.ResponseWriter, answer string) {
	page := p.page()
	page.Title, page.Description = "Thank you", paragraphs(p.thanks)
	if page.Description == nil {
		page.Description = []string{"Your answers were received. You can close this page."}
	}
	if answer != "" {
		page.Description = paragraphs(answer)
	}
	p.write(w, http.StatusOK, page)
}

// fail writes the page for answers that were not taken. Only messages about the request itself
// are shown.
func (p *formPage) fail(w http.ResponseWriter, err *blueprint.Error) {
	page := &shownPage{Style: template.CSS(formStyle), Title: "Not sent"}
	switch status := err.Code.HTTPStatus(); {
	case err.Code == blueprint.CodePayloadTooLarge:
		page.Description = []string{"The files are too large. Open the form again and choose smaller ones."}
	case status == http.StatusNotFound:
		page.Title = "No form here"
		page.Description = []string{"It was closed, or the address is not complete."}
	case status >= 500 || err.Code == blueprint.CodeTooManyRequests:
		if err.RetryAfter > 0 {
			w.Header().Set("Retry-After", strconv.FormatInt(max(1, int64((err.RetryAfter+time.Second-1)/time.Second)), 10))
		}
		page.Description = []string{"Something went wrong on our side. Try again in a while."}
	default:
		page.Description = []string{"The answers could not be read. Open the form again."}
	}
	p.write(w, err.Code.HTTPStatus(), page)
}

func (p *formPage) page() *shownPage {
	page := &shownPage{Style: template.CSS(formStyle), Title: "Form"}
	if title, _ := p.form["title"].(string); title != "" {
		page.Title = title
	}
	description, _ := p.form["description"].(string)
	page.Description = paragraphs(description)
	return page
}

// paragraphs divides a text at empty lines.
func paragraphs(text string) (list []string) {
	for part := range strings.SplitSeq(strings.ReplaceAll(text, "\r\n", "\n"), "\n\n") {
		if part = strings.TrimSpace(part); part != "" {
			list = append(list, part)
		}
	}
	return list
}

func (p *formPage) write(w http.ResponseWriter, status int, page *shownPage) {
	var out strings.Builder
	if err := formTemplate.Execute(&out, page); err != nil {
		panic(fmt.Sprintf("triggers: the page of a form: %v", err))
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", formPolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(out.String()))
}

package triggers

import (
	"net/http"
	"net/url"
	"strconv"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/form"
)

// formPage is a page of a form: the form itself, or what is said after it was sent.
type formPage struct {
	form    map[string]any
	thanks  string
	message string            // what is wrong with what was sent
	issues  []blueprint.Issue // of the fields

	hadFiles bool // which a browser does not choose again
}

// show writes the form with values, of which those of other fields are ignored.
func (p *formPage) show(w http.ResponseWriter, status int, ticket string, values url.Values) {
	page := p.page()
	page.Message, page.Ticket, page.Trap = p.message, ticket, true
	if p.hadFiles {
		page.Message += " Choose your files again."
	}
	page.Ask(form.FieldsOf(p.form), values, p.issueOf)
	for _, issue := range p.issues {
		if len(issue.Path) < 2 {
			page.Issues = append(page.Issues, issue.Message)
		}
	}
	page.Write(w, status)
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
	page := &form.Page{Title: "Thank you", Description: form.Paragraphs(p.thanks)}
	if page.Description == nil {
		page.Description = []string{"Your answers were received. You can close this page."}
	}
	if answer != "" {
		page.Description = form.Paragraphs(answer)
	}
	page.Write(w, http.StatusOK)
}

// fail writes the page for answers that were not taken. Only messages about the request itself
// are shown.
func (p *formPage) fail(w http.ResponseWriter, err *blueprint.Error) {
	page := &form.Page{Title: "Not sent"}
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
	page.Write(w, err.Code.HTTPStatus())
}

func (p *formPage) page() *form.Page {
	page := &form.Page{Title: "Form"}
	if title, _ := p.form["title"].(string); title != "" {
		page.Title = title
	}
	description, _ := p.form["description"].(string)
	page.Description = form.Paragraphs(description)
	return page
}

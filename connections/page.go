package connections

import (
	"html"
	"net/http"
	"strings"
)

// page is what a person is shown. Texts are plain; they are escaped here.
type page struct {
	status int
	title  string
	lines  []string
	// link and label are where to go on; none when link is empty.
	link, label string
}

// write answers with the page: no scripts, nothing from elsewhere, in no frame,
// and no trace of its address for whoever is visited next.
func (p page) write(w http.ResponseWriter) {
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Security-Policy", "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	header.Set("X-Frame-Options", "DENY")
	private(header)
	var out strings.Builder
	title := html.EscapeString(p.title)
	out.WriteString("<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\"><title>" + title + "</title></head>\n<body>\n<h1>" + title + "</h1>\n")
	for _, line := range p.lines {
		out.WriteString("<p>" + html.EscapeString(line) + "</p>\n")
	}
	if p.link != "" {
		out.WriteString("<p><a href=\"" + html.EscapeString(p.link) + "\" rel=\"noreferrer\">" + html.EscapeString(p.label) + "</a></p>\n")
	}
	out.WriteString("</body>\n</html>\n")
	w.WriteHeader(p.status)
	w.Write([]byte(out.String()))
}

// private keeps an answer out of caches, and its address out of others' logs.
func private(header http.Header) {
	header.Set("Cache-Control", "no-store")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("X-Content-Type-Options", "nosniff")
}

// The pages of what went wrong.
var (
	pageNoTicket = page{status: http.StatusBadRequest, title: "This address is not good (any more)", lines: []string{
		"It was used already, it has expired, or it is not complete. Nothing was changed.", "Look at the run that asked for the sign-in: it tells the address that is good. Resume it to be given another one."}}
	pageNoState = page{status: http.StatusBadRequest, title: "This sign-in is not known", lines: []string{
		"It was finished already, it took longer than ten minutes, or it did not begin here. Nothing was changed.", "Visit the address of the run once more to sign in."}}
	pageOtherBrowser = page{status: http.StatusBadRequest, title: "This sign-in began elsewhere", lines: []string{
		"It began in another browser, or this one keeps no cookies, so it was not finished here. Nothing was changed.",
		"If you followed a link that somebody sent to you, do not try again. Else visit the address of the run in this browser."}}
	pageChanged = page{status: http.StatusConflict, title: "The connection has changed", lines: []string{
		"It was changed or deleted, or is not yours to use any more, while you signed in. Nothing was stored.", "Visit the address of the run once more to sign in."}}
	pageDenied = page{status: http.StatusOK, title: "Nothing was allowed", lines: []string{
		"The service says that the sign-in was denied. The run keeps waiting.", "Visit its address once more to sign in after all, or cancel the run."}}
	pageIssuer = page{status: http.StatusBadRequest, title: "The answer came from another service", lines: []string{
		"The address that says who answered is not that of the service where you were sent. Nothing was stored."}}
	pageBroken = page{status: http.StatusInternalServerError, title: "Something went wrong here", lines: []string{
		"The sign-in could not be finished. Visit the address of the run once more."}}
)

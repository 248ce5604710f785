package connections

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"html"
	"net/http"
	"strings"

	"blueprintd/blueprint"
)

// page is what a person is shown. Texts are plain; they are escaped here.
type page struct {
	status int
	title  string
	lines  []string
	// link and label are where to go on; none when link is empty.
	link, label string
}

// pageStyle is all that these pages wear; the policy names it by its hash.
const pageStyle = `:root{color-scheme:light dark}
body{max-width:34rem;margin:12vh auto 3rem;padding:0 1.25rem;font:1rem/1.55 ui-sans-serif,system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",Arial,sans-serif;overflow-wrap:anywhere;color:#1b2426;background:#f8fbfc}
h1{margin:0 0 1rem;font-size:1.375rem;line-height:1.3}
p{margin:0 0 .85rem}
a{display:inline-block;margin-top:.5rem;padding:.6rem 1.1rem;border-radius:5px;font-weight:600;text-decoration:none;color:#fff;background:#076a73}
a:hover{background:#04545c}
a:focus-visible{outline:2px solid currentcolor;outline-offset:3px}
@media (prefers-color-scheme:dark){body{color:#dde5e6;background:#10181a}a:focus-visible{outline-color:#9adbe0}}`

var styleHash = func() string {
	sum := sha256.Sum256([]byte(pageStyle))
	return base64.StdEncoding.EncodeToString(sum[:])
}()

// write answers with the page: no scripts, no external resources, no framing, and no
// referrer for the next site.
func (p page) write(w http.ResponseWriter) {
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Security-Policy", "default-src 'none'; style-src 'sha256-"+styleHash+"'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	header.Set("X-Frame-Options", "DENY")
	private(header)
	var out strings.Builder
	title := html.EscapeString(p.title)
	out.WriteString("<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\"><title>" + title + "</title><style>" + pageStyle + "</style></head>\n<body>\n<h1>" + title + "</h1>\n")
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

// once says how to try again, for whoever began in the dashboard or at a run.
const once = "To sign in, begin once more: at the address that the run tells, or on the page of the connection."

// The pages of what went wrong.
var (
	pageNoTicket = page{status: http.StatusBadRequest, title: "This address is not good (any more)", lines: []string{
		"It was used already, it has expired, or it is not complete. Nothing was changed.", once + " A run tells another address when it is resumed."}}
	pageNoState = page{status: http.StatusBadRequest, title: "This sign-in is not known", lines: []string{
		"It was finished already, it took longer than ten minutes, or it did not begin here. Nothing was changed.", once}}
	pageOtherBrowser = page{status: http.StatusBadRequest, title: "This sign-in began elsewhere", lines: []string{
		"It began in another browser, or this one keeps no cookies, so it was not finished here. Nothing was changed.",
		"If you followed a link that somebody sent to you, do not try again. " + once}}
	pageChanged = page{status: http.StatusConflict, title: "The connection has changed", lines: []string{
		"It was changed or deleted, or is not yours to use any more, while you signed in. Nothing was stored.", once}}
	pageDenied = page{status: http.StatusOK, title: "Nothing was allowed", lines: []string{
		"The service says that the sign-in was denied. What needs it keeps waiting.", once}}
	pageIssuer = page{status: http.StatusBadRequest, title: "The answer came from another service", lines: []string{
		"The address that says who answered is not that of the service where you were sent. Nothing was stored."}}
	pageBroken = page{status: http.StatusInternalServerError, title: "Something went wrong here", lines: []string{
		"The sign-in could not be finished.", once}}
)

// SignIn returns the URL where a user signs in for a connection without a waiting run.
// CodeNotFound if the user may not use the connection, CodeBadRequest if it needs no
// sign-in.
func (s *Service) SignIn(ctx context.Context, userID, id string) (url string, err error) {
	connection, err := s.connection(ctx, blueprint.Authority{PrincipalID: userID}, id)
	if err != nil {
		return "", err
	}
	if connection.Type != blueprint.ConnectionOAuth2 || connection.Config["flow"] != flowCode {
		return "", &blueprint.Error{
			Code: blueprint.CodeBadRequest, Message: "nobody signs in for this connection",
			Hint: "people sign in for connections of type oauth2 whose flow is authorization_code",
		}
	}
	c, err := newOAuthClient(connection)
	if err != nil {
		return "", blueprint.Errorf(blueprint.CodeBadRequest, "%s", err)
	}
	url, _, err = s.ticket(ctx, c, blueprint.ConnectionUse{ConnectionID: id, UserID: userID})
	return url, err
}

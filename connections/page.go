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

// page is an HTML page of the sign-in. Its fields are plain text, which write escapes.
type page struct {
	status int
	title  string
	lines  []string
	// link and label define the button; there is none if link is empty.
	link, label string
}

// pageStyle is the only style sheet; the content security policy allows it by its hash.
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

// write sends the page: no scripts, no external resources, no framing, and no
// referrer for the next site.
func (p page) write(w http.ResponseWriter) {
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Security-Policy", "default-src 'none'; style-src 'sha256-"+styleHash+"'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	header.Set("X-Frame-Options", "DENY")
	setPrivacyHeaders(header)
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

// setPrivacyHeaders prevents caching and keeps the URL out of the Referer of later requests.
func setPrivacyHeaders(header http.Header) {
	header.Set("Cache-Control", "no-store")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("X-Content-Type-Options", "nosniff")
}

// once tells the user how to try again, for sign-ins from the dashboard and from runs.
const once = "To sign in, start again from the link of the run or from the page of the connection."

// Pages for sign-ins that did not complete.
var (
	pageNoTicket = page{status: http.StatusBadRequest, title: "This link is no longer valid", lines: []string{
		"It was already used, has expired or is incomplete. Nothing was changed.", once + " Resuming a run creates a new link."}}
	pageNoState = page{status: http.StatusBadRequest, title: "Unknown sign-in", lines: []string{
		"It was already completed, took longer than ten minutes or was not started here. Nothing was changed.", once}}
	pageOtherBrowser = page{status: http.StatusBadRequest, title: "This sign-in was started elsewhere", lines: []string{
		"It was started in another browser, or this browser blocks cookies. Nothing was changed.",
		"If another person sent you this link, do not try again. " + once}}
	pageChanged = page{status: http.StatusConflict, title: "The connection has changed", lines: []string{
		"While you signed in, it was changed or deleted, or you lost access to it. Nothing was stored.", once}}
	pageDenied = page{status: http.StatusOK, title: "Access denied", lines: []string{
		"You did not grant access at the service. Waiting runs keep waiting.", once}}
	pageIssuer = page{status: http.StatusBadRequest, title: "Response from another service", lines: []string{
		"The issuer of the response is not the service where the sign-in started. Nothing was stored."}}
	pageBroken = page{status: http.StatusInternalServerError, title: "Internal error", lines: []string{
		"The sign-in did not complete.", once}}
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
			Code: blueprint.CodeBadRequest, Message: "this connection needs no sign-in",
			Hint: "only oauth2 connections with the flow authorization_code need a sign-in",
		}
	}
	c, err := newOAuthClient(connection)
	if err != nil {
		return "", blueprint.Errorf(blueprint.CodeBadRequest, "%s", err)
	}
	url, _, err = s.ticket(ctx, c, blueprint.ConnectionUse{ConnectionID: id, UserID: userID})
	return url, err
}

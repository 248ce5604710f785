package web

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"

	"blueprintd/foundation/ids"
)

const (
	pageName = "index.html"
	// nonceMark stands in the page where the nonce of an answer belongs.
	nonceMark = "__NONCE__"
)

// policy says what the page may do: load its own files and call its own server,
// and nothing else. Styles that a script adds need the nonce of the answer.
const policy = "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-" + nonceMark + "'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'; manifest-src 'self'"

// servePage answers with the page, which is another one each time.
func servePage(w http.ResponseWriter, r *http.Request, random *ids.Source, status int) bool {
	page, err := dist.ReadFile("dist/" + pageName)
	if err != nil {
		return false
	}
	nonce := random.Token(22) // 131 bits
	page = bytes.ReplaceAll(page, []byte(nonceMark), []byte(nonce))
	h := w.Header()
	shield(h)
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", strings.ReplaceAll(policy, nonceMark, nonce))
	h.Set("Cache-Control", "no-store")
	h.Add("Vary", "Accept")
	h.Set("Content-Length", strconv.Itoa(len(page)))
	w.WriteHeader(status)
	if r.Method == http.MethodGet {
		_, _ = w.Write(page) // who leaves early needs no answer
	}
	return true
}

// shield sets what holds for all that is served here: browsers take it for what
// it says it is, tell other sites nothing, and give no other site a hold on it,
// nor it a device that it does not use.
func shield(h http.Header) {
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()")
}

package connections_test

import (
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"blueprintd/connections"
)

const warning = "Continue only if you started this yourself"

// A link from another browser leads to the consent page again.
func TestConsentPageCannotBeSkipped(t *testing.T) {
	w, p := newEnv(t), newProvider(t)
	address := w.paused(ann, w.login(p, ""))
	_, text, _ := newPerson(browser).visit(t, address)
	link := w.web.URL + linkIn(t, text)
	for _, person := range []*person{newPerson(browser), newPerson(browser)} {
		person.visit(t, address) // gets a cookie, but for another page
		if status, text, _ := person.visit(t, link); status != 200 || !strings.Contains(text, warning) || p.serial > 0 {
			t.Errorf("%d %s, want 200, %q in it and serial at most 0", status, text, warning)
		}
	}
}

// start calls Service.Start with the given headers.
func start(w *env, address string, headers ...string) *httptest.ResponseRecorder {
	request := httptest.NewRequest(http.MethodGet, "/", nil)
	request.URL, _ = url.Parse(address)
	request.Header.Set("User-Agent", browser)
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	recorder := httptest.NewRecorder()
	w.service.Start(recorder, request)
	return recorder
}

// A forged cookie is not accepted, nor is a genuine one in a request that the browser marks
// as sent by another site.
func TestForgedCookies(t *testing.T) {
	w, p := newEnv(t), newProvider(t)
	address := w.paused(ann, w.login(p, ""))
	_, ticket, _ := strings.Cut(address, "ticket=")
	guess := func(cookie string) string {
		sum := sha256.Sum256([]byte("continue " + cookie + " " + ticket))
		return base64.RawURLEncoding.EncodeToString(sum[:])
	}
	page := start(w, address)
	minted, _, _ := strings.Cut(page.Header().Get("Set-Cookie"), ";")
	_, minted, _ = strings.Cut(minted, "=")
	link, _ := url.Parse(linkIn(t, page.Body.String()))
	proof := link.Query().Get("go")
	cut := minted[:len(minted)-1]
	for _, test := range []struct{ name, cookie, proof, site, want string }{
		{"the link of the page", minted, proof, "", "redirect"},
		{"the link of the page, same origin", minted, proof, "same-origin", "redirect"},
		{"cross-site", minted, proof, "cross-site", "page"},
		{"same site", minted, proof, "same-site", "page"},
		{"no site", minted, proof, "none", "page"},
		{"invented cookie", "A", guess("A"), "", "page"},
		{"invented cookie of the right length", strings.Repeat("A", len(minted)), guess(strings.Repeat("A", len(minted))), "", "page"},
		{"truncated cookie", cut, proof, "", "page"},
		{"genuine cookie, guessed proof", minted, guess(minted), "", "page"},
		{"genuine cookie, no proof", minted, "", "", "page"},
		{"no cookie", "", proof, "", "page"},
	} {
		t.Run(test.name, func(t *testing.T) {
			headers := []string{"Cookie", "blueprintd_sign_in=" + test.cookie}
			if test.site != "" {
				headers = append(headers, "Sec-Fetch-Site", test.site)
			}
			got := start(w, address+"&go="+test.proof, headers...)
			if on := got.Code == http.StatusSeeOther; on != (test.want == "redirect") || !on && !strings.Contains(got.Body.String(), warning) {
				t.Errorf("%d %s, want %v", got.Code, got.Body, test.want)
			}
			if reused := strings.HasPrefix(got.Header().Get("Set-Cookie"), "blueprintd_sign_in="+test.cookie+";"); reused && test.cookie != minted {
				t.Error("the forged cookie is set again")
			}
		})
	}
}

// A process with the same key accepts the page of another one; without a key it has its own.
func TestPageOfAnotherProcess(t *testing.T) {
	for name, test := range map[string]struct {
		key  []byte
		want int
	}{
		"the same key": {[]byte("the key"), http.StatusSeeOther},
		"random keys":  {nil, http.StatusOK},
	} {
		t.Run(name, func(t *testing.T) {
			w, p := newEnv(t, func(o *connections.Options) { o.Key = test.key }), newProvider(t)
			address := w.paused(ann, w.login(p, ""))
			page := start(w, address)
			cookie, _, _ := strings.Cut(page.Header().Get("Set-Cookie"), ";")
			if got := start(w.process(), linkIn(t, page.Body.String()), "Cookie", cookie); got.Code != test.want {
				t.Errorf("status %d, want %d", got.Code, test.want)
			}
		})
	}
}

// Over https neither another host of the domain nor a site without TLS can set the cookie.
func TestCookieOverHTTPS(t *testing.T) {
	w := newEnv(t, func(o *connections.Options) { o.APIHost = func() string { return "https://blueprints.example" } })
	p := newProvider(t)
	address := w.paused(ann, w.login(p, ""))
	page := start(w, address)
	cookie := page.Header().Get("Set-Cookie")
	if !strings.HasPrefix(cookie, "__Host-blueprintd_sign_in=") || !strings.Contains(cookie, "; Secure") || !strings.Contains(cookie, "Path=/;") || strings.Contains(cookie, "Domain") {
		t.Fatalf("the cookie is %s, want \"__Host-blueprintd_sign_in=\" at the start, \"; Secure\" in it, \"Path=/;\" in it and no \"Domain\"", cookie)
	}
	cookie, _, _ = strings.Cut(cookie, ";")
	link := "https://blueprints.example" + linkIn(t, page.Body.String())
	for given, want := range map[string]int{cookie: http.StatusSeeOther, strings.TrimPrefix(cookie, "__Host-"): http.StatusOK} {
		name, _, _ := strings.Cut(given, "=")
		t.Run(name, func(t *testing.T) {
			if got := start(w, link, "Cookie", given); got.Code != want {
				t.Errorf("status %d, want %d", got.Code, want)
			}
		})
	}
}

// A server with its own certificate sets the same cookie, whatever its public URL.
func TestCookieOverOwnTLS(t *testing.T) {
	w, p := newEnv(t), newProvider(t)
	request := httptest.NewRequest(http.MethodGet, w.paused(ann, w.login(p, "")), nil)
	request.Header.Set("User-Agent", browser)
	request.TLS = &tls.ConnectionState{}
	recorder := httptest.NewRecorder()
	w.service.Start(recorder, request)
	if cookie := recorder.Header().Get("Set-Cookie"); !strings.HasPrefix(cookie, "__Host-blueprintd_sign_in=") || !strings.Contains(cookie, "; Secure") {
		t.Errorf("got the cookie %q, want the prefix __Host- and Secure", cookie)
	}
}

// The page names the account that receives the access.
func TestConsentPageNamesAccount(t *testing.T) {
	w, p := newEnv(t), newProvider(t)
	page := start(w, w.paused(ann, w.login(p, ""))).Body.String()
	if !strings.Contains(page, "a&lt;b&gt;@example.com") || strings.Contains(page, "<b>") {
		t.Errorf("%v, want \"a&lt;b&gt;@example.com\" in it and no \"<b>\"", page)
	}
}

package connections_test

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"blueprintd/connections"
)

const beware = "Go on only if you started this yourself"

// Nobody can send a person past the page that says what they allow.
func TestThePageCannotBeSkipped(t *testing.T) {
	w, p := newWorld(t), newProvider(t)
	address := w.paused(ann, w.login(p, ""))
	_, text, _ := newPerson(browser).visit(t, address)
	link := w.web.URL + linkIn(t, text)
	for _, person := range []*person{newPerson(browser), newPerson(browser)} {
		person.visit(t, address) // has a cookie, but of another page
		if status, text, _ := person.visit(t, link); status != 200 || !strings.Contains(text, beware) || p.serial > 0 {
			t.Errorf("%d %s", status, text)
		}
	}
}

// start visits an address with a cookie and headers that somebody else chose.
func start(w *world, address string, headers ...string) *httptest.ResponseRecorder {
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

// A cookie that somebody laid down opens nothing: neither one of their making,
// nor, where the browser says who sends the person, one that they were given.
func TestLaidCookies(t *testing.T) {
	w, p := newWorld(t), newProvider(t)
	address := w.paused(ann, w.login(p, ""))
	_, ticket, _ := strings.Cut(address, "ticket=")
	guess := func(cookie string) string {
		sum := sha256.Sum256([]byte("go on " + cookie + " " + ticket))
		return base64.RawURLEncoding.EncodeToString(sum[:])
	}
	page := start(w, address)
	minted, _, _ := strings.Cut(page.Header().Get("Set-Cookie"), ";")
	_, minted, _ = strings.Cut(minted, "=")
	link, _ := url.Parse(linkIn(t, page.Body.String()))
	goOn := link.Query().Get("go")
	cut := minted[:len(minted)-1]
	for _, test := range []struct{ name, cookie, proof, site, want string }{
		{"as the page says", minted, goOn, "", "on"},
		{"as the page says, from the page", minted, goOn, "same-origin", "on"},
		{"sent by another site", minted, goOn, "cross-site", "page"},
		{"sent by a neighbour", minted, goOn, "same-site", "page"},
		{"sent by a mail", minted, goOn, "none", "page"},
		{"a cookie that was made up", "A", guess("A"), "", "page"},
		{"one of the right form", strings.Repeat("A", len(minted)), guess(strings.Repeat("A", len(minted))), "", "page"},
		{"one cut short", cut, goOn, "", "page"},
		{"minted, and a guess", minted, guess(minted), "", "page"},
		{"minted, and nothing", minted, "", "", "page"},
		{"none", "", goOn, "", "page"},
	} {
		headers := []string{"Cookie", "blueprintd_sign_in=" + test.cookie}
		if test.site != "" {
			headers = append(headers, "Sec-Fetch-Site", test.site)
		}
		got := start(w, address+"&go="+test.proof, headers...)
		if on := got.Code == http.StatusSeeOther; on != (test.want == "on") || !on && !strings.Contains(got.Body.String(), beware) {
			t.Errorf("%s: %d %s", test.name, got.Code, got.Body)
		}
		if laid := strings.HasPrefix(got.Header().Get("Set-Cookie"), "blueprintd_sign_in="+test.cookie+";"); laid && test.cookie != minted {
			t.Errorf("%s: the cookie is kept", test.name)
		}
	}
}

// Over https no other name of the domain, and nothing without TLS, can lay the
// cookie.
func TestTheCookieOverHTTPS(t *testing.T) {
	w := newWorld(t, func(o *connections.Options) { o.APIHost = func() string { return "https://blueprints.example" } })
	p := newProvider(t)
	address := w.paused(ann, w.login(p, ""))
	page := start(w, address)
	cookie := page.Header().Get("Set-Cookie")
	if !strings.HasPrefix(cookie, "__Host-blueprintd_sign_in=") || !strings.Contains(cookie, "; Secure") || !strings.Contains(cookie, "Path=/;") || strings.Contains(cookie, "Domain") {
		t.Fatalf("the cookie is %s", cookie)
	}
	cookie, _, _ = strings.Cut(cookie, ";")
	link := "https://blueprints.example" + linkIn(t, page.Body.String())
	for given, want := range map[string]int{cookie: http.StatusSeeOther, strings.TrimPrefix(cookie, "__Host-"): http.StatusOK} {
		if got := start(w, link, "Cookie", given); got.Code != want {
			t.Errorf("%s: %d", given, got.Code)
		}
	}
}

// The page says whose account gets what a person allows.
func TestThePageNamesTheAccount(t *testing.T) {
	w, p := newWorld(t), newProvider(t)
	page := start(w, w.paused(ann, w.login(p, ""))).Body.String()
	if !strings.Contains(page, "a&lt;b&gt;@example.com") || strings.Contains(page, "<b>") {
		t.Error(page)
	}
}

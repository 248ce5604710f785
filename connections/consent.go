package connections

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"

	"blueprintd/blueprint"
)

// cookieName is the cookie that binds a callback to the browser. Over https it has the
// prefix hostOnly, so that browsers do not accept it from other hosts of the domain.
const (
	cookieName = "blueprintd_sign_in"
	hostOnly   = "__Host-"
)

// consentPage returns the page that states what the user is about to allow and for which
// account. Its link is valid only with the cookie that it sets, so the page cannot be skipped.
func (s *Service) consentPage(w http.ResponseWriter, r *http.Request, c *oauthClient, signIn *blueprint.SignIn, ticket string) (*page, error) {
	user, err := s.Store.User(r.Context(), signIn.UserID)
	if err != nil {
		return nil, err
	}
	cookie := s.cookieOf(r)
	if !s.minted(cookie) { // none yet, or not created here; the pages of one browser share it
		cookie = s.mint()
	}
	http.SetCookie(w, &http.Cookie{
		Name: s.cookieName(r), Value: cookie, Path: "/", MaxAge: int(stateLife.Seconds()), HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: s.overTLS(r),
	})
	who := "The account " + plain(user.Email) + " asks"
	if signIn.ExecutionID != "" {
		who = "A run of the account " + plain(user.Email) + " needs"
	}
	lines := []string{
		who + " to use " + c.authorization.Host + " on your behalf, through the connection \"" + c.connection.Name + "\".",
		"The access token then belongs to that account. It is sent to " + strings.Join(oauthReach(c.connection).hosts, ", ") + ", and to the hosts of connections that use it and were set up by its creator or by that account.",
	}
	if len(c.scopes) > 0 {
		lines = append(lines, "It asks for: "+strings.Join(c.scopes, ", ")+".")
	}
	for _, version := range signIn.Versions {
		lines = append(lines, "Signing in also grants access to version "+version.Version+" of the blueprint "+version.BlueprintID+", written by another user. Its runs for that account may then use the connections and sign-ins of the account.")
	}
	lines = append(lines, "Continue only if you started this yourself and the account is yours. If another person sent you this link, close the page.")
	return &page{
		status: http.StatusOK, title: "Sign in at " + c.authorization.Host, lines: lines,
		link: startPath + "?" + url.Values{"ticket": {ticket}, "go": {s.proof(cookie, ticket)}}.Encode(), label: "Continue to " + c.authorization.Host,
	}, nil
}

// confirmed returns the browser's cookie, and reports whether the request came from the
// page: same-origin if the browser sends Sec-Fetch-Site.
func (s *Service) confirmed(r *http.Request, ticket, given string) (cookie string, ok bool) {
	cookie = s.cookieOf(r)
	site := r.Header.Get("Sec-Fetch-Site")
	return cookie, s.minted(cookie) && (site == "" || site == "same-origin") && hmac.Equal([]byte(s.proof(cookie, ticket)), []byte(given))
}

// proof returns the proof that the browser with the cookie was shown the page of the
// ticket.
func (s *Service) proof(cookie, ticket string) string {
	return s.sign("continue " + cookie + " " + ticket)
}

// mint returns a new cookie.
func (s *Service) mint() string {
	nonce := s.random()
	return nonce + s.sign("cookie "+nonce)
}

// minted reports whether this process created the cookie.
func (s *Service) minted(cookie string) bool {
	return len(cookie) == 2*randomSize && hmac.Equal([]byte(s.sign("cookie "+cookie[:randomSize])), []byte(cookie[randomSize:]))
}

// sign returns a MAC of randomSize characters with the key of this process.
func (s *Service) sign(text string) string {
	mac := hmac.New(sha256.New, s.key)
	mac.Write([]byte(text))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// cookieOf returns the browser's cookie, "" when it has none.
func (s *Service) cookieOf(r *http.Request) string {
	found, err := r.Cookie(s.cookieName(r))
	if err != nil {
		return ""
	}
	return found.Value
}

func (s *Service) cookieName(r *http.Request) string {
	if s.overTLS(r) {
		return hostOnly + cookieName
	}
	return cookieName
}

// overTLS reports whether browsers reach this server by https.
func (s *Service) overTLS(r *http.Request) bool {
	return r.TLS != nil || strings.HasPrefix(s.APIHost(), "https://")
}

package server

import (
	"net/http"
	"net/url"
)

// authorizePath is where people sign in in a sandbox, at whichever service.
const authorizePath = "/sandbox/authorize"

// signInPage gives the page of ours that stands for the sign-in page of any
// service, asked as that one would be; nil without a sandbox.
func (s *Server) signInPage() func(page string) string {
	if s.fakes == nil {
		return nil
	}
	return func(page string) string {
		query := ""
		if asked, err := url.Parse(page); err == nil {
			query = asked.RawQuery
		}
		return s.APIHost() + authorizePath + "?" + query
	}
}

// sandboxAuthorize answers GET /sandbox/authorize as a service does where somebody
// has signed in already and allowed all: it sends them back with a code. Back is
// our own callback, whatever the address says.
func (s *Server) sandboxAuthorize(w http.ResponseWriter, r *http.Request) {
	if s.fakes == nil || s.misnamed(r) != nil {
		s.page(w, r)
		return
	}
	back := url.Values{"code": {"sandbox-code"}, "state": {r.URL.Query().Get("state")}}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Referrer-Policy", "no-referrer")
	w.Header().Set("Location", s.APIHost()+"/oauth/callback?"+back.Encode())
	w.WriteHeader(http.StatusSeeOther)
}

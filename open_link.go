package main

import (
	"crypto/subtle"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"blueprintd/accounts"
	"blueprintd/blueprint"
	"blueprintd/clock"
	"blueprintd/ids"
	"blueprintd/rpc"
)

// openLink is an address of a server that signs in to the dashboard who visits it:
// once, and only from where the server is reached by names of this machine.
type openLink struct {
	server *server
	token  string
	to     string    // where it leads
	until  time.Time // by the clock of the machine; zero = as long as the server is there
	again  string    // what to do for another one
	// signIn makes the session, and gives what the browser keeps of it.
	signIn func(r *http.Request) (session string, err error)

	mu   sync.Mutex
	used bool
}

// url is the whole address.
func (l *openLink) url() string { return l.server.apiHost() + "/open/" + l.token }

// mount has a mux answer it.
func (l *openLink) mount(mux *http.ServeMux) {
	mux.HandleFunc("GET /open/{token}", l.visit)
	mux.HandleFunc("HEAD /open/{token}", func(w http.ResponseWriter, _ *http.Request) { // what previews a link does not use it up
		w.Header().Set("Allow", http.MethodGet)
		w.WriteHeader(blueprint.CodeMethodNotSupported.HTTPStatus())
	})
}

// visit signs in who comes first, and leads there who is signed in already.
func (l *openLink) visit(w http.ResponseWriter, r *http.Request) {
	s := l.server
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Referrer-Policy", "no-referrer")
	if s.misnamed(r) != nil || subtle.ConstantTimeCompare([]byte(r.PathValue("token")), []byte(l.token)) != 1 {
		s.nothingHere(w, r)
		return
	}
	cookie := rpc.SessionCookie{Name: s.cookieName(), Root: dashboardRoot, Secure: s.overTLS}
	late := !l.until.IsZero() && clock.Real{}.Now().After(l.until)
	if late || !l.first() {
		if _, err := s.store.AuthenticateSession(r.Context(), cookie.Token(r)); err != nil {
			how := "used"
			if late {
				how = "good for a while only"
			}
			w.WriteHeader(http.StatusGone)
			fmt.Fprintf(w, "This address was %s. %s\n", how, l.again)
			return
		}
	} else {
		session, err := l.signIn(r)
		if err != nil {
			s.options.logger.Error("nobody can be signed in by the address", "error", err)
			http.Error(w, "nobody can be signed in by this address. "+l.again, http.StatusInternalServerError)
			return
		}
		cookie.Keep(w, r, session)
	}
	http.Redirect(w, r, l.to, http.StatusSeeOther)
}

// first tells whether nobody has come before.
func (l *openLink) first() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	first := !l.used
	l.used = true
	return first
}

// openLife is how long the address is good that a developer's server prints.
const openLife = 15 * time.Minute

// newOpenLink makes the address that signs in the first user of a developer's server
// in memory that this machine alone reaches; nil for others, and when somebody has a
// password. It takes the setup link, with a password that nobody knows: whoever
// wants one of their own takes that link instead.
func (s *server) newOpenLink() *openLink {
	setup, found := strings.CutPrefix(s.welcome.setup, accounts.SetupPath)
	if !found || !s.options.develops || !s.options.ephemeral || !s.onlyHere() || s.options.publicURL != "" {
		return nil
	}
	random := ids.New(nil) // also where ids follow from a number
	return &openLink{
		server: s, token: random.Token(43), to: "/", until: clock.Real{}.Now().Add(openLife), again: "Start blueprintd dev again for another one.",
		signIn: func(r *http.Request) (string, error) {
			link, err := s.accounts.Link(r.Context(), setup)
			if err != nil {
				return "", err
			}
			session, _, err := s.accounts.Setup(r.Context(), setup, link.Email, link.Name, random.Token(43), blueprint.Visitor{Agent: agentOf(r)})
			return session, err
		},
	}
}

// agentOf names the browser of a request, of a length that fits a list.
func agentOf(r *http.Request) string {
	agent := strings.ToValidUTF8(r.UserAgent(), "")
	return agent[:min(len(agent), 200)]
}

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"blueprintd/tests/process"
)

// dashboardUser signs in to the dashboard, with a password or a link and in several
// browsers, and changes things there, one after the other.
type dashboardUser struct {
	*client
	scenario     *scenario
	email, id    string
	organization string

	number          int // of the latest password sent; 0 = none yet
	password        string
	oldPasswords    []string // passwords that are no longer valid
	browsers        []*browser
	links           []*setUpLink
	pendingPassword *passwordChange // sent, without a response; nil = none

	objects objects
}

// browser is a session of the dashboard user.
type browser struct {
	token   string
	id      string  // of its session; "" = not yet known
	created *change // by which it was made
	state   string  // signedIn, ending or signedOut
}

// The states of a session, as far as known.
const (
	signedIn  = "signed in"
	ending    = "ending" // its end was requested without a response
	signedOut = "signed out"
)

// setUpLink is a link for setting a password.
type setUpLink struct {
	token   string
	invalid bool // it was used or replaced
}

// passwordChange is a requested change of the password.
type passwordChange struct {
	password string
	keeps    *browser   // the session that continues, if the change was made
	link     *setUpLink // the link that makes it
}

func newDashboardUser(s *scenario) *dashboardUser {
	return &dashboardUser{client: s.client(1100), scenario: s, email: "browser@torture.example"}
}

// passwordOf returns the nth password.
func passwordOf(n int) string { return fmt.Sprintf("%svisitor-%d-5fc1b2", canary, n) }

// command runs a command on the database; the server may be running, starting or being
// killed.
func (u *dashboardUser) command(ctx context.Context, arguments ...string) (string, error) {
	command := exec.CommandContext(ctx, u.scenario.binary, append(arguments, "--db", u.scenario.database())...)
	command.Dir = filepath.Dir(u.scenario.database())
	out, err := command.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("%w: %s", err, exit.Stderr)
	}
	return string(out), err
}

// create creates the user.
func (u *dashboardUser) create(ctx context.Context) error {
	begun := now()
	out, err := u.command(ctx, "user", "add", "--email", u.email, "--name", "Browser", "--json")
	if err != nil {
		return fmt.Errorf("user add: %w", err)
	}
	var added struct{ ID, SetupURL string }
	if err := json.Unmarshal([]byte(out), &added); err != nil {
		return fmt.Errorf("user add: %w", err)
	}
	u.id = added.ID
	for _, action := range []string{"user.add", "user.link"} {
		u.api.changes.record(byOperator, begun, action, object{"userId": u.id}, answer{Status: http.StatusOK})
	}
	return u.addLink(added.SetupURL)
}

// addLink records a link, which replaces the earlier ones.
func (u *dashboardUser) addLink(text string) error {
	link, err := url.Parse(strings.TrimSpace(text))
	if err != nil || link.Query().Get("token") == "" {
		return fmt.Errorf("%q: want a link to set a password", text)
	}
	u.invalidateLinks()
	u.links = append(u.links, &setUpLink{token: link.Query().Get("token")})
	return nil
}

func (u *dashboardUser) invalidateLinks() {
	for _, l := range u.links {
		l.invalid = true
	}
}

// call calls a procedure of the dashboard from a browser, nil for one that is not signed
// in. The caller checks expected refusals.
func (u *dashboardUser) call(ctx context.Context, from *browser, procedure string, input object, changes bool) answer {
	address := u.api.Address()
	if address == "" {
		return answer{Err: process.ErrDown}
	}
	one := process.NewClient(address, "", u.api.HTTP) // the cookie's name depends on the address
	headers := []string{"User-Agent", "torture"}
	if from != nil {
		headers = append(headers, "Cookie", "blueprintd_"+address[strings.LastIndex(address, ":")+1:]+"="+from.token)
	}
	var a answer
	if path := "/app/trpc/" + procedure; changes {
		a = one.Do(ctx, http.MethodPost, path, object{"json": input}, headers...)
	} else {
		data, _ := json.Marshal(object{"json": input})
		a = one.Do(ctx, http.MethodGet, path+"?input="+url.QueryEscape(string(data)), nil, headers...)
	}
	if a.OK() {
		a.Value = process.At(a.Value, "result", "data", "json")
	}
	expected := a
	if a.Err == nil && a.Status >= 400 && a.Status < 500 {
		expected.Status = http.StatusConflict
	}
	u.succeeded(expected, procedure)
	return a
}

// mutate is call for mutations.
func (u *dashboardUser) mutate(ctx context.Context, from *browser, procedure string, input object) (answer, *change) {
	begun := now()
	a := u.call(ctx, from, procedure, input, true)
	if a.OK() {
		u.sessionWorked(from, a)
	}
	return a, u.api.changes.record(bySession, begun, procedure, input, a)
}

// sessionWorked records that a session worked.
func (u *dashboardUser) sessionWorked(from *browser, a answer) {
	switch {
	case from == nil:
	case from.state == signedOut:
		u.history.violated("I19", "", "the session %s has ended but still works: %s", from.id, a)
	default:
		from.state = signedIn // its end was not carried out
		u.history.count(func(n *counts) { n.Sessions++ })
	}
}

// useSession uses a session and checks whether it works as expected.
func (u *dashboardUser) useSession(ctx context.Context, from *browser) {
	a := u.call(ctx, from, "session.list", object{}, false)
	switch {
	case a.OK():
		u.sessionWorked(from, a)
		list, _ := a.Value.([]any)
		for _, one := range list {
			if id, _ := process.At(one, "id").(string); process.At(one, "current") == true && from.id == "" {
				from.id = id
				u.api.changes.setTarget(from.created, id)
			}
		}
	case a.Status == http.StatusUnauthorized:
		u.sessionRefused(from, a)
	}
}

// sessionRefused records that a session was refused.
func (u *dashboardUser) sessionRefused(from *browser, a answer) {
	if from.state == signedIn {
		u.history.violated("I19", "", "the session %s is signed in but is refused: %s", from.id, a)
	} else if from.state == signedOut {
		u.history.count(func(n *counts) { n.SessionsRefused++ })
	}
	from.state = signedOut
}

// signIn signs in with a password and returns the browser; refused reports that the
// password was refused.
func (u *dashboardUser) signIn(ctx context.Context, password string) (made *browser, refused bool) {
	a, d := u.mutate(ctx, nil, "session.create", object{"email": u.email, "password": password})
	if !a.OK() {
		return nil, a.Status == http.StatusUnauthorized
	}
	u.history.count(func(n *counts) { n.SignIns++ })
	return u.addBrowser(a, d), false
}

// addBrowser records the browser that a response signed in.
func (u *dashboardUser) addBrowser(a answer, d *change) *browser {
	response := http.Response{Header: a.Header}
	for _, c := range response.Cookies() {
		if c.Path != "/" {
			continue // it is not that of the session
		}
		made := &browser{token: c.Value, created: d, state: signedIn}
		u.browsers = append(u.browsers, made)
		return made
	}
	u.history.violated("I19", "", "a sign-in returned no cookie")
	return &browser{state: signedOut}
}

// randomBrowser returns a random browser in a state, nil if there is none.
func (u *dashboardUser) randomBrowser(state string) *browser {
	var candidates []*browser
	for _, b := range u.browsers {
		if b.state == state {
			candidates = append(candidates, b)
		}
	}
	if len(candidates) == 0 {
		return nil
	}
	return candidates[u.random.IntN(len(candidates))]
}

// maxBrowsers is the maximum number of simultaneous sessions.
const maxBrowsers = 6

// work acts as the user until loaded ends.
func (u *dashboardUser) work(ctx, loaded context.Context) {
	for process.Pause(loaded, time.Duration(10+u.random.IntN(60))*time.Millisecond) {
		if u.api.Address() != "" {
			u.step(ctx)
		}
	}
}

func (u *dashboardUser) step(ctx context.Context) {
	if u.pendingPassword != nil {
		u.resolvePassword(ctx)
		return
	}
	here := u.randomBrowser(signedIn)
	if u.password == "" {
		u.setUp(ctx, false)
		return
	}
	if here == nil {
		u.signIn(ctx, u.password)
		return
	}
	signed := 0
	for _, b := range u.browsers {
		if b.state == signedIn {
			signed++
		}
	}
	switch dice := u.random.IntN(100); {
	case dice < 12:
		u.useSession(ctx, here)
	case dice < 30:
		// One that ended just now has not yet ended again with a password.
		list := u.browsers
		if u.random.IntN(3) > 0 {
			list = list[max(0, len(list)-maxBrowsers):]
		}
		if other := list[u.random.IntN(len(list))]; other.state != signedIn {
			u.useSession(ctx, other)
		}
	case dice < 39 && signed < maxBrowsers:
		u.signIn(ctx, u.password)
	case dice < 45:
		u.endSession(ctx, here, here)
	case dice < 52:
		if other := u.randomBrowser(signedIn); other != here {
			u.endSession(ctx, here, other)
		}
	case dice < 55:
		u.changePassword(ctx, here)
	case dice < 59:
		u.createLink(ctx)
	case dice < 64:
		u.setUp(ctx, false)
	case dice < 67:
		u.setUp(ctx, true)
	case dice < 68 && len(u.oldPasswords) > 0:
		u.tryOldPassword(ctx, u.oldPasswords[u.random.IntN(len(u.oldPasswords))])
	default:
		u.changeObject(ctx, here)
	}
}

// endSession ends a session from the same browser or from another one.
func (u *dashboardUser) endSession(ctx context.Context, from, other *browser) {
	procedure, input := "session.revoke", object{"id": other.id}
	if from == other && u.random.IntN(2) == 0 {
		procedure = "session.delete"
	}
	if other.id == "" {
		u.useSession(ctx, other)
		return
	}
	sent := input
	if procedure == "session.delete" {
		sent = object{}
	}
	begun := now()
	a := u.call(ctx, from, procedure, sent, true)
	u.api.changes.record(bySession, begun, procedure, input, a)
	switch {
	case a.OK():
		if u.sessionWorked(from, a); other.state == signedIn {
			other.state = signedOut
			u.history.count(func(n *counts) { n.SignOuts++ })
		}
	case a.Status == http.StatusUnauthorized:
		u.sessionRefused(from, a)
	case a.Status == http.StatusNotFound:
		u.sessionRefused(other, a)
	case a.Err != process.ErrDown:
		other.state = ending
	}
}

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
	scene        *scene
	email, id    string
	organization string

	number   int // of the latest password sent; 0 = none yet
	password string
	past     []string // passwords that are no longer valid
	browsers []*browser
	links    []*setUpLink
	waits    *passwordChange // sent, without a response; nil = none

	things things
}

// browser is a session of the dashboard user.
type browser struct {
	token string
	id    string // of its session; "" = not yet known
	deed  *deed  // by which it was made
	state string // signedIn, leaving or gone
}

// The states of a session, as far as known.
const (
	signedIn = "signed in"
	leaving  = "leaving" // its end was requested without a response
	gone     = "gone"
)

// setUpLink is a link for setting a password.
type setUpLink struct {
	token string
	dead  bool // it was used or replaced
}

// passwordChange is a requested change of the password.
type passwordChange struct {
	password string
	keeps    *browser   // the session that continues, if the change was made
	link     *setUpLink // the link that makes it
}

func newDashboardUser(s *scene) *dashboardUser {
	return &dashboardUser{client: s.client(1100), scene: s, email: "browser@torture.example"}
}

// passwordOf returns the nth password.
func passwordOf(n int) string { return fmt.Sprintf("%svisitor-%d-5fc1b2", canary, n) }

// command runs a command on the database; the server may be running, starting or being
// killed.
func (v *dashboardUser) command(ctx context.Context, arguments ...string) (string, error) {
	command := exec.CommandContext(ctx, v.scene.binary, append(arguments, "--db", v.scene.database())...)
	command.Dir = filepath.Dir(v.scene.database())
	out, err := command.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("%w: %s", err, exit.Stderr)
	}
	return string(out), err
}

// arrive creates the user.
func (v *dashboardUser) arrive(ctx context.Context) error {
	begun := now()
	out, err := v.command(ctx, "user", "add", "--email", v.email, "--name", "Browser", "--json")
	if err != nil {
		return fmt.Errorf("user add: %w", err)
	}
	var added struct{ ID, SetupURL string }
	if err := json.Unmarshal([]byte(out), &added); err != nil {
		return fmt.Errorf("user add: %w", err)
	}
	v.id = added.ID
	for _, action := range []string{"user.add", "user.link"} {
		v.api.minutes.note(byOperator, begun, action, object{"userId": v.id}, answer{Status: http.StatusOK})
	}
	return v.addLink(added.SetupURL)
}

// addLink records a link, which replaces the earlier ones.
func (v *dashboardUser) addLink(text string) error {
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil || u.Query().Get("token") == "" {
		return fmt.Errorf("%q: want a link to set a password", text)
	}
	v.endLinks()
	v.links = append(v.links, &setUpLink{token: u.Query().Get("token")})
	return nil
}

func (v *dashboardUser) endLinks() {
	for _, l := range v.links {
		l.dead = true
	}
}

// call calls a procedure of the dashboard from a browser, nil for one that is not signed
// in. The caller judges expected refusals.
func (v *dashboardUser) call(ctx context.Context, from *browser, procedure string, input object, changes bool) answer {
	address := v.api.Address()
	if address == "" {
		return answer{Err: process.ErrDown}
	}
	one := process.NewClient(address, "", v.api.HTTP) // the cookie's name depends on the address
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
	told := a
	if a.Err == nil && a.Status >= 400 && a.Status < 500 {
		told.Status = http.StatusConflict
	}
	v.succeeded(told, procedure)
	return a
}

// does is call for mutations.
func (v *dashboardUser) does(ctx context.Context, from *browser, procedure string, input object) (answer, *deed) {
	begun := now()
	a := v.call(ctx, from, procedure, input, true)
	if a.OK() {
		v.used(from, a)
	}
	return a, v.api.minutes.note(bySession, begun, procedure, input, a)
}

// used records that a session worked.
func (v *dashboardUser) used(from *browser, a answer) {
	switch {
	case from == nil:
	case from.state == gone:
		v.book.violated("I19", "", "the session %s has ended, and it works: %s", from.id, a)
	default:
		from.state = signedIn // its end was not carried out
		v.book.count(func(n *counts) { n.Sessions++ })
	}
}

// look uses a session and checks whether it works as expected.
func (v *dashboardUser) look(ctx context.Context, from *browser) {
	a := v.call(ctx, from, "session.list", object{}, false)
	switch {
	case a.OK():
		v.used(from, a)
		list, _ := a.Value.([]any)
		for _, one := range list {
			if id, _ := process.At(one, "id").(string); process.At(one, "current") == true && from.id == "" {
				from.id = id
				v.api.minutes.name(from.deed, id)
			}
		}
	case a.Status == http.StatusUnauthorized:
		v.refused(from, a)
	}
}

// refused records that a session was refused.
func (v *dashboardUser) refused(from *browser, a answer) {
	if from.state == signedIn {
		v.book.violated("I19", "", "the session %s was signed in, and it is refused: %s", from.id, a)
	} else if from.state == gone {
		v.book.count(func(n *counts) { n.Turned++ })
	}
	from.state = gone
}

// signIn signs in with a password and returns the browser; refused reports that the
// password was refused.
func (v *dashboardUser) signIn(ctx context.Context, password string) (made *browser, refused bool) {
	a, d := v.does(ctx, nil, "session.create", object{"email": v.email, "password": password})
	if !a.OK() {
		return nil, a.Status == http.StatusUnauthorized
	}
	v.book.count(func(n *counts) { n.SignIns++ })
	return v.open(a, d), false
}

// open records the browser that a response signed in.
func (v *dashboardUser) open(a answer, d *deed) *browser {
	response := http.Response{Header: a.Header}
	for _, c := range response.Cookies() {
		if c.Path != "/" {
			continue // it is not that of the session
		}
		made := &browser{token: c.Value, deed: d, state: signedIn}
		v.browsers = append(v.browsers, made)
		return made
	}
	v.book.violated("I19", "", "a sign-in returned no cookie")
	return &browser{state: gone}
}

// some returns a random browser in a state, nil if there is none.
func (v *dashboardUser) some(state string) *browser {
	var fit []*browser
	for _, b := range v.browsers {
		if b.state == state {
			fit = append(fit, b)
		}
	}
	if len(fit) == 0 {
		return nil
	}
	return fit[v.random.IntN(len(fit))]
}

// mostBrowsers is the maximum number of simultaneous sessions.
const mostBrowsers = 6

// work acts as the user until loaded ends.
func (v *dashboardUser) work(ctx, loaded context.Context) {
	for process.Pause(loaded, time.Duration(10+v.random.IntN(60))*time.Millisecond) {
		if v.api.Address() != "" {
			v.step(ctx)
		}
	}
}

func (v *dashboardUser) step(ctx context.Context) {
	if v.waits != nil {
		v.learn(ctx)
		return
	}
	here := v.some(signedIn)
	if v.password == "" {
		v.setUp(ctx, false)
		return
	}
	if here == nil {
		v.signIn(ctx, v.password)
		return
	}
	signed := 0
	for _, b := range v.browsers {
		if b.state == signedIn {
			signed++
		}
	}
	switch dice := v.random.IntN(100); {
	case dice < 12:
		v.look(ctx, here)
	case dice < 30:
		// One that ended just now has not yet ended again with a password.
		list := v.browsers
		if v.random.IntN(3) > 0 {
			list = list[max(0, len(list)-mostBrowsers):]
		}
		if other := list[v.random.IntN(len(list))]; other.state != signedIn {
			v.look(ctx, other)
		}
	case dice < 39 && signed < mostBrowsers:
		v.signIn(ctx, v.password)
	case dice < 45:
		v.end(ctx, here, here)
	case dice < 52:
		if other := v.some(signedIn); other != here {
			v.end(ctx, here, other)
		}
	case dice < 55:
		v.changePassword(ctx, here)
	case dice < 59:
		v.askForLink(ctx)
	case dice < 64:
		v.setUp(ctx, false)
	case dice < 67:
		v.setUp(ctx, true)
	case dice < 68 && len(v.past) > 0:
		v.tryPast(ctx, v.past[v.random.IntN(len(v.past))])
	default:
		v.change(ctx, here)
	}
}

// end ends a session from the same browser or from another one.
func (v *dashboardUser) end(ctx context.Context, from, other *browser) {
	procedure, input := "session.revoke", object{"id": other.id}
	if from == other && v.random.IntN(2) == 0 {
		procedure = "session.delete"
	}
	if other.id == "" {
		v.look(ctx, other)
		return
	}
	sent := input
	if procedure == "session.delete" {
		sent = object{}
	}
	begun := now()
	a := v.call(ctx, from, procedure, sent, true)
	v.api.minutes.note(bySession, begun, procedure, input, a)
	switch {
	case a.OK():
		if v.used(from, a); other.state == signedIn {
			other.state = gone
			v.book.count(func(n *counts) { n.SignOuts++ })
		}
	case a.Status == http.StatusUnauthorized:
		v.refused(from, a)
	case a.Status == http.StatusNotFound:
		v.refused(other, a)
	case a.Err != process.ErrDown:
		other.state = leaving
	}
}

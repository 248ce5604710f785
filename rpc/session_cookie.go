package rpc

import (
	"net/http"
	"time"

	"blueprintd/blueprint"
	"blueprintd/rpc/trpc"
)

// hostOnly begins the names of cookies that browsers take from this very host
// alone, over https.
const hostOnly = "__Host-"

// SessionCookie is how the dashboard's cookies are set and read: that of the
// session, and one by which a browser is known after somebody has signed in
// there. Name tells them from those of other servers on the same host, whatever
// their ports; Secure tells whether browsers reach this server by https in a
// request. The second cookie goes to what is below Root alone.
type SessionCookie struct {
	Name   string
	Root   string
	Secure func(*http.Request) bool
}

// Token gives what the browser keeps of its session, "" when it keeps none.
func (c SessionCookie) Token(r *http.Request) string {
	found, err := r.Cookie(c.name(r))
	if err != nil {
		return ""
	}
	return found.Value
}

func (c SessionCookie) name(r *http.Request) string {
	if c.Secure(r) {
		return hostOnly + c.Name
	}
	return c.Name
}

// set lets the browser of a call keep a token for as long as a session can
// last; clear lets it forget.
func (c SessionCookie) set(caller *trpc.Caller, token string) {
	c.write(caller, token, int(blueprint.SessionLife/time.Second))
}

func (c SessionCookie) clear(caller *trpc.Caller) { c.write(caller, "", -1) }

// Keep has the browser of a request that no procedure answers keep what it does
// once somebody has signed in: the token of the session, and by what the browser is
// known, "" for nothing.
func (c SessionCookie) Keep(w http.ResponseWriter, r *http.Request, token, device string) {
	http.SetCookie(w, c.of(r, token, int(blueprint.SessionLife/time.Second)))
	if device != "" {
		http.SetCookie(w, c.ofDevice(r, device))
	}
}

func (c SessionCookie) write(caller *trpc.Caller, token string, seconds int) {
	caller.Header.Set("Set-Cookie", c.of(caller.Request, token, seconds).String())
}

func (c SessionCookie) of(r *http.Request, token string, seconds int) *http.Cookie {
	return &http.Cookie{
		Name: c.name(r), Value: token, Path: "/", MaxAge: seconds,
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: c.Secure(r),
	}
}

// Device returns the device token of a request, "" if there is none.
func (c SessionCookie) Device(r *http.Request) string {
	found, err := r.Cookie(c.device())
	if err != nil {
		return ""
	}
	return found.Value
}

// keep lets the browser of a call keep by what it is known, besides its session.
func (c SessionCookie) keep(caller *trpc.Caller, device string) {
	caller.Header.Add("Set-Cookie", c.ofDevice(caller.Request, device).String())
}

func (c SessionCookie) ofDevice(r *http.Request, device string) *http.Cookie {
	return &http.Cookie{
		Name: c.device(), Value: device, Path: c.Root, MaxAge: int(blueprint.DeviceLife / time.Second),
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: c.Secure(r),
	}
}

func (c SessionCookie) device() string { return c.Name + "_device" }

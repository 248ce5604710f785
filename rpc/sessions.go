package rpc

import (
	"context"
	"net/http"
	"slices"
	"time"

	"blueprintd/blueprint"
	"blueprintd/rpc/trpc"
)

// sessionStore returns CodeNotFound for sessions of other users.
type sessionStore interface {
	actionStore
	Organizations(ctx context.Context, p blueprint.Principal) ([]blueprint.Organization, error)
	User(ctx context.Context, id string) (blueprint.User, error)
	Sessions(ctx context.Context, p blueprint.Principal) ([]blueprint.Session, error)
	EndSession(ctx context.Context, p blueprint.Principal, id string) error
	EndSessions(ctx context.Context, p blueprint.Principal) error
	// EndSessionOf ends the session of a token, if there is one.
	EndSessionOf(ctx context.Context, token string) error
}

// Accounts signs users in. SignIn and Setup return the session token for the browser,
// Device the token of a known device, "" for none. Errors are fit for callers who are not
// signed in.
type Accounts interface {
	SignIn(ctx context.Context, email, password string, from blueprint.SignInClient) (token string, session blueprint.Session, err error)
	Device(email, before string) string
	Link(ctx context.Context, token string) (blueprint.SetupLink, error)
	Setup(ctx context.Context, token, email, name, password string, from blueprint.SignInClient) (sessionToken string, session blueprint.Session, err error)
	ChangePassword(ctx context.Context, principal blueprint.Principal, current, password string, from blueprint.SignInClient) error
}

// Sessions implements the procedures of the dashboard's sessions.
type Sessions struct {
	store    sessionStore
	accounts Accounts
	cookie   SessionCookie
}

// NewSessions returns Sessions with the given cookies.
func NewSessions(store sessionStore, accounts Accounts, cookie SessionCookie) *Sessions {
	return &Sessions{store: store, accounts: accounts, cookie: cookie}
}

// Procedures returns the procedures for the dashboard alone, beside those of Service.
func (s *Sessions) Procedures() []trpc.Procedure { return audited(s.store, s.table()) }

func (s *Sessions) table() []trpc.Procedure {
	return []trpc.Procedure{
		trpc.Public(trpc.Mutation("session.create", blueprint.ScopeAdmin, s.sessionCreate)),
		trpc.Public(trpc.Query("session.getSetup", blueprint.ScopeRead, s.sessionGetSetup)),
		trpc.Public(trpc.Mutation("session.setup", blueprint.ScopeAdmin, s.sessionSetup)),
		trpc.Query("session.get", blueprint.ScopeRead, s.sessionGet),
		trpc.Query("session.list", blueprint.ScopeRead, s.sessionList),
		trpc.Mutation("session.revoke", blueprint.ScopeAdmin, s.sessionRevoke),
		trpc.Mutation("session.delete", blueprint.ScopeAdmin, s.sessionDelete),
		trpc.Mutation("session.changePassword", blueprint.ScopeAdmin, s.sessionChangePassword),
	}
}

type session struct {
	User struct {
		ID    string `json:"id"`
		Email string `json:"email"`
		Name  string `json:"name"`
	} `json:"user"`
	Organizations []blueprint.Organization `json:"organizations"`
	ExpiresAt     blueprint.Time           `json:"expiresAt"`
}

// setupLink is the account whose password a link sets. Fresh is set for the server's
// owner, who may choose name and email.
type setupLink struct {
	Email string `json:"email"`
	Name  string `json:"name"`
	Fresh bool   `json:"fresh"`
}

type sessionListed struct {
	ID         string         `json:"id"`
	Agent      string         `json:"agent"`
	CreatedAt  blueprint.Time `json:"createdAt"`
	LastUsedAt blueprint.Time `json:"lastUsedAt"`
	ExpiresAt  blueprint.Time `json:"expiresAt"`
	Current    bool           `json:"current"`
}

type sessionCreate struct {
	Email    string `json:"email" check:"required,trim,min=1,max=320"`
	Password string `json:"password" check:"required,max=1000"`
}

type sessionSetup struct {
	Token    string `json:"token" check:"required,max=200"`
	Email    string `json:"email" check:"required,trim,min=3,max=320"`
	Name     string `json:"name" check:"required,trim,line,min=1,max=200"`
	Password string `json:"password" check:"required,max=1000"`
}

type setupToken struct {
	Token string `json:"token" check:"required,max=200"`
}

type sessionDelete struct {
	Everywhere bool `json:"everywhere" guards:"every"`
}

type sessionID struct {
	ID string `json:"id" check:"required"`
}

type passwordChange struct {
	Current  string `json:"current" check:"required,max=1000"`
	Password string `json:"password" check:"required,max=1000"`
}

func (s *Sessions) sessionCreate(ctx context.Context, caller *trpc.Caller, in sessionCreate) (session, error) {
	if err := takesCookie(caller); err != nil {
		return session{}, err
	}
	from := caller.SignInClient()
	from.Device = s.cookie.Device(caller.Request)
	token, made, err := s.accounts.SignIn(ctx, in.Email, in.Password, from)
	if err != nil {
		return session{}, err
	}
	return s.begun(ctx, caller, token, made)
}

func (s *Sessions) sessionGetSetup(ctx context.Context, _ *trpc.Caller, in setupToken) (setupLink, error) {
	link, err := s.accounts.Link(ctx, in.Token)
	return setupLink{Email: link.Email, Name: link.Name, Fresh: link.Initial}, err
}

func (s *Sessions) sessionSetup(ctx context.Context, caller *trpc.Caller, in sessionSetup) (session, error) {
	if err := takesCookie(caller); err != nil {
		return session{}, err
	}
	token, made, err := s.accounts.Setup(ctx, in.Token, in.Email, in.Name, in.Password, caller.SignInClient())
	if err != nil {
		return session{}, err
	}
	return s.begun(ctx, caller, token, made)
}

// takesCookie refuses a call whose response cannot set a cookie.
func takesCookie(caller *trpc.Caller) error {
	if caller.Streams() {
		return blueprint.Errorf(blueprint.CodeBadRequest, "this call sets a cookie and cannot be part of a streamed batch")
	}
	return nil
}

// begun returns the result of a sign-in and sets its cookies. It ends the previous session
// of the browser, whose cookie is replaced.
func (s *Sessions) begun(ctx context.Context, caller *trpc.Caller, token string, made blueprint.Session) (session, error) {
	out, err := s.sessionOf(ctx, made)
	if before := s.cookie.Token(caller.Request); err == nil && before != "" {
		err = s.store.EndSessionOf(ctx, before)
	}
	if err != nil {
		return session{}, err
	}
	s.cookie.write(caller, token, int(blueprint.SessionLifetime/time.Second))
	if device := s.accounts.Device(out.User.Email, s.cookie.Device(caller.Request)); device != "" {
		caller.Header.Add("Set-Cookie", s.cookie.ofDevice(caller.Request, device).String())
	}
	return out, nil
}

func (s *Sessions) sessionOf(ctx context.Context, of blueprint.Session) (out session, err error) {
	user, err := s.store.User(ctx, of.UserID)
	if err != nil {
		return out, err
	}
	out.User.ID, out.User.Email, out.User.Name, out.ExpiresAt = user.ID, user.Email, user.Name, of.ExpiresAt
	out.Organizations, err = s.store.Organizations(ctx, blueprint.Principal{UserID: user.ID})
	return out, err
}

// mine returns the caller's sessions and that of the call; CodeUnauthorized without it.
func (s *Sessions) mine(ctx context.Context, caller *trpc.Caller) (all []blueprint.Session, own blueprint.Session, err error) {
	all, err = s.store.Sessions(ctx, caller.Principal)
	if i := slices.IndexFunc(all, func(one blueprint.Session) bool { return one.ID == caller.SessionID }); i >= 0 {
		own = all[i]
	} else if err == nil {
		err = blueprint.Errorf(blueprint.CodeUnauthorized, "the session has ended; sign in again")
	}
	return all, own, err
}

func (s *Sessions) sessionGet(ctx context.Context, caller *trpc.Caller, _ struct{}) (session, error) {
	_, own, err := s.mine(ctx, caller)
	if err != nil {
		return session{}, err
	}
	return s.sessionOf(ctx, own)
}

func (s *Sessions) sessionList(ctx context.Context, caller *trpc.Caller, _ struct{}) ([]sessionListed, error) {
	all, own, err := s.mine(ctx, caller)
	if err != nil {
		return nil, err
	}
	list := make([]sessionListed, len(all))
	for i, one := range all {
		list[i] = sessionListed{one.ID, one.Agent, one.CreatedAt, one.LastUsedAt, one.ExpiresAt, one.ID == own.ID}
	}
	return list, nil
}

func (s *Sessions) sessionRevoke(ctx context.Context, caller *trpc.Caller, in sessionID) (succeeded, error) {
	if err := s.store.EndSession(ctx, caller.Principal, in.ID); err != nil {
		return succeeded{}, err
	}
	if in.ID == caller.SessionID {
		s.cookie.clear(caller)
	}
	return succeeded{true}, nil
}

func (s *Sessions) sessionDelete(ctx context.Context, caller *trpc.Caller, in sessionDelete) (succeeded, error) {
	var err error
	if in.Everywhere {
		err = s.store.EndSessions(ctx, caller.Principal)
	} else if err = s.store.EndSession(ctx, caller.Principal, caller.SessionID); blueprint.CodeOf(err) == blueprint.CodeNotFound {
		err = nil // it has ended already
	}
	if err != nil {
		return succeeded{}, err
	}
	s.cookie.clear(caller)
	return succeeded{true}, nil
}

func (s *Sessions) sessionChangePassword(ctx context.Context, caller *trpc.Caller, in passwordChange) (succeeded, error) {
	return success(s.accounts.ChangePassword(ctx, caller.Principal, in.Current, in.Password, caller.SignInClient()))
}

// hostOnly is the prefix of cookies that browsers accept from this host alone, over https.
const hostOnly = "__Host-"

// SessionCookie sets and reads the dashboard's cookies: one for the session, and one for
// the device, which is known after a sign-in.
type SessionCookie struct {
	Name   string                   // distinguishes servers on different ports of a host
	Root   string                   // the path of the device cookie
	Secure func(*http.Request) bool // reports whether the browser uses https
}

// Token returns the session token of a request, "" for none.
func (c SessionCookie) Token(r *http.Request) string { return cookieOf(r, c.name(r)) }

func cookieOf(r *http.Request, name string) string {
	found, err := r.Cookie(name)
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

func (c SessionCookie) clear(caller *trpc.Caller) { c.write(caller, "", -1) }

// Keep sets the cookies of a sign-in outside the procedures. device is "" for none.
func (c SessionCookie) Keep(w http.ResponseWriter, r *http.Request, token, device string) {
	http.SetCookie(w, c.of(r, token, int(blueprint.SessionLifetime/time.Second)))
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

// Device returns the device token of a request, "" for none.
func (c SessionCookie) Device(r *http.Request) string { return cookieOf(r, c.device()) }

func (c SessionCookie) ofDevice(r *http.Request, device string) *http.Cookie {
	return &http.Cookie{
		Name: c.device(), Value: device, Path: c.Root, MaxAge: int(blueprint.DeviceLifetime / time.Second),
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: c.Secure(r),
	}
}

func (c SessionCookie) device() string { return c.Name + "_device" }

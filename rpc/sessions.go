package rpc

import (
	"context"

	"blueprintd/blueprint"
	"blueprintd/rpc/trpc"
)

// sessionStore is what these procedures ask of the database. A session that is
// not the caller's own is CodeNotFound.
type sessionStore interface {
	User(ctx context.Context, id string) (blueprint.User, error)
	Sessions(ctx context.Context, p blueprint.Principal) ([]blueprint.Session, error)
	EndSession(ctx context.Context, p blueprint.Principal, id string) error
	EndSessions(ctx context.Context, p blueprint.Principal) error
	// EndSessionOf ends the session of a token, if it is one.
	EndSessionOf(ctx context.Context, token string) error
}

// Accounts lets people sign in: SignIn and Setup give the token that the browser
// keeps, Device what it is known by afterwards, "" for nothing. Their refusals are fit for who is not signed in.
type Accounts interface {
	SignIn(ctx context.Context, email, password string, from blueprint.Visitor) (token string, session blueprint.Session, err error)
	Device(email, before string) string
	Link(ctx context.Context, token string) (blueprint.SetupLink, error)
	Setup(ctx context.Context, token, email, name, password string, from blueprint.Visitor) (sessionToken string, session blueprint.Session, err error)
	ChangePassword(ctx context.Context, principal blueprint.Principal, current, password string, from blueprint.Visitor) error
}

// SessionProcedures is the table of what only the dashboard can call: signing
// in and out. It stands beside Procedures under the dashboard's own root.
func (s *Service) SessionProcedures() []trpc.Procedure {
	return s.audited([]trpc.Procedure{
		trpc.Public(trpc.Mutation("session.create", blueprint.ScopeAdmin, s.sessionCreate)),
		trpc.Public(trpc.Query("session.getSetup", blueprint.ScopeRead, s.sessionGetSetup)),
		trpc.Public(trpc.Mutation("session.setup", blueprint.ScopeAdmin, s.sessionSetup)),
		trpc.Query("session.get", blueprint.ScopeRead, s.sessionGet),
		trpc.Query("session.list", blueprint.ScopeRead, s.sessionList),
		trpc.Mutation("session.revoke", blueprint.ScopeAdmin, s.sessionRevoke),
		trpc.Mutation("session.delete", blueprint.ScopeAdmin, s.sessionDelete),
		trpc.Mutation("session.changePassword", blueprint.ScopeAdmin, s.sessionChangePassword),
	})
}

// session is who is signed in.
type session struct {
	User struct {
		ID    string `json:"id"`
		Email string `json:"email"`
		Name  string `json:"name"`
	} `json:"user"`
	Organizations []blueprint.Organization `json:"organizations"`
	ExpiresAt     blueprint.Time           `json:"expiresAt"`
}

// setupLink is whose password a link sets. Fresh tells that it is the first
// user's, who may choose name and email.
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

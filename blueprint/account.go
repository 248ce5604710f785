package blueprint

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// OrganizationRole is the role of a member of an organization.
type OrganizationRole string

// The roles in an organization. Each has the rights of those before it.
const (
	OrganizationMember OrganizationRole = "member"
	OrganizationAdmin  OrganizationRole = "admin"
	OrganizationOwner  OrganizationRole = "owner"
)

// CollaboratorRole is the role of a collaborator of a blueprint.
type CollaboratorRole string

// The roles of collaborators. An admin has the rights of an editor.
const (
	CollaboratorEditor CollaboratorRole = "editor"
	CollaboratorAdmin  CollaboratorRole = "admin"
)

// Organization is an organization as one of its members sees it.
type Organization struct {
	ID       string           `json:"id"`
	Name     string           `json:"name"`
	Slug     string           `json:"slug"`
	Role     OrganizationRole `json:"role"` // of the member
	Personal bool             `json:"personal"`
}

// OwnedKey is an API key with its owner.
type OwnedKey struct {
	APIKey
	UserID    string `json:"userId"`
	UserEmail string `json:"userEmail"`
}

// Member is a member of an organization.
type Member struct {
	UserID string           `json:"userId"`
	Email  string           `json:"email"`
	Name   string           `json:"name"`
	Role   OrganizationRole `json:"role"`
}

// Collaborator is a user with whom a blueprint is shared.
type Collaborator struct {
	UserID string           `json:"userId"`
	Email  string           `json:"email"`
	Name   string           `json:"name"`
	Role   CollaboratorRole `json:"role"`
}

// Category groups the blueprints of an organization.
type Category struct {
	ID             string `json:"id"`
	Name           string `json:"name"`
	Slug           string `json:"slug"`
	OrganizationID string `json:"organizationId"`
}

// A session ends after SessionIdle without use and after SessionLifetime in any case;
// a user has at most MaxSessions.
const (
	SessionIdle     = 30 * 24 * time.Hour
	SessionLifetime = 90 * 24 * time.Hour
	MaxSessions     = 100
)

// DeviceLifetime is how long a browser is recognized after a sign-in.
const DeviceLifetime = 365 * 24 * time.Hour

// SetupLifetime is how long a setup link is valid.
const SetupLifetime = 24 * time.Hour

// SessionEnd returns when a session ends unless it is used again.
func SessionEnd(made, used Time) Time {
	return min(TimeOf(used.Time().Add(SessionIdle)), TimeOf(made.Time().Add(SessionLifetime)))
}

// Session is a sign-in to the dashboard.
type Session struct {
	ID         string // ULID
	UserID     string
	Agent      string // User-Agent header
	CreatedAt  Time
	LastUsedAt Time
	ExpiresAt  Time // unless it is used again
}

// SetupLink is a link by which a user sets a password.
type SetupLink struct {
	UserID string
	Email  string
	Name   string
	// Initial reports that the link is for the first password of the server's owner,
	// who may also choose the email.
	Initial bool
}

// SignInClient identifies the client of a sign-in attempt, for throttling.
type SignInClient struct {
	Address string // of one person: an IPv4 address or an IPv6 prefix
	Network string // the wider network of the address
	Agent   string // User-Agent header
	Device  string // device cookie of an earlier sign-in; "" = none
}

// Limits of a password: shortestPassword in characters, longestPassword in bytes.
const (
	shortestPassword = 10
	longestPassword  = 1000
)

// CheckPassword returns CodeBadRequest about the field password unless password is
// acceptable for the account with the email.
func CheckPassword(password, email string) error {
	switch {
	case len(password) > longestPassword:
		return FieldError("password", "must have at most %d bytes", longestPassword)
	case !utf8.ValidString(password):
		return FieldError("password", "is not valid UTF-8")
	case utf8.RuneCountInString(password) < shortestPassword:
		return FieldError("password", "must have at least %d characters", shortestPassword)
	case FoldEmail(strings.TrimSpace(password)) == FoldEmail(email):
		return FieldError("password", "must not be the email")
	}
	return nil
}

// CheckEmail returns CodeBadRequest about the field email unless email is an address. It
// does not check that the address receives mail.
func CheckEmail(email string) error {
	local, domain, found := strings.Cut(email, "@")
	if !found || local == "" || domain == "" || len(email) > 320 || strings.ContainsFunc(email, notInEmail) {
		return FieldError("email", "must be an email address such as ada@example.org")
	}
	return nil
}

// notInEmail reports whether r cannot be part of an email address: white space and
// characters that control how the text around them is displayed.
func notInEmail(r rune) bool {
	return !unicode.IsGraphic(r) || unicode.IsSpace(r) || r == '<' || r == '>' || r == utf8.RuneError
}

// FoldEmail returns the same text for emails that differ only in letter case.
func FoldEmail(email string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			least = min(least, next)
		}
		return least
	}, email)
}

// FieldError returns a CodeBadRequest error with one issue, about a field of the input.
func FieldError(field, format string, args ...any) error {
	message := fmt.Sprintf(format, args...)
	return &Error{Code: CodeBadRequest, Message: field + ": " + message, Issues: []Issue{{Path: []any{field}, Message: message}}}
}

// KeyScope is a set of operations to which an API key can be limited.
type KeyScope string

// The scopes. Run and write include read, and admin includes all.
const (
	ScopeRead  KeyScope = "read"  // queries
	ScopeRun   KeyScope = "run"   // start, answer and cancel runs
	ScopeWrite KeyScope = "write" // change blueprints, triggers, connections, categories, ratings and grants
	ScopeAdmin KeyScope = "admin" // organizations, members, collaborators, keys and the audit log
)

// KeyScopes is a set of scopes, sorted by name.
type KeyScopes []KeyScope

// AllScopes returns every scope.
func AllScopes() KeyScopes { return KeyScopes{ScopeAdmin, ScopeRead, ScopeRun, ScopeWrite} }

// ParseScopes parses the result of String in any order. For an unknown name ok is false.
func ParseScopes(text string) (scopes KeyScopes, unknown string, ok bool) {
	for name := range strings.SplitSeq(text, ",") {
		scope := KeyScope(strings.TrimSpace(name))
		if !slices.Contains(AllScopes(), scope) {
			return nil, string(scope), false
		}
		scopes = append(scopes, scope)
	}
	return scopes.Sorted(), "", true
}

// Sorted returns the set sorted and without duplicates.
func (s KeyScopes) Sorted() KeyScopes {
	sorted := slices.Clone(s)
	slices.Sort(sorted)
	return slices.Compact(sorted)
}

// Allow reports whether the set includes scope, which is false for unknown scopes.
func (s KeyScopes) Allow(scope KeyScope) bool {
	switch scope {
	case ScopeRead:
		return len(s) > 0
	case ScopeRun, ScopeWrite, ScopeAdmin:
		return slices.Contains(s, scope) || slices.Contains(s, ScopeAdmin)
	}
	return false
}

func (s KeyScopes) String() string {
	names := make([]string, len(s))
	for i, scope := range s {
		names[i] = string(scope)
	}
	return strings.Join(names, ",")
}

// Admission is the access of a token: the principal's, limited to scopes, until it expires.
type Admission struct {
	Principal
	Scopes    KeyScopes
	ExpiresAt Time // 0 = never
}

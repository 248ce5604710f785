// Package accounts signs users in to the dashboard with a password: it hashes passwords,
// throttles wrong ones, and checks the links that set a password.
//
// No answer reveals whether an account exists: an unknown email takes as long as a wrong
// password, has the same error, and is throttled alike.
//
// A flood from one network takes only its share of the hashing. A device on which an
// account has signed in before has its own count of wrong passwords, and is not throttled
// by those of others.
package accounts

import (
	"cmp"
	"context"
	"strings"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/ids"
	"blueprintd/foundation/secret"
)

// tokenLength is the length of links and session tokens in base62 characters: 256 bits.
const tokenLength = 43

// Store is the database of accounts.
type Store interface {
	// Password returns the password hash of the account with an email, PasswordOf that of a
	// user; "" if there is no account or it has no password.
	Password(ctx context.Context, email string) (userID, hash string, err error)
	PasswordOf(ctx context.Context, userID string) (email, hash string, err error)
	// SetPassword sets the hash, ChangePassword only if it is still before.
	SetPassword(ctx context.Context, userID, hash string) error
	ChangePassword(ctx context.Context, principal blueprint.Principal, before, hash string) error

	// CountAttempt counts an attempt in all processes on the database, under each key of
	// limits. If a key has as many within span as its limit, nothing is counted and wait is
	// the time until it has fewer. ForgetAttempt undoes that. Where there is one process,
	// both do nothing.
	CountAttempt(ctx context.Context, limits map[string]int, span time.Duration) (attempt int64, wait time.Duration, err error)
	ForgetAttempt(ctx context.Context, attempt int64) error

	// BeginSession creates a session if the account still has the hash.
	BeginSession(ctx context.Context, userID, hash, token, agent string) (blueprint.Session, error)
	// OpenSession creates a session without a password.
	OpenSession(ctx context.Context, userID, token, agent string) (blueprint.Session, error)

	SetupLink(ctx context.Context, token string) (blueprint.SetupLink, error)
	CreateSetupLink(ctx context.Context, userID, token string) error
	// TakeSetupLink uses a link: it sets name, email and password, and creates a session.
	TakeSetupLink(ctx context.Context, token string, link blueprint.SetupLink, hash, sessionToken, agent string) (blueprint.Session, error)
}

// Options are what a Service is built from. All but Sealer and Failed are required.
type Options struct {
	Store  Store
	Clock  clock.Clock
	IDs    *ids.Source
	Sealer *secret.Sealer // of device tokens; nil = no known devices
	// Failed is called after a wrong password of an existing user. It must not block.
	Failed func(ctx context.Context, userID string)
	// HashMemory is the KiB of memory that hashing a password takes; 0 = 19 MiB, which
	// OWASP recommends. Less is for tests.
	HashMemory uint32
}

// Service signs users in. It is safe for concurrent use.
type Service struct {
	Options
	hasher   *hasher
	throttle *throttle
}

// New returns a service.
func New(o Options) *Service {
	return &Service{Options: o, hasher: newHasher(o.HashMemory), throttle: newThrottle(o.Clock)}
}

// SignIn creates a session and returns its token. Errors: CodeUnauthorized for a wrong
// email or password, CodeTooManyRequests after too many of them, CodeUnavailable if there
// are too many simultaneous sign-ins. The throttle is first: guessing costs little.
//
// A known device has its own throttle and its own place in the queue: the right password
// signs in there even while others guess passwords elsewhere.
func (s *Service) SignIn(ctx context.Context, email, password string, from blueprint.SignInClient) (token string, session blueprint.Session, err error) {
	account, address, network := "sign in "+blueprint.FoldEmail(email), from.Address, from.Network
	if device := s.deviceOf(from.Device, email); device != "" {
		account, address = "device "+device+" "+blueprint.FoldEmail(email), ""
		network = "account " + blueprint.FoldEmail(email)
	}
	var userID, hash string
	right, err := s.attempt(ctx, account, address, network, password, func() (_, _ string, err error) {
		userID, hash, err = s.Store.Password(ctx, email)
		return userID, hash, err
	})
	if err != nil {
		return "", session, err
	}
	if !right {
		return "", session, blueprint.Errorf(blueprint.CodeUnauthorized, "the email or the password is wrong")
	}
	token = s.IDs.Token(tokenLength)
	session, err = s.Store.BeginSession(ctx, userID, hash, token, from.Agent)
	return token, session, err
}

// attempt checks the throttle, then compares a password with the hash that find returns,
// which is "" for none. An attempt that fails before the comparison does not count. account
// and address are the keys of the throttle.
func (s *Service) attempt(ctx context.Context, account, address, network, password string, find func() (userID, hash string, err error)) (right bool, err error) {
	forget, err := s.begin(ctx, account, address)
	if err != nil {
		return false, err
	}
	userID, hash, err := find()
	if err == nil {
		right, err = s.hasher.matches(ctx, network, password, cmp.Or(hash, s.hasher.none()))
		right = right && hash != ""
	}
	if right || err != nil {
		forget()
		return right, err
	}
	if userID != "" && s.Failed != nil {
		s.Failed(ctx, userID)
	}
	return false, nil
}

// ChangePassword replaces the password of the principal and ends their other sessions. It
// has an own throttle. CodeBadRequest names the wrong field; otherwise as SignIn.
func (s *Service) ChangePassword(ctx context.Context, principal blueprint.Principal, current, password string, from blueprint.SignInClient) error {
	var before string
	right, err := s.attempt(ctx, "change "+principal.UserID, "", from.Network, current, func() (string, string, error) {
		email, hash, err := s.Store.PasswordOf(ctx, principal.UserID)
		if err == nil {
			err = blueprint.CheckPassword(password, email)
		}
		before = hash
		return principal.UserID, hash, err
	})
	if err != nil {
		return err
	}
	if !right { // CodeUnauthorized would say that the session has ended
		return blueprint.FieldError("current", "is not your password")
	}
	hash, err := s.hasher.hash(ctx, from.Network, password, s.IDs.Bytes(saltSize))
	if err != nil {
		return err
	}
	return s.Store.ChangePassword(ctx, principal, before, hash)
}

// SetPassword sets a user's password for the operator, without the previous password, and
// ends the user's sessions. CodeBadRequest for an invalid password, or CodeNotFound.
func (s *Service) SetPassword(ctx context.Context, userID, password string) error {
	email, _, err := s.Store.PasswordOf(ctx, userID)
	if err != nil {
		return err
	}
	if err := blueprint.CheckPassword(password, email); err != nil {
		return err
	}
	hash, err := s.hasher.hash(ctx, "", password, s.IDs.Bytes(saltSize))
	if err != nil {
		return err
	}
	return s.Store.SetPassword(ctx, userID, hash)
}

// Open creates a session and returns its token. CodeNotFound for an unknown user.
func (s *Service) Open(ctx context.Context, userID, agent string) (token string, err error) {
	token = s.IDs.Token(tokenLength)
	_, err = s.Store.OpenSession(ctx, userID, token, agent)
	return token, err
}

// KeyCommand returns the command that creates a key for a user in a database, a file or a
// URL.
func KeyCommand(email, database, masterKeyFile string) string {
	flag := " --db "
	if strings.Contains(database, "://") {
		flag = " --database "
	}
	text := "blueprintd key create --user " + blueprint.ShellWord(email) + " --name laptop" + flag + blueprint.ShellWord(database)
	if masterKeyFile != "" {
		text += " --master-key-file " + blueprint.ShellWord(masterKeyFile)
	}
	return text
}

// setupPath is the path of the dashboard that accepts a link, relative to the root URL.
const setupPath = "/setup?token="

// NewLink creates a link for setting a user's password and returns its path and query. The
// link is valid once, for blueprint.SetupLifetime, and replaces an earlier one.
// CodeNotFound for an unknown user.
func (s *Service) NewLink(ctx context.Context, userID string) (path string, err error) {
	token := s.IDs.Token(tokenLength)
	if err := s.Store.CreateSetupLink(ctx, userID, token); err != nil {
		return "", err
	}
	return setupPath + token, nil
}

// Link returns the account whose password a link sets. CodeNotFound for a link that is
// unknown, used, replaced or expired.
func (s *Service) Link(ctx context.Context, token string) (blueprint.SetupLink, error) {
	return s.Store.SetupLink(ctx, token)
}

// Setup uses a link: it sets the password and the name, and the server owner's email
// address, ends existing sessions, and creates a session. CodeBadRequest names the invalid
// field, CodeConflict means that another user has the email address, CodeNotFound is as for
// Link. A refused link stays valid.
func (s *Service) Setup(ctx context.Context, token, email, name, password string, from blueprint.SignInClient) (sessionToken string, session blueprint.Session, err error) {
	link, err := s.Store.SetupLink(ctx, token)
	if err != nil {
		return "", session, err
	}
	if link.Initial {
		if err := blueprint.CheckEmail(email); err != nil {
			return "", session, err
		}
		link.Email = email
	} else if blueprint.FoldEmail(email) != blueprint.FoldEmail(link.Email) {
		return "", session, blueprint.FieldError("email", "cannot be changed here; it is %s", link.Email)
	}
	if err := blueprint.CheckPassword(password, link.Email); err != nil {
		return "", session, err
	}
	link.Name = name
	hash, err := s.hasher.hash(ctx, from.Network, password, s.IDs.Bytes(saltSize))
	if err != nil {
		return "", session, err
	}
	sessionToken = s.IDs.Token(tokenLength)
	session, err = s.Store.TakeSetupLink(ctx, token, link, hash, sessionToken, from.Agent)
	return sessionToken, session, err
}

// Package accounts lets people sign in to the dashboard with a password. It
// holds the rules: what a password may be, how it is hashed, how often somebody
// may be wrong, and what a link to set one is good for. The database is the
// store's.
//
// No answer tells whether an account exists: an unknown email takes as long as
// a wrong password, is refused in the same words, and waits as long after too
// many failures.
//
// A flood from one network takes only its share of the hashes that can be made.
// A device where an account has signed in before counts its own wrong passwords,
// and never waits for those of others.
package accounts

import (
	"cmp"
	"context"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/ids"
	"blueprintd/foundation/secret"
)

// tokenLength is how many characters of base62 a link and a cookie hold: 256
// bits.
const tokenLength = 43

// Store is what signing in asks of the database.
type Store interface {
	// Password returns the hash of the password of the account with an email, and
	// PasswordOf that of a user; "" when there is no such account or it has none.
	Password(ctx context.Context, email string) (userID, hash string, err error)
	PasswordOf(ctx context.Context, userID string) (email, hash string, err error)
	// SetPassword sets the hash, ChangePassword only if it is still the one before.
	SetPassword(ctx context.Context, userID, hash string) error
	ChangePassword(ctx context.Context, principal blueprint.Principal, before, hash string) error

	// BeginSession makes a session if the password is still the one of the hash.
	BeginSession(ctx context.Context, userID, hash, token, agent string) (blueprint.Session, error)
	// OpenSession makes a session without a password.
	OpenSession(ctx context.Context, userID, token, agent string) (blueprint.Session, error)

	SetupLink(ctx context.Context, token string) (blueprint.SetupLink, error)
	CreateSetupLink(ctx context.Context, userID, token string) error
	// TakeSetupLink sets name, email and password, once, and makes a session.
	TakeSetupLink(ctx context.Context, token string, link blueprint.SetupLink, hash, sessionToken, agent string) (blueprint.Session, error)
}

// Options are what a Service is built from. All but Sealer and Failed are
// required.
type Options struct {
	Store  Store
	Clock  clock.Clock
	IDs    *ids.Source
	Sealer *secret.Sealer // of what browsers keep by which they are known; nil knows none
	// Failed is told that somebody tried to sign in as a user, or to change their
	// password, and did not know the password. It must return at once.
	Failed func(ctx context.Context, userID string)
}

// Service lets people sign in. It is safe for concurrent use.
type Service struct {
	Options
	hasher   *hasher
	throttle *throttle
}

// New makes a service. It starts nothing.
func New(o Options) *Service {
	return &Service{Options: o, hasher: newHasher(), throttle: newThrottle(o.Clock)}
}

// stranger is the hash that the passwords of unknown accounts are compared with,
// so that it takes as long to refuse them. It is that of no password.
var stranger = phc{hashMemory, hashPasses, hashLanes, make([]byte, saltSize), make([]byte, hashSize)}.String()

// errWrong refuses to sign in, whatever was wrong.
func errWrong() error {
	return blueprint.Errorf(blueprint.CodeUnauthorized, "the email or the password is wrong")
}

// SignIn makes a session for who knows the password of an account, and gives
// the token that the browser keeps. The throttle is asked first, so that who guesses
// costs neither the database nor the processor much. CodeUnauthorized when anything is wrong,
// CodeTooManyRequests when that was so too often, CodeUnavailable when too many
// sign in at once.
//
// A device where the account has signed in before has a count of its own and a
// place of its own among those who wait for a hash: however often others are
// wrong, at whichever address, the right password signs in there.
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
		return "", session, errWrong()
	}
	token = s.IDs.Token(tokenLength)
	session, err = s.Store.BeginSession(ctx, userID, hash, token, from.Agent)
	return token, session, err
}

// attempt compares a password with the hash of a user's, once the throttle and then
// the database were asked; both are "" for one that has none. An attempt that
// learns nothing of the password counts nothing. account and address are those of
// the throttle.
func (s *Service) attempt(ctx context.Context, account, address, network, password string, find func() (userID, hash string, err error)) (right bool, err error) {
	forget, err := s.throttle.begin(account, address)
	if err != nil {
		return false, err
	}
	userID, hash, err := find()
	if err == nil {
		right, err = s.hasher.matches(ctx, network, password, cmp.Or(hash, stranger))
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

// ChangePassword gives the principal, who knows the present password, another
// one, and ends all other sessions of theirs. What strangers tried makes nobody
// wait who is signed in. CodeBadRequest names the field that is wrong; otherwise
// as SignIn.
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

// SetPassword gives a user a password without asking for another one, and ends
// their sessions. CodeBadRequest when it cannot be one, CodeNotFound for an
// unknown user. It is for what the operator says.
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

// Open makes a session of a user whom the caller has made sure of, and gives the
// token that the browser keeps. It asks for no password and changes none, nor the
// link with which the user sets one. CodeNotFound for an unknown user.
func (s *Service) Open(ctx context.Context, userID, agent string) (token string, err error) {
	token = s.IDs.Token(tokenLength)
	_, err = s.Store.OpenSession(ctx, userID, token, agent)
	return token, err
}

// KeyCommand is the command that makes a key for a user.
func KeyCommand(email, db, masterKeyFile string) string {
	text := "blueprintd key create --user " + blueprint.ShellWord(email) + " --name laptop --db " + blueprint.ShellWord(db)
	if masterKeyFile != "" {
		text += " --master-key-file " + blueprint.ShellWord(masterKeyFile)
	}
	return text
}

// setupPath is where the dashboard takes a link, below the root of the host.
const setupPath = "/setup?token="

// NewLink makes a link with which a user sets a password, good once and for
// blueprint.SetupLifetime, in the place of the one before; it gives what stands
// behind the host. CodeNotFound for an unknown user.
func (s *Service) NewLink(ctx context.Context, userID string) (path string, err error) {
	token := s.IDs.Token(tokenLength)
	if err := s.Store.CreateSetupLink(ctx, userID, token); err != nil {
		return "", err
	}
	return setupPath + token, nil
}

// Link tells whose password a link sets. CodeNotFound for one that is unknown,
// used, replaced or too old.
func (s *Service) Link(ctx context.Context, token string) (blueprint.SetupLink, error) {
	return s.Store.SetupLink(ctx, token)
}

// Setup takes a link: it sets the password and the name, and of the server's owner
// the email too, ends the sessions of before, and signs in. CodeBadRequest names
// the field that is wrong, CodeConflict says that the email is another one's,
// CodeNotFound is as of Link. A refusal leaves the link as it was.
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

package accounts

import (
	"context"

	"blueprintd/blueprint"
)

// SetupPath is where the dashboard takes a link, below the root of the host.
const SetupPath = "/setup?token="

// NewLink makes a link with which a user sets a password, good once and for
// blueprint.SetupLife, in the place of the one before; it gives what stands
// behind the host. CodeNotFound for an unknown user.
func (s *Service) NewLink(ctx context.Context, userID string) (path string, err error) {
	token := s.IDs.Token(tokenLength)
	if err := s.Store.CreateSetupLink(ctx, userID, token); err != nil {
		return "", err
	}
	return SetupPath + token, nil
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
func (s *Service) Setup(ctx context.Context, token, email, name, password string, from blueprint.Visitor) (sessionToken string, session blueprint.Session, err error) {
	link, err := s.Store.SetupLink(ctx, token)
	if err != nil {
		return "", session, err
	}
	if link.Fresh {
		if err := blueprint.CheckEmail(email); err != nil {
			return "", session, err
		}
		link.Email = email
	} else if blueprint.FoldEmail(email) != blueprint.FoldEmail(link.Email) {
		return "", session, blueprint.WrongField("email", "cannot be changed here; it is %s", link.Email)
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

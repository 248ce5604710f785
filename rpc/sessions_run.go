package rpc

import (
	"context"

	"blueprintd/blueprint"
	"blueprintd/rpc/trpc"
)

func (s *Service) sessionCreate(ctx context.Context, caller *trpc.Caller, in sessionCreate) (session, error) {
	if err := takesCookie(caller); err != nil {
		return session{}, err
	}
	from := caller.Visitor()
	from.Device = s.SessionCookie.Device(caller.Request)
	token, made, err := s.Accounts.SignIn(ctx, in.Email, in.Password, from)
	if err != nil {
		return session{}, err
	}
	return s.begun(ctx, caller, token, made)
}

func (s *Service) sessionGetSetup(ctx context.Context, _ *trpc.Caller, in setupToken) (setupLink, error) {
	link, err := s.Accounts.Link(ctx, in.Token)
	return setupLink{Email: link.Email, Name: link.Name, Fresh: link.Fresh}, err
}

func (s *Service) sessionSetup(ctx context.Context, caller *trpc.Caller, in sessionSetup) (session, error) {
	if err := takesCookie(caller); err != nil {
		return session{}, err
	}
	token, made, err := s.Accounts.Setup(ctx, in.Token, in.Email, in.Name, in.Password, caller.Visitor())
	if err != nil {
		return session{}, err
	}
	return s.begun(ctx, caller, token, made)
}

// takesCookie refuses a call whose answer could not set a cookie any more.
func takesCookie(caller *trpc.Caller) error {
	if caller.Streams() {
		return blueprint.Errorf(blueprint.CodeBadRequest, "this call sets a cookie and cannot be part of a streamed batch")
	}
	return nil
}

// begun answers who has signed in. The session that the browser had before ends:
// nobody could sign out of it any more.
func (s *Service) begun(ctx context.Context, caller *trpc.Caller, token string, made blueprint.Session) (session, error) {
	out, err := s.sessionOf(ctx, made)
	if before := s.SessionCookie.Token(caller.Request); err == nil && before != "" {
		err = s.Store.EndSessionOf(ctx, before)
	}
	if err != nil {
		return session{}, err
	}
	s.SessionCookie.set(caller, token)
	if device := s.Accounts.Device(out.User.Email, s.SessionCookie.Device(caller.Request)); device != "" {
		s.SessionCookie.keep(caller, device)
	}
	return out, nil
}

func (s *Service) sessionOf(ctx context.Context, of blueprint.Session) (out session, err error) {
	user, err := s.Store.User(ctx, of.UserID)
	if err != nil {
		return out, err
	}
	out.User.ID, out.User.Email, out.User.Name, out.ExpiresAt = user.ID, user.Email, user.Name, of.ExpiresAt
	out.Organizations, err = s.Store.Organizations(ctx, blueprint.Principal{UserID: user.ID})
	return out, err
}

// mine lists the caller's sessions, and the one of the call, which may have
// ended meanwhile.
func (s *Service) mine(ctx context.Context, caller *trpc.Caller) (all []blueprint.Session, own blueprint.Session, err error) {
	all, err = s.Store.Sessions(ctx, caller.Principal)
	for _, one := range all {
		if one.ID == caller.SessionID {
			return all, one, err
		}
	}
	if err == nil {
		err = blueprint.Errorf(blueprint.CodeUnauthorized, "the session has ended; sign in again")
	}
	return all, own, err
}

func (s *Service) sessionGet(ctx context.Context, caller *trpc.Caller, _ struct{}) (session, error) {
	_, own, err := s.mine(ctx, caller)
	if err != nil {
		return session{}, err
	}
	return s.sessionOf(ctx, own)
}

func (s *Service) sessionList(ctx context.Context, caller *trpc.Caller, _ struct{}) ([]sessionListed, error) {
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

func (s *Service) sessionRevoke(ctx context.Context, caller *trpc.Caller, in sessionID) (succeeded, error) {
	if err := s.Store.EndSession(ctx, caller.Principal, in.ID); err != nil {
		return succeeded{}, err
	}
	if in.ID == caller.SessionID {
		s.SessionCookie.clear(caller)
	}
	return succeeded{true}, nil
}

func (s *Service) sessionDelete(ctx context.Context, caller *trpc.Caller, in sessionDelete) (succeeded, error) {
	var err error
	if in.Everywhere {
		err = s.Store.EndSessions(ctx, caller.Principal)
	} else if err = s.Store.EndSession(ctx, caller.Principal, caller.SessionID); blueprint.CodeOf(err) == blueprint.CodeNotFound {
		err = nil // it ended meanwhile
	}
	if err != nil {
		return succeeded{}, err
	}
	s.SessionCookie.clear(caller)
	return succeeded{true}, nil
}

func (s *Service) sessionChangePassword(ctx context.Context, caller *trpc.Caller, in passwordChange) (succeeded, error) {
	if err := s.Accounts.ChangePassword(ctx, caller.Principal, in.Current, in.Password, caller.Visitor()); err != nil {
		return succeeded{}, err
	}
	return succeeded{true}, nil
}

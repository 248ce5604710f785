package accounts

import "context"

// Open makes a session of a user whom the caller has made sure of, and gives the
// token that the browser keeps. It asks for no password and changes none, nor the
// link with which the user sets one. CodeNotFound for an unknown user.
func (s *Service) Open(ctx context.Context, userID, agent string) (token string, err error) {
	token = s.IDs.Token(tokenLength)
	_, err = s.Store.OpenSession(ctx, userID, token, agent)
	return token, err
}

package connections

import (
	"context"

	"blueprintd/blueprint"
)

// SignIn gives the address where a user signs in for a connection, without a run
// that waits for it. CodeNotFound when the user may not use the connection,
// CodeBadRequest when nobody signs in for it.
func (s *Service) SignIn(ctx context.Context, userID, id string) (url string, err error) {
	connection, err := s.connection(ctx, blueprint.Authority{PrincipalID: userID}, id)
	if err != nil {
		return "", err
	}
	if connection.Type != blueprint.ConnectionOAuth2 || connection.Config["flow"] != flowCode {
		return "", &blueprint.Error{
			Code: blueprint.CodeBadRequest, Message: "nobody signs in for this connection",
			Hint: "people sign in for connections of type oauth2 whose flow is authorization_code",
		}
	}
	c, err := newOAuthClient(connection)
	if err != nil {
		return "", blueprint.Errorf(blueprint.CodeBadRequest, "%s", err)
	}
	url, _, err = s.ticket(ctx, c, blueprint.ConnectionUse{ConnectionID: id, UserID: userID})
	return url, err
}

package connections

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"strings"
	"time"

	"blueprintd/blueprint"
)

const (
	// ticketLife is how long a person may take to find the address.
	ticketLife = 30 * 24 * time.Hour
	// stateLife is how long they may be away at the service.
	stateLife = 10 * time.Minute
	// secretSize is how many random bytes tickets, states, verifiers and cookies
	// have.
	secretSize = 32
)

// ticketPlace and statePlace keep one from being taken for the other.
const (
	ticketPlace = "ticket "
	statePlace  = "state "
)

// askToSignIn gives the *blueprint.Pause that sends the user to sign in for a
// node.
func (s *Service) askToSignIn(ctx context.Context, c *oauthClient, use blueprint.ConnectionUse) error {
	visit, err := s.ticket(ctx, c, use)
	if err != nil {
		return err
	}
	return &blueprint.Pause{Await: blueprint.Await{
		Kind: blueprint.AwaitOAuth, URL: visit,
		Prompt: fmt.Sprintf("Sign in at %s for the connection %q.", c.authorization.Host, c.connection.Name),
	}}
}

// ticket gives the address to visit for signing in. The ticket in it names the
// connection and the user, so that it can be looked up without being used up.
func (s *Service) ticket(ctx context.Context, c *oauthClient, use blueprint.ConnectionUse) (string, error) {
	connection, user := uuidBytes(c.connection.ID), uuidBytes(use.UserID)
	if connection == nil || user == nil {
		return "", fmt.Errorf("sign in for the connection %q as %q: no UUIDs", c.connection.ID, use.UserID)
	}
	text := base64.RawURLEncoding.EncodeToString(bytes.Join([][]byte{connection, user, s.IDs.Bytes(secretSize)}, nil))
	err := s.Store.BeginSignIn(ctx, blueprint.SignIn{
		StateHash: hashOf(ticketPlace + text), ConnectionID: c.connection.ID, UserID: use.UserID, Secret: []byte("{}"),
		ExecutionID: use.ExecutionID, Address: use.Address, ExpiresAt: blueprint.TimeOf(s.Clock.Now().Add(ticketLife)),
	})
	if err != nil {
		return "", err
	}
	return s.APIHost() + startPath + "?" + url.Values{"ticket": {text}}.Encode(), nil
}

// byTicket gives the sign-in that a ticket stands for; nil when there is none
// (any more).
func (s *Service) byTicket(ctx context.Context, ticket string) (*blueprint.SignIn, error) {
	data, err := base64.RawURLEncoding.Strict().DecodeString(ticket)
	if err != nil || len(data) != 32+secretSize {
		return nil, nil
	}
	waiting, err := s.Store.WaitingSignIns(ctx, uuidText(data[:16]), uuidText(data[16:32]))
	if err != nil && blueprint.CodeOf(err) != blueprint.CodeNotFound {
		return nil, err
	}
	wanted := hashOf(ticketPlace + ticket)
	for _, signIn := range waiting {
		if bytes.Equal(signIn.StateHash, wanted) && s.Clock.Now().Before(signIn.ExpiresAt.Time()) {
			return &signIn, nil
		}
	}
	return nil, nil
}

// random gives a text that nobody guesses, of letters, digits, - and _.
func (s *Service) random() string {
	return base64.RawURLEncoding.EncodeToString(s.IDs.Bytes(secretSize))
}

// goOn lets every run of the user go on that waits for the connection. Tickets
// of runs that asked within the last minute stay: such a run may not have come
// to rest yet, and whoever visits its address again wakes it.
func (s *Service) goOn(ctx context.Context, connectionID, userID string) error {
	waiting, err := s.Store.WaitingSignIns(ctx, connectionID, userID)
	if err != nil && blueprint.CodeOf(err) != blueprint.CodeNotFound {
		return err
	}
	type place struct{ execution, address string }
	woken := map[place]bool{}
	var failed error
	for _, signIn := range waiting {
		at := place{signIn.ExecutionID, signIn.Address}
		if at.execution != "" && !woken[at] {
			woken[at] = true
			if err := s.Resume(ctx, at.execution, at.address); err != nil {
				s.Logger.Error("a run could not go on after a sign-in", "execution", at.execution, "node", at.address, "error", err)
				failed = err
				continue // its ticket stays good for another try
			}
		}
		if s.Clock.Now().Sub(signIn.CreatedAt.Time()) < time.Minute {
			continue
		}
		if _, err := s.Store.TakeSignIn(ctx, signIn.StateHash); err != nil && blueprint.CodeOf(err) != blueprint.CodeNotFound {
			return err
		}
	}
	return failed
}

// uuidBytes gives the 16 bytes of a UUID; nil when it is none.
func uuidBytes(id string) []byte {
	data, err := hex.DecodeString(strings.ReplaceAll(id, "-", ""))
	if err != nil || !blueprint.IsUUID(id) {
		return nil
	}
	return data
}

func uuidText(b []byte) string {
	text := hex.EncodeToString(b)
	return text[:8] + "-" + text[8:12] + "-" + text[12:16] + "-" + text[16:20] + "-" + text[20:]
}

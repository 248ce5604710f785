package connections

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
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
	// randomSize is how many characters they have as text.
	randomSize = (secretSize*8 + 5) / 6
)

// ticketPlace and statePlace keep one from being taken for the other.
const (
	ticketPlace = "ticket "
	statePlace  = "state "
)

// askToSignIn returns the *blueprint.Pause that sends the user to sign in for a
// node.
func (s *Service) askToSignIn(ctx context.Context, c *oauthClient, use blueprint.ConnectionUse) error {
	visit, own, err := s.ticket(ctx, c, use)
	if err != nil {
		return err
	}
	prompt := fmt.Sprintf("Sign in at %s for the connection %q.", c.authorization.Host, c.connection.Name)
	if !own {
		prompt += " Then resume the run: too many wait for this sign-in to wake them all."
	}
	return &blueprint.Pause{Await: blueprint.Await{Kind: blueprint.AwaitOAuth, URL: visit, Prompt: prompt}}
}

// ticketSecret is what is kept of a ticket, so that who asks again is given the
// same one.
type ticketSecret struct {
	Ticket string `json:"ticket"`
}

// ticket returns the address to visit for signing in. It is not the place's own
// when it wakes nobody there.
func (s *Service) ticket(ctx context.Context, c *oauthClient, use blueprint.ConnectionUse) (visit string, own bool, err error) {
	kept := ticketSecret{s.random()}
	secret, err := json.Marshal(kept)
	if err != nil {
		return "", false, err
	}
	open, err := s.Store.OpenTicket(ctx, blueprint.SignIn{
		StateHash: hashOf(ticketPlace + kept.Ticket), ConnectionID: c.connection.ID, UserID: use.UserID, Secret: secret,
		ExecutionID: use.ExecutionID, Address: use.Address, Versions: grantable(use), ExpiresAt: blueprint.TimeOf(s.Clock.Now().Add(ticketLife)),
	})
	if err != nil {
		return "", false, err
	}
	if err := json.Unmarshal(open.Secret, &kept); err != nil {
		return "", false, err
	}
	return s.APIHost() + startPath + "?" + url.Values{"ticket": {kept.Ticket}}.Encode(), open.ExecutionID == use.ExecutionID, nil
}

// grantable returns the versions that a user who signs in for a run grants.
func grantable(use blueprint.ConnectionUse) []blueprint.VersionRef {
	return slices.DeleteFunc(use.Authority().Others(), func(v blueprint.VersionRef) bool { return v.Version == "" })
}

// byTicket returns the sign-in that a ticket stands for; nil when there is none
// (any more).
func (s *Service) byTicket(ctx context.Context, ticket string) (*blueprint.SignIn, error) {
	if len(ticket) != randomSize {
		return nil, nil
	}
	signIn, err := s.Store.FindSignIn(ctx, hashOf(ticketPlace+ticket))
	switch {
	case blueprint.CodeOf(err) == blueprint.CodeNotFound:
		return nil, nil
	case err != nil:
		return nil, err
	case !s.Clock.Now().Before(signIn.ExpiresAt.Time()):
		return nil, nil
	}
	return &signIn, nil
}

// random returns a text that nobody guesses, of letters, digits, - and _.
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

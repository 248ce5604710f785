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
	ticketLife = 30 * 24 * time.Hour
	stateLife  = 10 * time.Minute
	secretSize = 32                     // random bytes of tickets, states, verifiers and cookies
	randomSize = (secretSize*8 + 5) / 6 // characters of their base64
)

// ticketPlace and statePlace are hashed with tickets and states, to keep the two apart.
const (
	ticketPlace = "ticket "
	statePlace  = "state "
)

// askToSignIn returns a *blueprint.Pause with the URL where the user signs in for a
// node.
func (s *Service) askToSignIn(ctx context.Context, c *oauthClient, use blueprint.ConnectionUse) error {
	visit, own, err := s.ticket(ctx, c, use)
	if err != nil {
		return err
	}
	prompt := fmt.Sprintf("Sign in at %s for the connection %q.", c.authorization.Host, c.connection.Name)
	if !own {
		prompt += " Then resume the run yourself: too many runs wait for this sign-in."
	}
	return &blueprint.Pause{Await: blueprint.Await{Kind: blueprint.AwaitOAuth, URL: visit, Prompt: prompt}}
}

// ticketSecret is the stored ticket, so that a repeated pause has the same URL.
type ticketSecret struct {
	Ticket string `json:"ticket"`
}

// ticket returns the URL to visit for signing in. own reports whether the sign-in resumes
// the node of use.
func (s *Service) ticket(ctx context.Context, c *oauthClient, use blueprint.ConnectionUse) (visit string, own bool, err error) {
	stored := ticketSecret{s.random()}
	secret, err := json.Marshal(stored)
	if err != nil {
		return "", false, err
	}
	open, err := s.Store.OpenTicket(ctx, blueprint.SignIn{
		StateHash: hashOf(ticketPlace + stored.Ticket), ConnectionID: c.connection.ID, UserID: use.UserID, Secret: secret,
		ExecutionID: use.ExecutionID, Address: use.Address, Versions: grantable(use), ExpiresAt: blueprint.TimeOf(s.Clock.Now().Add(ticketLife)),
	})
	if err != nil {
		return "", false, err
	}
	if err := json.Unmarshal(open.Secret, &stored); err != nil {
		return "", false, err
	}
	return s.APIHost() + startPath + "?" + url.Values{"ticket": {stored.Ticket}}.Encode(), open.ExecutionID == use.ExecutionID, nil
}

// grantable returns the versions that a user who signs in for a run grants.
func grantable(use blueprint.ConnectionUse) []blueprint.VersionRef {
	return slices.DeleteFunc(use.Authority().Others(), func(v blueprint.VersionRef) bool { return v.Version == "" })
}

// byTicket returns the sign-in of a ticket, nil for an unknown or expired ticket.
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

// random returns secretSize random bytes in URL-safe base64.
func (s *Service) random() string {
	return base64.RawURLEncoding.EncodeToString(s.IDs.Bytes(secretSize))
}

// resumeWaiting resumes the runs of the user that wait for the connection. Tickets of the last minute
// are kept: their runs may not be paused yet, and visiting the URL again resumes them.
func (s *Service) resumeWaiting(ctx context.Context, connectionID, userID string) error {
	waiting, err := s.Store.WaitingSignIns(ctx, connectionID, userID)
	if err != nil && blueprint.CodeOf(err) != blueprint.CodeNotFound {
		return err
	}
	type place struct{ execution, address string }
	resumed := map[place]bool{}
	var failed error
	for _, signIn := range waiting {
		at := place{signIn.ExecutionID, signIn.Address}
		if at.execution != "" && !resumed[at] {
			resumed[at] = true
			if err := s.Resume(ctx, at.execution, at.address); err != nil {
				s.Logger.Error("resuming a run after a sign-in failed", "execution", at.execution, "node", at.address, "error", err)
				failed = err
				continue // its ticket stays valid for another attempt
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

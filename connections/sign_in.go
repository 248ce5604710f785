package connections

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
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

// askToSignIn returns a *blueprint.Pause with the URL where the user signs in for a node.
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

// ticket returns the URL for signing in; own means that it resumes the node of use.
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

// resumeWaiting resumes the runs of the user that wait for the connection. Tickets of the
// last minute are kept: their runs may not be paused yet, and a visit resumes them.
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

// cookieName is the cookie that binds a callback to the browser. Over https it has the
// prefix hostOnly, so that browsers do not accept it from other hosts of the domain.
const (
	cookieName = "blueprintd_sign_in"
	hostOnly   = "__Host-"
)

// consentPage returns the page that states what the user is about to allow and for which
// account. Its link is valid only with the cookie that it sets, so the page cannot be skipped.
func (s *Service) consentPage(w http.ResponseWriter, r *http.Request, c *oauthClient, signIn *blueprint.SignIn, ticket string) (*page, error) {
	user, err := s.Store.User(r.Context(), signIn.UserID)
	if err != nil {
		return nil, err
	}
	cookie := s.cookieOf(r)
	if !s.minted(cookie) { // none yet, or not created here; the pages of one browser share it
		cookie = s.mint()
	}
	http.SetCookie(w, &http.Cookie{
		Name: s.cookieName(r), Value: cookie, Path: "/", MaxAge: int(stateLife.Seconds()), HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: s.overTLS(r),
	})
	who := "The account " + plain(user.Email) + " asks"
	if signIn.ExecutionID != "" {
		who = "A run of the account " + plain(user.Email) + " needs"
	}
	lines := []string{
		who + " to use " + c.authorization.Host + " on your behalf, through the connection \"" + c.connection.Name + "\".",
		"The access token then belongs to that account. It is sent to " + recipients(c.connection) + ", and to the hosts of connections that use it and were set up by its creator or by that account.",
	}
	if len(c.scopes) > 0 {
		lines = append(lines, "It asks for: "+strings.Join(c.scopes, ", ")+".")
	}
	for _, version := range signIn.Versions {
		lines = append(lines, "Signing in also grants access to version "+version.Version+" of the blueprint "+version.BlueprintID+", written by another user. Its runs for that account may then use the connections and sign-ins of the account.")
	}
	lines = append(lines, "Continue only if you started this yourself and the account is yours. If another person sent you this link, close the page.")
	return &page{
		status: http.StatusOK, title: "Sign in at " + c.authorization.Host, lines: lines,
		link: startPath + "?" + url.Values{"ticket": {ticket}, "go": {s.proof(cookie, ticket)}}.Encode(), label: "Continue to " + c.authorization.Host,
	}, nil
}

// recipients describes where requests that name an oauth2 connection may send its tokens.
func recipients(connection *blueprint.Connection) string {
	at := directReach(connection)
	if at.any {
		return "any host that a blueprint with access to the sign-in names"
	}
	return strings.Join(at.hosts, ", ")
}

// confirmed returns the browser's cookie, and reports whether the request came from the
// page: same-origin if the browser sends Sec-Fetch-Site.
func (s *Service) confirmed(r *http.Request, ticket, given string) (cookie string, ok bool) {
	cookie = s.cookieOf(r)
	site := r.Header.Get("Sec-Fetch-Site")
	return cookie, s.minted(cookie) && (site == "" || site == "same-origin") && hmac.Equal([]byte(s.proof(cookie, ticket)), []byte(given))
}

// proof returns the proof that the browser with the cookie was shown the ticket's page.
func (s *Service) proof(cookie, ticket string) string {
	return s.sign("continue " + cookie + " " + ticket)
}

func (s *Service) mint() string {
	nonce := s.random()
	return nonce + s.sign("cookie "+nonce)
}

// minted reports whether a process with the same key created the cookie.
func (s *Service) minted(cookie string) bool {
	return len(cookie) == 2*randomSize && hmac.Equal([]byte(s.sign("cookie "+cookie[:randomSize])), []byte(cookie[randomSize:]))
}

// sign returns a MAC of randomSize characters with Key.
func (s *Service) sign(text string) string {
	mac := hmac.New(sha256.New, s.Key)
	mac.Write([]byte(text))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// cookieOf returns the browser's cookie, "" when it has none.
func (s *Service) cookieOf(r *http.Request) string {
	found, err := r.Cookie(s.cookieName(r))
	if err != nil {
		return ""
	}
	return found.Value
}

func (s *Service) cookieName(r *http.Request) string {
	if s.overTLS(r) {
		return hostOnly + cookieName
	}
	return cookieName
}

// overTLS reports whether browsers reach this server by https.
func (s *Service) overTLS(r *http.Request) bool {
	return r.TLS != nil || strings.HasPrefix(s.APIHost(), "https://")
}

const (
	nameLifetime = 10 * time.Minute // of a cached name, by the clock
	nameTimeout  = 10 * time.Second // of a request for a name, in real time
)

type channelName struct {
	name  string
	until time.Time
}

// ChannelName returns the name of a Slack channel, without #, as the bot of a
// connection sees it; "" for one without a name, such as a direct message. Names are cached
// for ten minutes; access to the connection is checked each time. The request to Slack
// continues if ctx ends, so that a later call finds the name.
//
// Errors are those of Open, and a *blueprint.Failure of Slack.
func (s *Service) ChannelName(ctx context.Context, userID, connectionID, channelID string) (string, error) {
	open, err := s.Open(ctx, blueprint.ConnectionUse{ConnectionID: connectionID, UserID: userID})
	if err != nil {
		return "", err
	}
	if open.Type != blueprint.ConnectionSlack {
		return "", unusable("the %s has type %s; a connection of type slack is required", open.Text(), open.Type)
	}
	key := fmt.Sprintf("channel %s %x %s", open.ID, hashOf(BaseURL(open.Type, open.Config)+"\n"+textAt(open.Config, "botToken")), channelID)
	if known, ok := cacheGet(s, s.names, key); ok && s.Clock.Now().Before(known.until) {
		return known.name, nil
	}
	answer := s.flights.DoChan(key, func() (any, error) {
		requestCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), nameTimeout)
		defer cancel()
		name, err := s.requestChannelName(requestCtx, open, channelID)
		if err == nil {
			cachePut(s, s.names, key, channelName{name, s.Clock.Now().Add(nameLifetime)})
		}
		return name, err
	})
	select {
	case got := <-answer:
		name, _ := got.Val.(string)
		return name, got.Err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

func (s *Service) requestChannelName(ctx context.Context, open *blueprint.OpenConnection, channelID string) (string, error) {
	response, body, err := s.send(ctx, open, http.MethodGet, BaseURL(open.Type, open.Config)+"/conversations.info?channel="+url.QueryEscape(channelID))
	if err != nil {
		return "", err
	}
	host := response.Request.URL.Host
	var answer struct {
		OK      bool   `json:"ok"`
		Error   string `json:"error"`
		Channel struct {
			Name string `json:"name"`
		} `json:"channel"`
	}
	switch {
	case response.StatusCode == http.StatusTooManyRequests:
		return "", &blueprint.Failure{Code: codeConnect, Message: host + " limits the rate of requests"}
	case response.StatusCode != http.StatusOK:
		return "", statusFailure(host, response.StatusCode)
	case json.Unmarshal(body, &answer) != nil:
		return "", &blueprint.Failure{Code: codeConnect, Message: host + " did not return Slack's JSON: check baseUrl"}
	case !answer.OK:
		return "", &blueprint.Failure{Code: codeToken, Message: host + " did not return the name of the channel" + slackReason(answer.Error)}
	}
	return answer.Channel.Name, nil
}

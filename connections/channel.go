package connections

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"blueprintd/blueprint"
)

const (
	nameLifetime = 10 * time.Minute // of a cached name, by the clock
	nameTimeout  = 10 * time.Second // of a request for a name, in real time
)

// channelName is the cached name of a channel.
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

// requestChannelName requests the name of a channel from Slack.
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

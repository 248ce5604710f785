package connections

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"unicode"

	"blueprintd/blueprint"
)

// checkAI lists the models, which is free of charge.
func (s *Service) checkAI(ctx context.Context, open *blueprint.OpenConnection) (string, error) {
	path := "/models"
	if textAt(open.Config, "provider") == "anthropic" {
		path = "/v1/models"
	}
	response, body, err := s.send(ctx, open, http.MethodGet, BaseURL(open.Type, open.Config)+path)
	if err != nil {
		return "", err
	}
	host := response.Request.URL.Host
	var list struct {
		Data []json.RawMessage `json:"data"`
	}
	switch {
	case response.StatusCode != http.StatusOK:
		return "", statusFailure(host, response.StatusCode)
	case len(body) < maxResponse && (json.Unmarshal(body, &list) != nil || list.Data == nil):
		return "", &blueprint.Failure{Code: codeConnect, Message: host + " did not return a list of models: check baseUrl"}
	case len(list.Data) == 0:
		return host + " accepts the key", nil
	default:
		return fmt.Sprintf("%s accepts the key and has %d models", host, len(list.Data)), nil
	}
}

// slackError matches Slack's error codes.
var slackError = regexp.MustCompile(`^[a-z_]{1,60}$`)

// slackReason returns an error code of Slack as the end of a sentence, "" for any other
// text.
func slackReason(name string) string {
	if slackError.MatchString(name) {
		return ": " + name
	}
	return ""
}

// checkSlack requests the identity of the bot.
func (s *Service) checkSlack(ctx context.Context, open *blueprint.OpenConnection) (string, error) {
	response, body, err := s.send(ctx, open, http.MethodPost, BaseURL(open.Type, open.Config)+"/auth.test")
	if err != nil {
		return "", err
	}
	host := response.Request.URL.Host
	var answer struct {
		OK    bool   `json:"ok"`
		Error string `json:"error"`
		Team  string `json:"team"`
		User  string `json:"user"`
	}
	switch {
	case response.StatusCode != http.StatusOK:
		return "", statusFailure(host, response.StatusCode)
	case json.Unmarshal(body, &answer) != nil:
		return "", &blueprint.Failure{Code: codeConnect, Message: host + " did not return Slack's JSON: check baseUrl"}
	case !answer.OK:
		return "", &blueprint.Failure{Code: codeToken, Message: host + " does not accept the token" + slackReason(answer.Error)}
	}
	return fmt.Sprintf("the bot is %s in %s", plain(answer.User), plain(answer.Team)), nil
}

// checkHTTP requests the root of the first host. It accepts any response that does not
// refuse the credentials.
func (s *Service) checkHTTP(ctx context.Context, open *blueprint.OpenConnection) (string, error) {
	var root *url.URL
	for _, host := range open.Hosts {
		if strings.HasPrefix(host, "*.") {
			continue // a wildcard names no host
		}
		if strings.Count(host, ":") > 1 && !strings.HasPrefix(host, "[") {
			host = "[" + host + "]"
		}
		u, err := url.Parse("https://" + host + "/")
		if err != nil {
			continue
		}
		if isLoopback(u.Hostname()) {
			u.Scheme = "http"
		}
		root = u
		break
	}
	if root == nil {
		return "", unusable("the %s has no host without a wildcard to test", open.Text())
	}
	for _, method := range []string{http.MethodHead, http.MethodGet} {
		response, _, err := s.send(ctx, open, method, root.String())
		switch {
		case err != nil:
			return "", err
		case response.StatusCode == http.StatusMethodNotAllowed || response.StatusCode == http.StatusNotImplemented:
			continue
		case response.StatusCode == http.StatusUnauthorized, response.StatusCode == http.StatusForbidden, response.StatusCode >= 500:
			return "", statusFailure(root.Host, response.StatusCode)
		}
		return fmt.Sprintf("%s answered %d", root.Host, response.StatusCode), nil
	}
	return root.Host + " answered", nil
}

// plain returns a name given by another service as one short line.
func plain(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, name)
	if runes := []rune(name); len(runes) > 100 {
		name = string(runes[:100]) + "…"
	}
	if name == "" {
		return "(unnamed)"
	}
	return name
}

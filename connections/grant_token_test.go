package connections

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/oauth2"

	"blueprintd/blueprint"
)

func TestNewToken(t *testing.T) {
	requested := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	until := func(d time.Duration) blueprint.Time { return blueprint.TimeOf(requested.Add(d)) }
	accepted := func(access string) token {
		return token{Access: access, Since: blueprint.TimeOf(requested), For: "client"}
	}
	expiring := func(d time.Duration) token {
		t := accepted("a")
		t.Until = until(d)
		return t
	}
	longest := strings.Repeat("a", 16<<10)
	refreshable := accepted("a")
	refreshable.Refresh = longest
	const unusable, other = "a token that cannot be used", "a token of a type other than bearer"
	for _, test := range []struct {
		name     string
		received *oauth2.Token
		want     token
		problem  string
	}{
		{"no expiry", &oauth2.Token{AccessToken: "!a~"}, accepted("!a~"), ""},
		{"for a bot", &oauth2.Token{AccessToken: "a", TokenType: "bot"}, accepted("a"), ""},
		{"for DPoP", &oauth2.Token{AccessToken: "a", TokenType: "DPoP"}, token{}, other},
		{"for MAC", &oauth2.Token{AccessToken: "a", TokenType: "mac"}, token{}, other},
		{"empty", &oauth2.Token{}, token{}, unusable},
		{"with a space", &oauth2.Token{AccessToken: "a b"}, token{}, unusable},
		{"with a line feed", &oauth2.Token{AccessToken: "a\nb"}, token{}, unusable},
		{"with a control character", &oauth2.Token{AccessToken: "a\x7f"}, token{}, unusable},
		{"with a letter outside ASCII", &oauth2.Token{AccessToken: "é"}, token{}, unusable},
		{"the longest", &oauth2.Token{AccessToken: longest}, accepted(longest), ""},
		{"too long", &oauth2.Token{AccessToken: longest + "a"}, token{}, unusable},
		{"the longest refresh token", &oauth2.Token{AccessToken: "a", RefreshToken: longest}, refreshable, ""},
		{"too long a refresh token", &oauth2.Token{AccessToken: "a", RefreshToken: longest + "a"}, token{}, unusable},
		{"an hour", &oauth2.Token{AccessToken: "a", ExpiresIn: 3600}, expiring(time.Hour), ""},
		{"a second", &oauth2.Token{AccessToken: "a", ExpiresIn: 1}, expiring(time.Second), ""},
		{"expired", &oauth2.Token{AccessToken: "a", ExpiresIn: -1}, accepted("a"), ""},
		{"for ever", &oauth2.Token{AccessToken: "a", ExpiresIn: 1 << 62}, expiring(3650 * 24 * time.Hour), ""},
		{"an hour in a form", (&oauth2.Token{AccessToken: "a"}).WithExtra(url.Values{"expires_in": {"3600"}}), expiring(time.Hour), ""},
		{"a fraction in a form", (&oauth2.Token{AccessToken: "a"}).WithExtra(url.Values{"expires_in": {"3600.5"}}), expiring(time.Hour), ""},
		{"an hour as a string", (&oauth2.Token{AccessToken: "a"}).WithExtra(map[string]any{"expires_in": "3600"}), expiring(time.Hour), ""},
		{"no number", (&oauth2.Token{AccessToken: "a"}).WithExtra(url.Values{"expires_in": {"soon"}}), accepted("a"), ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, problem := newToken(test.received, requested, "client")
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if problem != test.problem {
				t.Errorf("got the problem %q, want %q", problem, test.problem)
			}
		})
	}
}

// A token is refreshed a minute before it expires, or in the last quarter of a short
// lifetime, and used until it expires.
func TestTokenAge(t *testing.T) {
	since := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		name         string
		lifetime     time.Duration // 0 for unknown
		age          time.Duration
		fresh, alive bool
	}{
		{"unknown lifetime", 0, 1000 * time.Hour, true, true},
		{"before the last minute", time.Hour, 59*time.Minute - time.Millisecond, true, true},
		{"in the last minute", time.Hour, 59 * time.Minute, false, true},
		{"before the last quarter", 8 * time.Second, 6*time.Second - time.Millisecond, true, true},
		{"in the last quarter", 8 * time.Second, 6 * time.Second, false, true},
		{"at last", time.Hour, time.Hour - time.Millisecond, false, true},
		{"expired", time.Hour, time.Hour, false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			one := token{Since: blueprint.TimeOf(since)}
			if test.lifetime > 0 {
				one.Until = blueprint.TimeOf(since.Add(test.lifetime))
			}
			now := since.Add(test.age)
			if got := one.fresh(now); got != test.fresh {
				t.Errorf("fresh: got %v, want %v", got, test.fresh)
			}
			if got := one.alive(now); got != test.alive {
				t.Errorf("alive: got %v, want %v", got, test.alive)
			}
		})
	}
}

// A stored token is used only by the client that it was issued to.
func TestReadToken(t *testing.T) {
	stored := token{Access: "a", For: "client"}
	for _, test := range []struct {
		name string
		data []byte
		want bool
	}{
		{"of the client", stored.bytes(), true},
		{"of another client", token{Access: "a", For: "other"}.bytes(), false},
		{"without an access token", token{For: "client"}.bytes(), false},
		{"none", nil, false},
		{"not JSON", []byte(`{"access": "a", "for": "client"`), false},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, ok := readToken(test.data, "client")
			if ok != test.want {
				t.Errorf("got %v, want %v", ok, test.want)
			}
			want := token{}
			if test.want {
				want = stored
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func tokenError(status int, code string, header ...string) error {
	response := &http.Response{StatusCode: status, Header: http.Header{}}
	for i := 0; i < len(header); i += 2 {
		response.Header.Set(header[i], header[i+1])
	}
	return &oauth2.RetrieveError{Response: response, ErrorCode: code}
}

// Another style of client authentication is tried only after an error that may be about the
// style and cannot have consumed the grant.
func TestStyleErrors(t *testing.T) {
	for _, test := range []struct {
		name string
		err  error
		want bool
	}{
		{"invalid client", tokenError(401, "invalid_client"), true},
		{"no code", tokenError(400, ""), true},
		{"the last status of a refusal", tokenError(499, ""), true},
		{"an internal error", tokenError(500, ""), false},
		{"too many requests", tokenError(429, ""), false},
		{"an invalid grant", tokenError(400, "invalid_grant"), false},
		{"an invalid scope", tokenError(400, "invalid_scope"), false},
		{"unreachable", errors.New("cannot connect"), false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := isStyleError(test.err); got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

func TestTokenFailures(t *testing.T) {
	failure := func(code, message string, permanent bool, after time.Duration) error {
		return &blueprint.Failure{Code: code, Message: "login.example" + message, Permanent: permanent, NotSent: true, RetryAfter: after}
	}
	for _, test := range []struct {
		name string
		err  error
		want error
	}{
		{"redirected", errRedirected, failure(codeToken, " redirected a token request, which is not followed; check tokenUrl", true, 0)},
		{"no token", errors.New("oauth2: server response missing access_token"), failure(codeToken, " did not answer a token request with a token; check tokenUrl", false, 0)},
		{"a known refusal", tokenError(400, "invalid_client"), failure(codeToken, " refused a token request (invalid_client): check clientId and clientSecret", true, 0)},
		{"a known refusal at the last status", tokenError(499, "invalid_client"), failure(codeToken, " refused a token request (invalid_client): check clientId and clientSecret", true, 0)},
		{"a known code with an internal error", tokenError(500, "invalid_client"), failure(codeToken, " refused a token request (invalid_client): check clientId and clientSecret", false, 0)},
		{"an unknown code, which is not repeated", tokenError(400, "s3cret"), failure(codeToken, " refused a token request: status 400", false, 0)},
		{"a retry in seconds", tokenError(429, "", "Retry-After", "7"), failure(codeToken, " refused a token request: status 429", false, 7*time.Second)},
		{"a retry after hours", tokenError(503, "", "Retry-After", "7200"), failure(codeToken, " refused a token request: status 503", false, time.Hour)},
		{"a retry in the past", tokenError(503, "", "Retry-After", "-7"), failure(codeToken, " refused a token request: status 503", false, 0)},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := (&Service{}).askFailure(test.err, &oauthClient{token: &url.URL{Host: "login.example"}})
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
	t.Run("an invalid grant", func(t *testing.T) {
		if got := (&Service{}).askFailure(tokenError(400, "invalid_grant"), &oauthClient{token: &url.URL{Host: "login.example"}}); got != errInvalidGrant {
			t.Errorf("got %v, want %v", got, errInvalidGrant)
		}
	})
}

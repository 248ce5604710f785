package outbound

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"blueprintd/blueprint"
)

// saying is a network that answers with a text.
type saying struct {
	*echo
	text, kind string
}

func (s saying) RoundTrip(r *http.Request) (*http.Response, error) {
	if _, err := io.ReadAll(r.Body); err != nil {
		return nil, err
	}
	header := http.Header{"Content-Type": {s.kind}, "X-Echo": {s.text}}
	return &http.Response{StatusCode: 200, Header: header, Body: io.NopCloser(strings.NewReader(s.text))}, nil
}

// A service that repeats what it was sent repeats no credential, whatever it calls it.
func TestWhatARequestHidesIsNotInItsAnswer(t *testing.T) {
	for _, test := range []struct{ name, url, header, value, body, response, want string }{
		{"a bearer", "", "Authorization", "Bearer hunter22x", "", "you are hunter22x", "you are ***"},
		{"basic", "", "Authorization", "Basic YWRhOmh1bnRlcjIy", "", "ada has hunter22", "ada has ***"},
		{"a header", "", "X-My-Key", "hunter22", "", "got hunter22!", "got ***!"},
		{"a parameter", "?api_key=hunter%2022", "", "", "", "got hunter 22!", "got ***!"},
		{"a member", "", "", "", `{"password": "hunter22", "say": "not hunter22"}`, "got hunter22!", "got ***!"},
		{"a short one", "", "X-My-Key", "on", "", "it is on", "it is on"},
	} {
		t.Run(test.name, func(t *testing.T) {
			client := New(Options{Network: saying{text: test.response, kind: "text/plain"}})
			ctx, tape := WithTape(context.Background(), func() time.Time { return time.UnixMilli(5) })
			request, err := http.NewRequestWithContext(ctx, "POST", "http://a.example/"+test.url, strings.NewReader(test.body))
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Content-Type", "application/json")
			if test.header != "" {
				request.Header.Set(test.header, test.value)
			}
			response, err := client.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			if data, _ := io.ReadAll(response.Body); string(data) != test.response {
				t.Errorf("the node read %s, want %v", data, test.response)
			}
			list, _ := tape.List()
			if got := list[0].Response; got.Body != test.want || got.Headers["x-echo"] != test.want {
				t.Errorf("%v, %v; want %v and x-echo %v", got.Body, got.Headers, test.want, test.want)
			}
			if data, _ := blueprint.Encode(list[0].Request); strings.Contains(string(data), "hunter") {
				t.Errorf("asked %s, want no \"hunter\"", data)
			}
		})
	}
}

func TestNotesLoseTheirCredentials(t *testing.T) {
	ctx, tape := WithTape(context.Background(), func() time.Time { return time.UnixMilli(5) })
	exchange := blueprint.Exchange{
		Request:  blueprint.ExchangeRequest{Method: "MAIL", URL: "smtp://a.example?token=hunter22", Headers: map[string]string{"subject": "password: hunter22", "x-token": "abcdefgh"}, Body: "see https://a.example/?token=abc"},
		Response: &blueprint.ExchangeResponse{Status: 250, Headers: map[string]string{"x-echo": "abcdefgh"}, Body: "hunter22"}, Error: "535 password: hunter22",
	}
	before, _ := blueprint.Encode(exchange)
	NoteExchange(ctx, exchange)
	list, _ := tape.List()
	got, _ := blueprint.Encode(list[0])
	for _, hidden := range []string{"hunter22", "abc"} {
		if strings.Contains(string(got), hidden) {
			t.Errorf("%s is in %s", hidden, got)
		}
	}
	if after, _ := blueprint.Encode(exchange); string(after) != string(before) {
		t.Errorf("what was noted has changed: %v, want %v", string(after), string(before))
	}
}

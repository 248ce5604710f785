package sandbox

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/foundation/outbound"
	"blueprintd/foundation/secret"
)

// Calls and unmet expectations hide secrets, but secrets can be matched.
func TestCallsHideSecrets(t *testing.T) {
	const word, typed = "correct horse/battery", "tell-nobody-9"
	var known atomic.Pointer[secret.Masker]
	known.Store(secret.NewMasker([]any{word}))
	ctx := outbound.WithCaller(context.Background(), outbound.Caller{ExecutionID: "e", NodeType: "http-request", Secrets: &known})
	for _, test := range []struct {
		expect string // a member of the request
		met    bool
	}{
		{`{"body": {"pw": "` + word + `"}}`, true},
		{`{"url": "*api_key=` + typed + `*"}`, true},
		{`{"url": "*api_key=***", "headers": {"x-api-key": "` + typed + `"}}`, true},
		{`{"headers": {"x-api-key": "***"}}`, true},
		{`{"body": {"pw": "another"}}`, false},
	} {
		t.Run(test.expect, func(t *testing.T) {
			s, _ := newSandbox(t)
			expected, err := blueprint.Decode([]byte(`{"expect": [{"match": {"nodeType": "http-request"}, "request": ` + test.expect + `}]}`))
			if err != nil {
				t.Fatal(err)
			}
			if err := s.SetExpectations(expected); err != nil {
				t.Fatal(err)
			}
			request, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://a.example/correct%20horse%2Fbattery?api_key="+typed, strings.NewReader(`{"pw": "`+word+`", "said": "`+typed+`"}`))
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Content-Type", "application/json")
			request.Header.Set("X-Api-Key", typed)
			response, err := s.RoundTrip(request)
			if err != nil {
				t.Fatal(err)
			}
			response.Body.Close()
			unmet := s.Unmet()
			if met := len(unmet) == 0; met != test.met {
				t.Errorf("%+v, want %v", unmet, test.met)
			}
			list, _ := s.Calls(Filter{})
			text, err := blueprint.Encode(list)
			if err != nil || len(list) != 1 || list[0].Response == nil {
				t.Fatal(len(list), err)
			}
			for i, one := range unmet {
				unmet[i].Expect = nil
				text = append(text, one.Problem...)
			}
			for _, masked := range []string{word, "horse", typed} {
				if strings.Contains(string(text), masked) {
					t.Errorf("%q is in %s", masked, text)
				}
			}
		})
	}
}

func TestCallsFilterMay(t *testing.T) {
	s, _ := newSandbox(t)
	for i := range 6 {
		s.calls.begin(&outbound.Caller{ExecutionID: fmt.Sprint("run", i%2)}, blueprint.ExchangeRequest{URL: fmt.Sprint("https://a.example/", i)}, 0)
	}
	s.calls.begin(&outbound.Caller{}, blueprint.ExchangeRequest{URL: "https://a.example/none"}, 0)
	list, _ := s.Calls(Filter{Limit: 2, May: func(id string) bool { return id == "run1" }})
	if len(list) != 2 || list[0].Request.URL != "https://a.example/3" || list[1].Request.URL != "https://a.example/5" {
		t.Errorf("%+v, want length 2, URL https://a.example/3 and URL https://a.example/5", list)
	}
}

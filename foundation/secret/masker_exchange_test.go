package secret_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
	"blueprintd/foundation/secret"
)

// long loses 32 bytes where it was cut, with secrets of eight bytes.
var long = strings.Repeat("A", 100)

func TestMaskerExchange(t *testing.T) {
	const value = "hunter22"
	m := secret.NewMasker([]any{value, "0000"})
	headers := func() map[string]string {
		return map[string]string{"x-" + value: "a", "authorization": "Bearer " + value, "pin": "0000"}
	}
	masked := map[string]string{"x-***": "a", "authorization": "Bearer ***", "pin": "***"}
	binary := func() any { return map[string]any{"$base64": long} }
	given := func() blueprint.Exchange {
		return blueprint.Exchange{
			ExecutionID: "e",
			Request:     blueprint.ExchangeRequest{Method: "POST", URL: "https://a.example/0000?q=" + value, Headers: headers(), Body: long, Cut: true},
			Response:    &blueprint.ExchangeResponse{Status: 200, Headers: headers(), Body: binary(), Cut: true},
			Error:       "no " + value, Fault: &blueprint.Fault{Kind: "dns", Host: value + ".example", Address: "127.0.0.1", Reason: "not " + value, Hint: "allow " + value},
		}
	}
	x := given()
	got := m.Exchange(x)
	want := blueprint.Exchange{
		ExecutionID: "e",
		Request:     blueprint.ExchangeRequest{Method: "POST", URL: "https://a.example/***?q=***", Headers: masked, Body: long[:68], Cut: true},
		Response:    &blueprint.ExchangeResponse{Status: 200, Headers: masked, Body: map[string]any{"$base64": long[:68]}, Cut: true},
		Error:       "no ***", Fault: &blueprint.Fault{Kind: "dns", Host: "***.example", Address: "127.0.0.1", Reason: "not ***", Hint: "allow ***"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(given(), x); diff != "" {
		t.Errorf("the argument changed (-before +after)\n%s", diff)
	}
	if diff := cmp.Diff(x, (*secret.Masker)(nil).Exchange(x)); diff != "" {
		t.Errorf("the nil Masker changed it (-before +after)\n%s", diff)
	}
	if got := m.Exchange(blueprint.Exchange{}); got.Response != nil || got.Fault != nil {
		t.Errorf("got the response %v and the fault %v, want none", got.Response, got.Fault)
	}
}

// The body of an exchange is masked as what it is.
func TestMaskerBody(t *testing.T) {
	m := secret.NewMasker([]any{"hunter22", "0000"})
	for _, test := range []struct {
		name string
		body any
		cut  bool
		want any
	}{
		{"a form", "pin=0000", false, "pin=***"},
		{"a text that was cut", "pin=0000&x=" + long, true, "pin=***&x=" + long[:68]},
		{"JSON", map[string]any{"a": "hunter22", "$base64": "x"}, false, map[string]any{"a": "***", "$base64": "x"}},
		{"JSON that was cut before", map[string]any{"a": "hunter22", "$base64": long}, true, map[string]any{"a": "***", "$base64": long}},
		{"a list", []any{"hunter22", long}, true, []any{"***", long}},
		{"another name", map[string]any{"base64": long}, true, map[string]any{"base64": long}},
		{"a number as base64", map[string]any{"$base64": true}, true, map[string]any{"$base64": true}},
		{"bytes that are complete", map[string]any{"$base64": long}, false, map[string]any{"$base64": long}},
		{"bytes that were cut", map[string]any{"$base64": long}, true, map[string]any{"$base64": long[:68]}},
		{"complete groups of four", map[string]any{"$base64": long[:99]}, true, map[string]any{"$base64": long[:64]}},
		{"none", nil, true, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := m.Exchange(blueprint.Exchange{Request: blueprint.ExchangeRequest{Body: test.body, Cut: test.cut}})
			if diff := cmp.Diff(test.want, got.Request.Body); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestMaskerStepExchange(t *testing.T) {
	const value = "hunter22"
	m := secret.NewMasker([]any{value, "0000"})
	given := func() *blueprint.StepExchange {
		return &blueprint.StepExchange{
			Request: blueprint.StepRequest{
				Method: "POST", URL: "https://a.example/0000?q=" + value, Headers: map[string]string{"a": value}, Body: "pin=0000",
				Host: value + ".example", Port: 25, From: value + "@a.example", To: "b@" + value + ".example", Subject: "about " + value,
			},
			Response: &blueprint.StepResponse{Status: 500, Headers: map[string]string{"b": value}, Body: map[string]any{"c": value}, Code: 550, Message: "no " + value},
		}
	}
	x := given()
	want := &blueprint.StepExchange{
		Request: blueprint.StepRequest{
			Method: "POST", URL: "https://a.example/***?q=***", Headers: map[string]string{"a": "***"}, Body: "pin=***",
			Host: "***.example", Port: 25, From: "***@a.example", To: "b@***.example", Subject: "about ***",
		},
		Response: &blueprint.StepResponse{Status: 500, Headers: map[string]string{"b": "***"}, Body: map[string]any{"c": "***"}, Code: 550, Message: "no ***"},
	}
	if diff := cmp.Diff(want, m.StepExchange(x)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(given(), x); diff != "" {
		t.Errorf("the argument changed (-before +after)\n%s", diff)
	}
	if got := m.StepExchange(&blueprint.StepExchange{}); got.Response != nil {
		t.Errorf("got the response %v, want none", got.Response)
	}
	if got := m.StepExchange(nil); got != nil {
		t.Errorf("no exchange became %v, want nil", got)
	}
	if got := (*secret.Masker)(nil).StepExchange(x); got != x {
		t.Errorf("the nil Masker returned %v, want its argument", got)
	}
}

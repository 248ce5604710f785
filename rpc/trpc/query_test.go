package trpc

import (
	"net/http"
	"net/url"
	"testing"
)

func TestParameter(t *testing.T) {
	for _, test := range []struct {
		query, value string
		present      bool
	}{
		{"", "", false},
		{"input", "", true},
		{"input=", "", true},
		{"&&a=1&input=x", "x", true},
		{"input=a=b", "a=b", true},
		{"input=a;b&c", "a;b", true},
		{"input=%41%zz%4&input=2", "A%zz%4", true},
		{"input=a%2Bb+c", "a+b c", true},
		{"in%70ut=x", "x", true},
		{"INPUT=x", "", false},
		{"input=%ff", "\xff", true},
		{"=x&%=y", "", false},
	} {
		if value, present := parameter(test.query, "input"); value != test.value || present != test.present {
			t.Errorf("%q: %q, %v", test.query, value, present)
		}
	}
}

func TestProcedurePath(t *testing.T) {
	for _, test := range []struct {
		path, want string
		ok         bool
	}{
		{"/api/trpc/a.b", "a.b", true},
		{"/api/trpc/a.b//", "a.b", true},
		{"/api/trpc/a.b///", "a.b/", true},
		{"/api/trpc//a", "/a", true},
		{"/api/trpc/%2Fa%2F", "/a/", true},
		{"/api/trpc/a%00b", "a\x00b", true},
		{"/api/trpc/a%C3%A9", "aé", true},
		{"/api/trpc/a%FF", "", false},
		{"/api/trpc/a%C3", "", false},
	} {
		address, err := url.Parse(test.path)
		if err != nil {
			t.Fatal(err)
		}
		path, err := procedurePath(&http.Request{URL: address}, "/api/trpc")
		if path != test.want || (err == nil) != test.ok {
			t.Errorf("%s: %q, %v", test.path, path, err)
		}
	}
	for _, text := range []string{"%zz", "%4", "%", "a%"} {
		if path, ok := unescapePath(text); ok {
			t.Errorf("%s: %q", text, path)
		}
	}
}

package trpc

import (
	"math/big"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"blueprintd/blueprint"
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
		t.Run(test.query, func(t *testing.T) {
			if value, present := parameter(test.query, "input"); value != test.value || present != test.present {
				t.Errorf("%q, %v; want %v and %v", value, present, test.value, test.present)
			}
		})
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
		t.Run(test.path, func(t *testing.T) {
			address, err := url.Parse(test.path)
			if err != nil {
				t.Fatal(err)
			}
			path, err := procedurePath(&http.Request{URL: address}, "/api/trpc")
			if path != test.want || (err == nil) != test.ok {
				t.Errorf("%q, %v; want %q, accepted: %v", path, err, test.want, test.ok)
			}
		})
	}
}

// FuzzQuery compares with net/url where net/url succeeds: it refuses some of what browsers
// send.
func FuzzQuery(f *testing.F) {
	for _, seed := range [][2]string{
		{"/blueprint.list", `batch=1&input=%7B%220%22%3A5%7D`}, {"//a%2Cb/", "input=a;b&input=c"}, {"/a%zz", "in%70ut=%zz%4"}, {"/%C3%A9", "a+b=c+d"}, {"/a%00", "=x&%=y&&"}, {"/", "input"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, path, query string) {
		for _, name := range []string{"input", "batch", "connectionParams"} {
			value, present := parameter(query, name)
			if len(value) > len(query) || !present && value != "" {
				t.Fatalf("%q has the %s %q, %v", query, name, value, present)
			}
			if values, err := url.ParseQuery(query); err == nil && (values.Has(name) != present || values.Get(name) != value) {
				t.Fatalf("%q has the %s %q, %v; net/url says %q", query, name, value, present, values[name])
			}
		}
		address, err := url.Parse("http://h/api/trpc" + path)
		if err != nil {
			return
		}
		procedure, err := procedurePath(&http.Request{URL: address}, "/api/trpc")
		if err != nil && (blueprint.CodeOf(err) != blueprint.CodeBadRequest || !utf8.ValidString(err.Error()) || !strings.Contains(err.Error(), "URL-encoding in path")) {
			t.Fatalf("%q: %v", path, err)
		}
		if len(procedure) > len(path) {
			t.Fatalf("%q names %q, want length at most %v", path, procedure, len(path))
		}
	})
}

// FuzzInteger compares with exact fractions.
func FuzzInteger(f *testing.F) {
	for _, seed := range []string{"0", "-0", "100.0", "1e2", "1.5", "9007199254740993", "1e999999999", "-1e-999999999", "12.50e1", "9223372036854775808", "-9223372036854775808e0", "0e99999999999999999999", "1E+2"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if value, err := blueprint.Decode([]byte(text)); err != nil || strings.ContainsAny(text, "\"{[ntf \t\r\n") || value == nil {
			return // not a number of JSON
		}
		value, whole := parseInteger(text)
		if _, exponent, found := strings.Cut(strings.ToLower(text), "e"); found && len(strings.TrimLeft(exponent, "+-0")) > 3 || len(text) > 2000 {
			return // too large for exact fractions
		}
		exact, ok := new(big.Rat).SetString(text)
		if !ok {
			t.Fatalf("%q is no fraction", text)
		}
		if whole != exact.IsInt() {
			t.Fatalf("%q is whole: %v", text, whole)
		}
		if !whole {
			return
		}
		if exact.Num().IsInt64() && exact.Num().Int64() != value {
			t.Fatalf("%q is %d", text, value)
		}
		if !exact.Num().IsInt64() && (value > -maxSafeInteger && value < maxSafeInteger || (value > 0) != (exact.Sign() > 0)) {
			t.Fatalf("%q, beyond 64 bits, is %d", text, value)
		}
	})
}

package secret_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"blueprintd/foundation/secret"
)

// The beginning of a secret is masked where a text was cut, from eight bytes on.
func TestMaskerBeginnings(t *testing.T) {
	for _, test := range []struct{ name, secret, given, want string }{
		{"eight bytes", "abcdefghijkl", "abcdefgh", "***"},
		{"seven bytes", "abcdefghijkl", "abcdefg", "abcdefg"},
		{"all but one byte", "abcdefghijkl", "x abcdefghijk", "x ***"},
		{"the middle", "abcdefghijkl", "x bcdefghi", "x bcdefghi"},
		{"the middle that ends as the beginning", "abcdefg-Xabcdefg-z", "Xabcdefg", "Xabcdefg"},
		{"the longest of two", "abcabcabcabcab!", "abcabcabcabc", "***"},
		{"a dot before an ellipsis", "hunter2.example", "x hunter2.... y", "x ***... y"},
		{"at the first of two ellipses", "abcdefghijkl", "abcdefgh...…", "***...…"},
		{"within an escape of an escape", "abcdefgh&ijklmn", "q=abcdefgh&am", "q=***"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := secret.NewMasker([]any{test.secret}).Text(test.given); got != test.want {
				t.Errorf("%q with the secret %q became %q, want %q", test.given, test.secret, got, test.want)
			}
		})
	}
}

// A body that was cut loses four times the length of the longest secret: so much of it
// may be the beginning of one in another encoding, where no byte of it is recognized.
func TestMaskerCut(t *testing.T) {
	const value = "hunter22" // 8 bytes
	filler := strings.Repeat("-", 100)
	for _, test := range []struct {
		name, given, want string
		values            []any
	}{
		{"a long text", filler, filler[:68], []any{value}},
		{"the longest secret counts", filler, filler[:100-4*len(value)], []any{"abcdef", value, "ghijkl"}},
		{"a short text", filler[:32], "", []any{value}},
		{"one byte more", filler[:33], "-", []any{value}},
		{"a secret before the end", value + filler, "***" + filler[:68], []any{value}},
		{"a secret in hexadecimal at the end", filler + "68756e7", filler[:75], []any{value}},
		{"a secret in base64 at the end", filler + base64.StdEncoding.EncodeToString([]byte("x" + value))[:8], filler[:76], []any{value}},
		{"not within a character", filler[:10] + "é" + filler[:31], filler[:10], []any{value}},
		{"no characters at all", "\x80\x81", "", []any{value}},
		{"short secrets alone", "pin=0000&x=" + filler, "pin=***&x=" + filler, []any{"0000"}},
		{"none", filler, filler, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := secret.NewMasker(test.values).Cut(test.given); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// A short secret is masked in addresses and forms where it is a complete component.
func TestMaskerAddress(t *testing.T) {
	m := secret.NewMasker([]any{"ab/c", "0000", "hunter22"})
	for _, test := range []struct{ name, given, want string }{
		{"a parameter", "https://a.example/?pin=0000&page=1", "https://a.example/?pin=***&page=1"},
		{"an escaped parameter", "pin=ab%2Fc;pin=%30000", "pin=***;pin=***"},
		{"a part of a parameter", "?pin=00001", "?pin=00001"},
		{"a path segment", "https://a.example/0000/x/ab%2Fc?y", "https://a.example/***/x/***?y"},
		{"a part of a path segment", "https://a.example/x0000/", "https://a.example/x0000/"},
		{"a path alone", "/0000/", "/0000/"},
		{"a malformed escape", "https://a.example/%zz/0000?a=%zz&pin=0000", "https://a.example/%zz/***?a=%zz&pin=***"},
		{"a multipart field", "name=\"pin\"\r\n\r\n0000\r\n--x", "name=\"pin\"\r\n\r\n***\r\n--x"},
		{"a part of a multipart field", "name=\"pin\"\r\n\r\n00001\r\n--x", "name=\"pin\"\r\n\r\n00001\r\n--x"},
		{"a long secret anywhere", "https://a.example/xhunter22x", "https://a.example/x***x"},
		{"a whole text", "0000", "***"},
		{"prose", "0000 or ab/c", "0000 or ab/c"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := m.Address(test.given); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
	t.Run("without short secrets", func(t *testing.T) {
		if got, want := secret.NewMasker([]any{"hunter22"}).Address("?a=hunter22&pin=0000"), "?a=***&pin=0000"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

package llm

import (
	"strings"
	"testing"
)

func TestMasked(t *testing.T) {
	const secret = "abcdefghijklmnop"
	for _, test := range []struct{ secrets, said, want string }{
		{secret, "no key", "no key"},
		{secret, "a" + secret + "b", "a***b"},
		{secret, "abcdefgh", "***"},
		{secret, "abcdefg", "abcdefg"},
		{secret, "abcdefghij.", "***."},
		{secret, "ijklmnop", "***"},
		{secret, "jklmnop", "jklmnop"},
		{secret, "efghijkl", "efghijkl"},
		{secret, "abcdefghXijklmnop", "***X***"},
		{secret, "abcdefghijklmnoijklmnop", "***"},
		{secret, "abcdefgh" + secret, "***"},
		{secret, "zzefghijklmnop", "zz***"},
		{"abcdefghabcdefghXYZ", "abcdefghabcdefghabcdefghXYZ", "***"},
		{"short", "a short one, shor", "a *** one, shor"},
		{"short|" + secret, "short abcdefghi", "*** ***"},
		{"aaaaaaaaaaaa", "aaaaaaa aaaaaaaa aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", "aaaaaaa *** ***b"},
		{"abcdefghé1", "abcdefghè1", "***1"},
		{"", "as it is", "as it is"},
	} {
		t.Run(test.said, func(t *testing.T) {
			if got := masked(test.said, strings.Split(test.secrets, "|")); got != test.want {
				t.Errorf("%s in %q: %q, want %q", test.secrets, test.said, got, test.want)
			}
		})
	}
}

package signature

import (
	"strings"
	"testing"
)

// Whatever authenticates a sender is hidden, whatever the scheme.
func TestProofsAreHidden(t *testing.T) {
	for _, p := range Presets {
		if !IsProof(strings.ToLower(p.Scheme.Header)) {
			t.Errorf("%s would be shown", p.Scheme.Header)
		}
	}
	for _, s := range Usual {
		if !IsProof(strings.ToLower(s.Header)) {
			t.Errorf("%s would be shown", s.Header)
		}
	}
}

func TestSignatureForms(t *testing.T) {
	for _, c := range []struct {
		values []string
		want   string
	}{
		{[]string{""}, "empty"},
		{[]string{"a", "b"}, "sent 2 times"},
		{[]string{strings.Repeat("aB", 32)}, "64 hexadecimal digits"},
		{[]string{"sha256=" + strings.Repeat("a", 40)}, "sha256= and 40 hexadecimal digits"},
		{[]string{"SHA1=" + strings.Repeat("a", 40)}, "sha1= and 40 hexadecimal digits"},
		{[]string{"sha256="}, "sha256= and nothing"},
		{[]string{"v0=" + strings.Repeat("f", 64)}, "v0= and 64 hexadecimal digits"},
		{[]string{"t=1700000000,v1=" + strings.Repeat("a", 64)}, "t= and 10 digits; v1= and 64 hexadecimal digits"},
		{[]string{"v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="}, "v1, and 44 characters of base64"},
		{[]string{"v1,AAAZ v1a,x! y z u"}, "v1, and 4 characters of base64; v1a, and 2 characters; 1 characters of base64; 1 characters of base64; 1 more"},
		{[]string{"my secret!"}, "2 characters of base64; 7 characters"},
		{[]string{" "}, "blank"},
	} {
		t.Run(c.want, func(t *testing.T) {
			if got := FormOf(c.values); got != c.want {
				t.Errorf("%q: %q, want %q", c.values, got, c.want)
			}
		})
	}
}

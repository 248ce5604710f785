package store

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestFold(t *testing.T) {
	for _, test := range []struct{ a, b string }{
		{"É", "é"}, {"STRAßE", "straße"}, {"ΟΔΟΣ", "οδος"}, {"ΟΔΟΣ", "οδοσ"}, {"Kelvin \u212a", "KELVIN k"}, {"ſ", "S"}, {"Ǆ", "ǆ"}, {"ǅ", "Ǆ"}, {"\x00A", "\x00a"},
	} {
		t.Run(test.b, func(t *testing.T) {
			if fold(test.a) != fold(test.b) {
				t.Errorf("%q and %q differ", test.a, test.b)
			}
		})
	}
	for _, test := range []struct{ a, b string }{{"e", "é"}, {"ß", "ss"}, {"a", "b"}, {"1", "l"}} {
		t.Run(test.a, func(t *testing.T) {
			if fold(test.a) == fold(test.b) {
				t.Errorf("%q and %q are the same", test.a, test.b)
			}
		})
	}
}

// FuzzFold holds fold against the standard library's comparison.
func FuzzFold(f *testing.F) {
	for _, text := range []string{"", "É", "Σσς", "\u212aKk", "ß", "\xff", "a\x00B"} {
		f.Add(text, strings.ToUpper(text))
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		if !utf8.ValidString(a) || !utf8.ValidString(b) {
			return
		}
		if got, want := fold(a) == fold(b), strings.EqualFold(a, b); got != want {
			t.Errorf("%q and %q: %v, want %v", a, b, got, want)
		}
		if fold(fold(a)) != fold(a) {
			t.Errorf("%q folds twice", a)
		}
	})
}

func TestSlug(t *testing.T) {
	for name, want := range map[string]string{"Blue  Team!": "blue-team", "Élan 2": "élan-2", "": "x", "!!": "x", "--a--": "a"} {
		t.Run(name, func(t *testing.T) {
			if got := slug(name); got != want {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}

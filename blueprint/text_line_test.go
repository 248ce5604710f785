package blueprint_test

import (
	"testing"

	"blueprintd/blueprint"
)

func TestOneLine(t *testing.T) {
	for text, want := range map[string]string{
		"Ada Łovelace, 愛":                    "",
		"👩\u200d🚀 and 🏴\U000e0067\U000e007f": "",
		"می\u200cخواهم":                      "",
		"two\nlines\tand a tab":              "two lines and a tab",
		"\x1b[2J\a":                          "\ufffd[2J\ufffd",
		"\u009b31m":                          "\ufffd31m",
		"a\u202eb\u2066c\u200fd":             "a\ufffdb\ufffdc\ufffdd",
		"a\u2028b\u2029c\r":                  "a\ufffdb\ufffdc\ufffd",
		"\ufeffa\u200bb\u2060":               "\ufffda\ufffdb\ufffd",
		"broken \xff":                        "broken \ufffd",
	} {
		t.Run(text, func(t *testing.T) {
			if want == "" {
				want = text
			}
			if got := blueprint.OneLine(text); got != want {
				t.Errorf("%q is shown as %q, want %q", text, got, want)
			}
		})
	}
}

func TestShorten(t *testing.T) {
	for _, test := range []struct {
		text, want, prefix string
		most               int
	}{
		{"short", "short", "short", 5},
		{"longer", "lo…", "longe", 5},
		{"äöü", "ä…", "äö", 5},
		{"äöü", "…", "ä", 3},
		{"ab", "…", "", 0},
	} {
		t.Run(test.prefix, func(t *testing.T) {
			if got := blueprint.Shorten(test.text, test.most); got != test.want {
				t.Errorf("%q shortened to %d: %q, want %v", test.text, test.most, got, test.want)
			}
			if got := blueprint.Prefix(test.text, test.most); got != test.prefix {
				t.Errorf("%q cut to %d: %q, want %v", test.text, test.most, got, test.prefix)
			}
		})
	}
}

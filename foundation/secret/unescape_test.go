package secret

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestUnescapings(t *testing.T) {
	for _, test := range []struct {
		text string
		want []string // after text itself
	}{
		{"plain", nil},
		{"a%2Bb", []string{"a+b", "a b"}},
		{"%25252541", []string{"%252541", "%2541", "%41"}}, // three layers at most
		{`\"\\\/\n\r\t\b\f`, []string{"\"\\/\n\r\t\b\f", "\"/\n\r\t\b\f"}},
		{`\u0041\u00e9`, []string{"Aé"}},
		{`\ud83d\ude00`, []string{"😀"}},
		{`\ud83d\u0041`, []string{"\ufffdA"}},
		{`\ud83d`, []string{"\ufffd"}},
		{"&lt;&#39;&apos;", []string{"<''"}},
		{"&amp;amp;", []string{"&amp;", "&", "&"}},
		{"&quot", []string{"&quot", "&quot", "&quot"}},
		{"&unknown;", []string{"&unknown;", "&unknown;", "&unknown;"}},
		{"50%", []string{"50%", "50%", "50%"}},
		{`\`, []string{`\`, `\`, `\`}},
		{`\u12`, []string{`\u12`, `\u12`, `\u12`}},
	} {
		t.Run(test.text, func(t *testing.T) {
			if diff := cmp.Diff(append([]string{test.text}, test.want...), unescapings(test.text)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

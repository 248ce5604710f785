package llm

import (
	"strings"
	"unicode"

	"blueprintd/blueprint"
)

const (
	// maxSaid bounds what is shown of the words of a provider, in bytes.
	maxSaid = 300
	// maxRead bounds what of them is looked at, in bytes.
	maxRead = 4 << 10
	// leastPart is how much of a secret is worth hiding, in bytes: less tells
	// nothing, and stands in ordinary words.
	leastPart = 8
)

// short makes one line of what a provider said, without credentials and cut
// when it is long.
func (c *Client) short(said string) string {
	line := masked(oneLine(said), c.connection.Secrets)
	return blueprint.Shorten(line, maxSaid)
}

// oneLine returns the beginning of a text without what no terminal should see.
func oneLine(text string) string {
	var out strings.Builder
	for word := range strings.FieldsSeq(strings.ToValidUTF8(text, "\uFFFD")) {
		if out.Len() >= maxRead {
			break
		}
		if out.Len() > 0 {
			out.WriteByte(' ')
		}
		for _, r := range word {
			if out.Len() < maxRead && unicode.IsPrint(r) {
				out.WriteRune(r)
			}
		}
	}
	return out.String()
}

// masked puts *** for every secret in a text, and for what begins or ends one:
// those who say which key they refuse often show that much. It may compare each
// place of the text with all of each secret.
func masked(text string, secrets []string) string {
	hidden := make([]bool, len(text))
	hide := func(from, to int) {
		for i := from; i < to; i++ {
			hidden[i] = true
		}
	}
	for _, secret := range secrets {
		least := min(leastPart, len(secret))
		if least == 0 {
			continue
		}
		for i := range len(text) {
			n := 0
			for n < len(secret) && i+n < len(text) && text[i+n] == secret[n] {
				n++
			}
			if n >= least {
				hide(i, i+n)
			}
			for n = 0; n < len(secret) && n <= i && text[i-n] == secret[len(secret)-1-n]; n++ {
			}
			if n >= least {
				hide(i-n+1, i+1)
			}
		}
	}
	var out strings.Builder
	for i := range len(text) {
		switch {
		case !hidden[i]:
			out.WriteByte(text[i])
		case i == 0 || !hidden[i-1]:
			out.WriteString("***")
		}
	}
	return strings.ToValidUTF8(out.String(), "") // a character may be half a secret's
}

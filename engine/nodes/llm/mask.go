package llm

import (
	"strings"
	"unicode"

	"blueprintd/blueprint"
)

const (
	// maxShown bounds the displayed text of a provider, in bytes.
	maxShown = 300
	// maxRead bounds the text that is processed, in bytes.
	maxRead = 4 << 10
	// leastPart is the length from which a part of a secret is masked, in bytes: less
	// is harmless and appears in ordinary words.
	leastPart = 8
)

// sanitize returns a provider's text as one short line without credentials.
func (c *Client) sanitize(said string) string {
	line := masked(oneLine(said), c.connection.Secrets)
	return blueprint.Shorten(line, maxShown)
}

// oneLine returns the beginning of a text on one line, without unprintable characters.
func oneLine(text string) string {
	printable := strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) || unicode.IsSpace(r) {
			return r
		}
		return -1
	}, strings.ToValidUTF8(text, "\uFFFD"))
	return blueprint.Prefix(strings.Join(strings.Fields(printable), " "), maxRead)
}

// masked replaces every secret in a text with ***, and every prefix or suffix of one:
// servers often quote part of the key that they refuse. It takes quadratic time.
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
	return strings.ToValidUTF8(out.String(), "") // a character may be cut in half
}

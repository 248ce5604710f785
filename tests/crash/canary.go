package main

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
)

// canary begins every secret of the load, so that one can be told wherever it
// turns up.
const canary = "canary-"

// secretOf gives the secret of a connection of the load.
func secretOf(connection string) string { return canary + connection + "-5fc1b2" }

// guardedToken is the nth token of the connection that is changed meanwhile.
func guardedToken(n int) string { return fmt.Sprintf("%s-%d-5fc1b2", canary+"guarded", n) }

var guardedTokens = regexp.MustCompile(`^` + canary + `guarded-\d+-5fc1b2$`)

// disguises are the forms in which a canary may stand in a text: as it is, in
// hex, and in base64 at each of the three places where it can begin there.
var disguises = func() []string {
	all := []string{canary, hex.EncodeToString([]byte(canary))}
	for shift := range 3 {
		text := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", shift) + canary))
		// What the letters before and after it decide, too, is left out.
		all = append(all, text[(shift*8+5)/6:(shift+len(canary))*8/6])
	}
	return all
}()

// leak gives a piece of a text that holds a secret, "" when none does.
func leak(text string) string {
	for _, form := range disguises {
		if at := strings.Index(text, form); at >= 0 {
			return text[max(0, at-100):min(len(text), at+len(form)+40)]
		}
	}
	return ""
}

// keepsSecrets looks for secrets in what the server said.
func (b *book) keepsSecrets(run, where, text string) {
	b.count(func(c *counts) { c.Searched++ })
	if piece := leak(text); piece != "" {
		b.violated("I13", run, "%s holds a secret: %q", where, piece)
	}
}

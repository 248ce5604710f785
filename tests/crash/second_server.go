package main

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// maxRefusal bounds the time in which a second server must refuse the database.
const maxRefusal = 10 * time.Second

// startSecondServer starts a second server on the database of the running one. It must be refused;
// any harm shows in the other invariants.
func (s *scenario) startSecondServer(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, maxRefusal)
	defer cancel()
	command := exec.CommandContext(ctx, s.binary, s.arguments()...)
	command.Dir = filepath.Dir(s.database())
	out, err := command.CombinedOutput()
	code := 0
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		code = exit.ExitCode() // -1 when it had to be killed
	case err != nil:
		code = -1
	}
	s.history.count(func(n *counts) { n.SecondServers++ })
	s.history.checkSecondServer(s.database(), code, string(out))
}

func (h *history) checkSecondServer(database string, code int, text string) {
	h.checkSecrets("", "the output of a second server", text)
	if code == 1 && strings.Contains(text, filepath.Base(database)) && strings.Contains(text, "hint: ") && !strings.Contains(text, "is ready on") {
		return
	}
	h.violated("up", "", "a second server on the same database was not refused as expected: exit code %d, %s", code, fmt.Sprintf("%.500q", text))
}

// canary is the prefix of every secret of the load, so that a secret is recognized
// wherever it leaks.
const canary = "canary-"

// secretOf returns the secret of a connection of the load.
func secretOf(connection string) string { return canary + connection + "-5fc1b2" }

// guardedToken is the nth token of the connection whose token changes.
func guardedToken(n int) string { return fmt.Sprintf("%s-%d-5fc1b2", canary+"guarded", n) }

var guardedTokens = regexp.MustCompile(`^` + canary + `guarded-\d+-5fc1b2$`)

// encodings are the forms of a canary in a text: plain, in hex, and in base64 at each of
// the three offsets.
var encodings = func() []string {
	all := []string{canary, hex.EncodeToString([]byte(canary))}
	for shift := range 3 {
		text := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", shift) + canary))
		// Characters that also depend on the neighbouring bytes are left out.
		all = append(all, text[(shift*8+5)/6:(shift+len(canary))*8/6])
	}
	return all
}()

// findSecret returns a part of a text that contains a secret, "" if there is none.
func findSecret(text string) string {
	for _, form := range encodings {
		if at := strings.Index(text, form); at >= 0 {
			return text[max(0, at-100):min(len(text), at+len(form)+40)]
		}
	}
	return ""
}

// checkSecrets searches the output of the server for secrets.
func (h *history) checkSecrets(run, where, text string) {
	h.count(func(c *counts) { c.Searched++ })
	if piece := findSecret(text); piece != "" {
		h.violated("I13", run, "%s holds a secret: %q", where, piece)
	}
}

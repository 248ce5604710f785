package accounts

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"blueprintd/blueprint"
)

// How long a password is: characters at least, bytes at most.
const (
	shortestPassword = 10
	longestPassword  = 1000
)

// checkPassword says why a text cannot be the password of the account with an
// email: CodeBadRequest about the field password.
func checkPassword(password, email string) error {
	switch {
	case len(password) > longestPassword:
		return wrongField("password", "must have at most %d bytes", longestPassword)
	case !utf8.ValidString(password):
		return wrongField("password", "is not valid UTF-8")
	case utf8.RuneCountInString(password) < shortestPassword:
		return wrongField("password", "must have at least %d characters", shortestPassword)
	case fold(strings.TrimSpace(password)) == fold(email):
		return wrongField("password", "must not be the email")
	}
	return nil
}

// CheckPassword says why a text cannot be the password of an account:
// CodeBadRequest about the field password.
func CheckPassword(password, email string) error { return checkPassword(password, email) }

// CheckEmail says why a text cannot be an email address: CodeBadRequest about
// the field email. Whether mail arrives there is nobody's promise.
func CheckEmail(email string) error {
	local, domain, found := strings.Cut(email, "@")
	if !found || local == "" || domain == "" || len(email) > 320 || strings.ContainsFunc(email, noEmail) {
		return wrongField("email", "is no email address; write ada@example.org")
	}
	return nil
}

// noEmail tells of a character that no email address shows: blanks, and what
// controls or turns the text around it.
func noEmail(r rune) bool {
	return !unicode.IsGraphic(r) || unicode.IsSpace(r) || r == '<' || r == '>' || r == utf8.RuneError
}

// fold makes emails the same that differ by letter case alone.
func fold(email string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			least = min(least, next)
		}
		return least
	}, email)
}

// wrongField says what is wrong with one field of an input.
func wrongField(field, format string, args ...any) error {
	message := fmt.Sprintf(format, args...)
	return &blueprint.Error{Code: blueprint.CodeBadRequest, Message: field + ": " + message, Issues: []blueprint.Issue{{Path: []any{field}, Message: message}}}
}

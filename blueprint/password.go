package blueprint

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// How long a password is: characters at least, bytes at most.
const (
	shortestPassword = 10
	longestPassword  = 1000
)

// CheckPassword says why a text cannot be the password of the account with an
// email: CodeBadRequest about the field password.
func CheckPassword(password, email string) error {
	switch {
	case len(password) > longestPassword:
		return FieldError("password", "must have at most %d bytes", longestPassword)
	case !utf8.ValidString(password):
		return FieldError("password", "is not valid UTF-8")
	case utf8.RuneCountInString(password) < shortestPassword:
		return FieldError("password", "must have at least %d characters", shortestPassword)
	case FoldEmail(strings.TrimSpace(password)) == FoldEmail(email):
		return FieldError("password", "must not be the email")
	}
	return nil
}

// CheckEmail says why a text cannot be an email address: CodeBadRequest about
// the field email. Whether mail arrives there is nobody's promise.
func CheckEmail(email string) error {
	local, domain, found := strings.Cut(email, "@")
	if !found || local == "" || domain == "" || len(email) > 320 || strings.ContainsFunc(email, noEmail) {
		return FieldError("email", "is no email address; write ada@example.org")
	}
	return nil
}

// noEmail tells of a character that no email address shows: blanks, and what
// controls or turns the text around it.
func noEmail(r rune) bool {
	return !unicode.IsGraphic(r) || unicode.IsSpace(r) || r == '<' || r == '>' || r == utf8.RuneError
}

// FoldEmail makes emails the same that differ by letter case alone.
func FoldEmail(email string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			least = min(least, next)
		}
		return least
	}, email)
}

// FieldError says what is wrong with one field of an input.
func FieldError(field, format string, args ...any) error {
	message := fmt.Sprintf(format, args...)
	return &Error{Code: CodeBadRequest, Message: field + ": " + message, Issues: []Issue{{Path: []any{field}, Message: message}}}
}

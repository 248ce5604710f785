package mail

import (
	"errors"
	"strings"

	"blueprintd/blueprint"
)

// maxLocal is the length of a local part, in bytes.
const maxLocal = 64

// isPlainRecipient tells whether what stands behind RCPT names a recipient in
// the one form that is understood: TO:<letters and digits@domain>, perhaps with
// blanks before the bracket and parameters behind it. Routes, quotes, comments
// and all that other servers take for a request to pass mail on are not in it.
func isPlainRecipient(argument string) bool {
	const prefix = "TO:"
	if len(argument) < len(prefix) || !strings.EqualFold(argument[:len(prefix)], prefix) {
		return true // no recipient at all: the library says so
	}
	path := strings.TrimLeft(argument[len(prefix):], " ")
	inside, parameters, closed := strings.Cut(path, ">")
	inside, opened := strings.CutPrefix(inside, "<")
	if !opened || !closed || parameters != "" && parameters[0] != ' ' {
		return false
	}
	local, domain, found := strings.Cut(inside, "@")
	return found && isWord(local) && domain != "" && !strings.ContainsFunc(domain, func(r rune) bool {
		return !isWordLetter(r) && r != '.' && r != '-'
	})
}

// localPart gives the local part of an address in the mail domain, in lower
// case.
func localPart(address, domain string) (local string, ok bool) {
	local, behind, found := strings.Cut(address, "@")
	if !found || !strings.EqualFold(behind, domain) || !isWord(local) {
		return "", false
	}
	return strings.ToLower(local), true
}

func isWord(text string) bool {
	return text != "" && len(text) <= maxLocal && !strings.ContainsFunc(text, func(r rune) bool { return !isWordLetter(r) })
}

func isWordLetter(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
}

// refusedBecause is the reason of a refusal, for the sender.
func refusedBecause(err error) string {
	var known *blueprint.Error
	if errors.As(err, &known) {
		return plain(known.Message)
	}
	return "the message cannot be read"
}

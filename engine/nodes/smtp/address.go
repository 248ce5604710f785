package smtp

import (
	"errors"
	"fmt"
	"net/mail"
	"strings"
	"unicode"
	"unicode/utf8"

	"blueprintd/blueprint"
)

var errAddress = errors.New("must be an address such as ada@example.org or Ada <ada@example.org>, or several with commas between")

// ParseAddresses parses comma-separated addresses. The result is safe in headers and
// SMTP commands: it needs no quotes, has no line breaks, and cannot be parsed as two
// addresses.
func ParseAddresses(source string) ([]mail.Address, error) {
	if len(source) > maxAddressList {
		return nil, errors.New("is too long")
	}
	if !blueprint.IsOneLine(source) {
		return nil, errors.New("must be one line without control characters")
	}
	list, err := mail.ParseAddressList(source)
	if err != nil || len(list) == 0 { // a group may be empty
		return nil, errAddress
	}
	all := make([]mail.Address, len(list))
	for i, one := range list {
		if problem := addressProblem(one.Address); problem != "" {
			return nil, fmt.Errorf("%q is not a valid address: %s", one.Address, problem)
		}
		if !blueprint.IsOneLine(one.Name) {
			return nil, errors.New("must not have control characters in a name")
		}
		all[i] = *one
	}
	return all, nil
}

// addressProblem returns why an address cannot be used, "" when it can. Quoted local
// parts are rare, and servers have parsed them differently.
func addressProblem(address string) string {
	at := strings.LastIndexByte(address, '@')
	if at < 0 {
		return "there is no @ in it"
	}
	local, domain := address[:at], address[at+1:]
	switch {
	case local == "" || domain == "":
		return "something is missing before or after the @"
	case len(local) > 64 || len(domain) > 253:
		return "it is too long"
	case strings.HasPrefix(local, ".") || strings.HasSuffix(local, ".") || strings.Contains(local, ".."):
		return "a dot is out of place"
	case strings.ContainsFunc(local, notInLocal):
		return "before the @ there is a character that would need quotes"
	}
	for label := range strings.SplitSeq(domain, ".") {
		switch {
		case label == "" || len(label) > 63:
			return "its domain has a part that is empty or too long"
		case strings.HasPrefix(label, "-") || strings.HasSuffix(label, "-") || strings.ContainsFunc(label, notInDomain):
			return "its domain is not a host name"
		}
	}
	return ""
}

func notInLocal(c rune) bool {
	switch {
	case isLetterOrDigit(c):
		return false
	case c < utf8.RuneSelf:
		return !strings.ContainsRune("!#$%&'*+-/=?^_`{|}~.", c)
	default:
		return c == utf8.RuneError || unicode.IsSpace(c) || !unicode.IsGraphic(c)
	}
}

func notInDomain(c rune) bool {
	if c < utf8.RuneSelf {
		return !isLetterOrDigit(c) && c != '-'
	}
	return !unicode.IsLetter(c) && !unicode.IsMark(c) && !unicode.IsDigit(c)
}

func isLetterOrDigit(c rune) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

func isASCII(source string) bool {
	return !strings.ContainsFunc(source, func(c rune) bool { return c >= utf8.RuneSelf })
}

// maxAddressList bounds a list of addresses, in bytes.
const maxAddressList = 100 << 10

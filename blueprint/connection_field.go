package blueprint

import (
	"encoding/json"
	"fmt"
	"net/mail"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The bounds of a config.
const (
	mostConfigText   = 2048  // characters of a text
	mostConfigSecret = 16384 // bytes of a secret: signed tokens are long
	mostConfigList   = 100   // elements of a list
)

// fieldCheck tells what is wrong with a value that was given; paths start at
// the value.
type fieldCheck func(value any) []Issue

// textCheck makes a check of one that says what is wrong with a text, "" for
// nothing.
func textCheck(problem func(text string) string) fieldCheck {
	return boundedText(func(text string) string {
		if utf8.RuneCountInString(text) > mostConfigText {
			return fmt.Sprintf("must have at most %d characters", mostConfigText)
		}
		return ""
	}, problem)
}

// boundedText makes a check of one for the length of a text, and one for the
// rest.
func boundedText(long, problem func(text string) string) fieldCheck {
	return func(value any) []Issue {
		text, ok := value.(string)
		switch {
		case !ok:
			return fault("must be a string")
		case text == "":
			return fault("must not be empty")
		case long(text) != "":
			return fault(long(text))
		case strings.ContainsFunc(text, unicode.IsControl):
			return fault("must not hold line breaks or other control characters")
		}
		return fault(problem(text))
	}
}

// fault is the issue for one problem, nil for none.
func fault(problem string) []Issue {
	if problem == "" {
		return nil
	}
	return []Issue{{Path: []any{}, Message: problem}}
}

func oneOf(words ...string) fieldCheck {
	return textCheck(func(text string) string {
		if slices.Contains(words, text) {
			return ""
		}
		return "must be one of " + strings.Join(words, ", ")
	})
}

// wholeNumber checks a number without a fraction, both bounds included.
func wholeNumber(least, most int64) fieldCheck {
	return func(value any) []Issue {
		number, _ := value.(json.Number)
		if n, err := number.Int64(); err != nil || n < least || n > most {
			return fault(fmt.Sprintf("must be a whole number from %d to %d", least, most))
		}
		return nil
	}
}

// listOf checks a list and each of its elements.
func listOf(element fieldCheck) fieldCheck {
	return func(value any) (issues []Issue) {
		list, ok := value.([]any)
		switch {
		case !ok:
			return fault("must be a list")
		case len(list) > mostConfigList:
			return fault(fmt.Sprintf("must have at most %d elements", mostConfigList))
		}
		for i, one := range list {
			issues = append(issues, below(element(one), i)...)
		}
		return issues
	}
}

// someOf is listOf for a list that must not be empty.
func someOf(element fieldCheck) fieldCheck {
	each := listOf(element)
	return func(value any) []Issue {
		if list, ok := value.([]any); ok && len(list) == 0 {
			return fault("must have at least 1 element")
		}
		return each(value)
	}
}

// below puts the issues of a value under the place of the value.
func below(issues []Issue, at any) []Issue {
	for i := range issues {
		issues[i].Path = append([]any{at}, issues[i].Path...)
	}
	return issues
}

// secretText checks a secret, of which nothing is told.
func secretText(problem func(text string) string) fieldCheck {
	return boundedText(func(text string) string {
		if len(text) > mostConfigSecret {
			return fmt.Sprintf("must have at most %d bytes", mostConfigSecret)
		}
		return ""
	}, problem)
}

var (
	plainText = textCheck(untrimmed)
	// A pasted token often has a blank too many, a password may well begin with one.
	headerSecret = secretText(untrimmed)
	password     = secretText(func(string) string { return "" })
	hostForm     = textCheck(func(text string) string { _, problem := parseHost(text); return problem })
	hostOnly     = textCheck(func(text string) string { _, problem := hostName(text); return problem })
	webAddress   = textCheck(func(text string) string { return addressProblem(text, false) })
	safeAddress  = textCheck(func(text string) string { return addressProblem(text, true) })
)

func untrimmed(text string) string {
	if strings.TrimSpace(text) != text {
		return "must not begin or end with white space"
	}
	return ""
}

// addressProblem says what keeps a text from being the address of a service.
// With safe set, only this machine may be reached without TLS.
func addressProblem(text string, safe bool) string {
	address, err := url.Parse(text)
	if err != nil || strings.ContainsAny(text, " \\") {
		return "must be an address such as https://api.example.com"
	}
	switch {
	case address.Scheme != "http" && address.Scheme != "https":
		return "must begin with https:// or http://"
	case address.Opaque != "" || address.Hostname() == "":
		return "must name a host"
	case address.User != nil:
		return "must not hold a user or a password"
	case address.Fragment != "" || strings.HasSuffix(text, "#"):
		return "must not have a part after #"
	case strings.HasSuffix(address.Host, ":") || address.Port() != "" && !validPort(address.Port()):
		return "must have a port from 1 to 65535, or none"
	}
	name, problem := hostName(address.Hostname())
	if problem == "" && safe && address.Scheme == "http" && !loopbackName(name) {
		return "must begin with https://, since secrets go there"
	}
	return problem
}

// loopbackName reports whether a canonical host is this machine. Other names below
// localhost are not: a resolver may say that they are anywhere.
func loopbackName(name string) bool {
	if address, err := netip.ParseAddr(name); err == nil {
		return address.IsLoopback()
	}
	return name == "localhost"
}

// scope is one of an OAuth scope's words, as RFC 6749 3.3 has them.
var scope = textCheck(func(text string) string {
	for _, r := range text {
		if r <= ' ' || r == '"' || r == '\\' || r > '~' {
			return "must be one scope, without blanks and quotes"
		}
	}
	return ""
})

// basicUser has no colon, which ends it on the wire (RFC 7617).
var basicUser = textCheck(func(text string) string {
	if strings.Contains(text, ":") {
		return "must not hold a colon"
	}
	return ""
})

// framing are the headers that say how a message is sent, not what is in it.
var framing = []string{"connection", "content-length", "expect", "host", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"}

var headerName = textCheck(func(text string) string {
	for _, r := range text {
		if (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && !strings.ContainsRune("!#$%&'*+-.^_`|~", r) {
			return "must be the name of a header"
		}
	}
	if name := strings.ToLower(text); slices.Contains(framing, name) || strings.HasPrefix(name, "proxy-") {
		return "must not be a header that says how the request is sent"
	}
	return ""
})

var mailAddress = textCheck(func(text string) string {
	if _, err := mail.ParseAddress(text); err != nil {
		return "must be a mail address"
	}
	return ""
})

var connectionID = textCheck(func(text string) string {
	if !IsUUID(text) {
		return "must be a UUID"
	}
	return ""
})

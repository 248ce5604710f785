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

// Limits of a config.
const (
	mostConfigText   = 2048  // characters of a text
	mostConfigSecret = 16384 // bytes of a secret: signed tokens are long
	mostConfigList   = 100   // elements of a list
)

// fieldCheck returns the issues of a value that is present; paths start at the value.
type fieldCheck func(value any) []Issue

// textCheck returns a check for strings; problem returns "" for a valid one.
func textCheck(problem func(text string) string) fieldCheck {
	return boundedText(func(text string) string {
		if utf8.RuneCountInString(text) > mostConfigText {
			return fmt.Sprintf("must have at most %d characters", mostConfigText)
		}
		return ""
	}, problem)
}

// boundedText is textCheck with a check of the length.
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
			return fault("must not contain control characters")
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

// wholeNumber checks an integer; the bounds are inclusive.
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

// below prefixes the paths of issues.
func below(issues []Issue, at any) []Issue {
	for i := range issues {
		issues[i].Path = append([]any{at}, issues[i].Path...)
	}
	return issues
}

// secretText checks a secret without showing it.
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
	// A pasted token often has extra white space, a password may begin with some.
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

// addressProblem checks the URL of a service. If safe, only loopback hosts may use http.
func addressProblem(text string, safe bool) string {
	address, err := url.Parse(text)
	if err != nil || strings.ContainsAny(text, " \\") {
		return "must be a URL such as https://api.example.com"
	}
	switch {
	case address.Scheme != "http" && address.Scheme != "https":
		return "must begin with https:// or http://"
	case address.Opaque != "" || address.Hostname() == "":
		return "must name a host"
	case address.User != nil:
		return "must not contain a user or a password"
	case address.Fragment != "" || strings.HasSuffix(text, "#"):
		return "must not have a fragment"
	case strings.HasSuffix(address.Host, ":") || address.Port() != "" && !validPort(address.Port()):
		return "must have a port from 1 to 65535, or none"
	}
	name, problem := hostName(address.Hostname())
	if problem == "" && safe && address.Scheme == "http" && !loopbackName(name) {
		return "must begin with https://, because secrets are sent there"
	}
	return problem
}

// loopbackName reports whether a canonical host is loopback. Names below localhost are
// not: a resolver may return any address for them.
func loopbackName(name string) bool {
	if address, err := netip.ParseAddr(name); err == nil {
		return address.IsLoopback()
	}
	return name == "localhost"
}

// scope is a scope token (RFC 6749, 3.3).
var scope = textCheck(func(text string) string {
	for _, r := range text {
		if r <= ' ' || r == '"' || r == '\\' || r > '~' {
			return "must be one scope, without spaces and quotes"
		}
	}
	return ""
})

// basicUser has no colon, which separates it from the password (RFC 7617).
var basicUser = textCheck(func(text string) string {
	if strings.Contains(text, ":") {
		return "must not contain a colon"
	}
	return ""
})

// framing are headers that belong to the connection, not to the message.
var framing = []string{"connection", "content-length", "expect", "host", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"}

var headerName = textCheck(func(text string) string {
	for _, r := range text {
		if (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && !strings.ContainsRune("!#$%&'*+-.^_`|~", r) {
			return "must be a header name"
		}
	}
	if name := strings.ToLower(text); slices.Contains(framing, name) || strings.HasPrefix(name, "proxy-") {
		return "must not be a header of the connection"
	}
	return ""
})

var mailAddress = textCheck(func(text string) string {
	if _, err := mail.ParseAddress(text); err != nil {
		return "must be an email address"
	}
	return ""
})

var connectionID = textCheck(func(text string) string {
	if !IsUUID(text) {
		return "must be a UUID"
	}
	return ""
})

package main

import (
	"regexp"
	"strings"
)

// A phrase is wording that the sources do not use, with what they use instead.
type phrase struct {
	pattern *regexp.Regexp
	use     string
	except  *regexp.Regexp // matches that are fine, nil for none
}

func banned(pattern, use, except string) phrase {
	p := phrase{pattern: regexp.MustCompile(`(?i)` + pattern), use: use}
	if except != "" {
		p.except = regexp.MustCompile(`(?i)` + except)
	}
	return p
}

// phrases are the words that read as translated, and the metaphors for which the field
// has a term.
var phrases = []phrase{
	banned(`\btells? whether\b`, "reports whether", ""),
	banned(`\bhas it that\b`, "says that", ""),
	banned(`\b(somebody|whoever|whosoever|anybody|everybody)\b`, "the caller, a user, the sender, another process", ""),
	banned(`\bnobody\b`, "no user, no caller, no process", `"nobody"|'nobody'|nobody@|user nobody`),
	banned(`\bwho (asks|knocks|calls|sends|waits|wants|comes|runs it)\b`, "the caller, the sender, the operator", `(user|member|admin|owner|caller|client|sender|person|one|author)s? who`),
	banned(`\bdoors?\b`, "endpoint, listener", ""),
	banned(`\brooms\b`, "packages", ""),
	banned(`\bknock(s|ed|ing)?\b`, "call, request", ""),
	banned(`\bbells?\b`, "signal", ""),
	banned(`\bveil(s|ed|ing)?\b`, "redact", ""),
	banned(`\bnap(s|ped|ping)?\b`, "hibernate, evict", ""),
	banned(`\bvisitors?\b`, "client, sender", ""),
	banned(`\b(hears?|heard|hearers?)\b`, "subscribes, receives, subscriber", `^heard$`),
	banned(`\b(is|are|was|were|be|been|being) told\b`, "is notified, is reported, receives", ""),
	banned(`\btells? of\b`, "reports, announces", ""),
	banned(`\bwhat came\b`, "the result, the answer, the input", ""),
	banned(`\bon the way to the disk\b`, "not yet flushed", ""),
	banned(`\bmakes? sure\b`, "ensures, verifies", ""),
	banned(`\b(brought|brings?|bringing|comes?|came) to rest\b`, "drain", ""),
	banned(`\bbrakes?\b`, "throttle, limiter", ""),
	banned(`\b(untold|inquiry)\b`, "undelivered, question", ""),
	banned(`\bmend(s|ed|ing)?\b`, "fix", ""),
	banned(`\bnarrow on disk\b`, "low on space", ""),
	banned(`\banew\b`, "again, a new", ""),
	banned(`\bin a box\b|\bboxed\b`, "sandbox", ""),
	banned(`\bis no [a-z]+`, "is not a", `is no (longer|more|such|need|way|point|other|different|less|later|reason)|(there|this|which|that|where|it) is no`),
	banned(`\bplanted\b`, "mutant", ""),
	banned(`\bstand-?ins?\b`, "placeholder, stub", "stand-in-for-a-"), // the value of an unset secret variable
	banned(`\b(Nothing wrong|Not taken over|Present password|May stay empty|What the sender is answered)\b`, "see the guide for user interfaces", ""),
}

// findings returns what is wrong with a text, one line each.
func findings(text string) []string {
	var found []string
	for _, p := range phrases {
		for _, at := range p.pattern.FindAllStringIndex(text, -1) {
			around := text[max(0, at[0]-12):min(len(text), at[1]+12)]
			if p.except != nil && p.except.MatchString(around) {
				continue
			}
			found = append(found, strings.TrimSpace(text[at[0]:at[1]])+" (use: "+p.use+")")
		}
	}
	return found
}

// returning is how a doc comment says what a function returns.
var returning = regexp.MustCompile(`^\S+ (gives|tells)\b`)

// checkDoc returns what is wrong with the doc comment of a name, "" for nothing.
func checkDoc(name, doc string) string {
	first, rest, _ := strings.Cut(strings.TrimSpace(doc), " ")
	if first == "A" || first == "An" || first == "The" {
		first, _, _ = strings.Cut(rest, " ")
	}
	switch {
	case doc == "" || strings.HasPrefix(doc, "Deprecated:"):
		return ""
	case strings.TrimRight(first, ",.:;") != name && !strings.HasPrefix(first, name+"'s"):
		return "the comment of " + name + " begins with " + strings.TrimRight(first, ",.:;")
	case returning.MatchString(doc):
		return returning.FindString(doc) + " (use: returns, reports)"
	}
	return ""
}

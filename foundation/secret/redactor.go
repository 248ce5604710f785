package secret

import (
	"encoding/base64"
	"strings"
)

// Redactor is Redact that may remember what it took out. It is not safe for
// concurrent use; the zero value remembers nothing.
type Redactor struct {
	keeps bool
	found []any
}

// mostFound bounds what a Redactor remembers.
const mostFound = 1000

// NewRedactor returns a Redactor that remembers what it took out.
func NewRedactor() *Redactor { return &Redactor{keeps: true} }

// hide returns what stands in the place of a text.
func (r *Redactor) hide(text string) string {
	if r.keeps && len(r.found) < mostFound {
		r.found = append(r.found, text)
	}
	return Mask
}

// Header returns the value of a header as it may be seen.
func (r *Redactor) Header(name, value string) string {
	if !SensitiveHeader(name) {
		return r.Text(value)
	}
	r.hide(value)
	return Mask
}

// Masker masks what was taken out wherever it comes again, and so what proves
// somebody without the scheme before it, the password of a name and password, the
// values of cookies, and what is escaped without its escapes. A text that is too short to be searched for is left alone:
// it may be any word.
func (r *Redactor) Masker() *Masker {
	var values []any
	add := func(text string) {
		if text != Mask && long(text) {
			values = append(values, text)
		}
	}
	for _, each := range r.found {
		text := each.(string)
		for _, plain := range unescapings(text) {
			add(plain)
		}
		scheme, proof, found := strings.Cut(text, " ")
		if found {
			add(strings.TrimSpace(proof))
		}
		if decoded, err := base64.StdEncoding.DecodeString(strings.TrimSpace(proof)); err == nil && strings.EqualFold(scheme, "basic") {
			text = string(decoded)
		}
		if _, password, found := strings.Cut(text, ":"); found {
			add(strings.TrimSpace(password))
		}
		for part := range strings.SplitSeq(text, ";") {
			if _, value, found := strings.Cut(part, "="); found {
				add(strings.TrimSpace(value))
			}
		}
	}
	return NewMasker(values)
}

// What runs leave behind is sealed by the engine, for these places, and sealed
// anew by the store when the master key is changed.

// JournalPlace is the place of each entry of an execution's journal.
func JournalPlace(executionID string) string { return "journal/" + executionID }

// RecordPlace is the place of the record of a finished execution.
func RecordPlace(executionID string) string { return "executions/" + executionID + "/record" }

// StatePlace is the place of what a retry of a finished execution needs.
func StatePlace(executionID string) string { return "executions/" + executionID + "/state" }

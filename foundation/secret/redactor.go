package secret

import (
	"encoding/base64"
	"strings"
)

// Redactor is Redact that may record what it masked. It is not safe for concurrent
// use; the zero value records nothing.
type Redactor struct {
	records bool
	found   []any
}

// maxFound bounds what a Redactor records.
const maxFound = 1000

// NewRedactor returns a Redactor that records what it masks.
func NewRedactor() *Redactor { return &Redactor{records: true} }

// hide records a text and returns its replacement.
func (r *Redactor) hide(text string) string {
	if r.records && len(r.found) < maxFound {
		r.found = append(r.found, text)
	}
	return Mask
}

// Header redacts the value of a header.
func (r *Redactor) Header(name, value string) string {
	if !SensitiveHeader(name) {
		return r.Text(value)
	}
	r.hide(value)
	return Mask
}

// Masker returns a Masker for what was recorded, also without an authentication scheme,
// without the user name, for single cookies, and unescaped. Texts that are too short to be
// searched for are skipped.
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

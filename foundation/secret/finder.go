package secret

import (
	"encoding/json"
	"slices"
	"strings"
)

// Finder finds which of many secrets a value may contain, in the forms that a Masker masks. It
// may name more, such as all that are too short to be looked up. Secrets are added one after the
// other, and the time for a search does not depend on their number. The zero Finder is empty. It
// is not safe for concurrent use.
type Finder struct {
	heads map[string][]form // by their first minPart bytes
	all   []string
	known map[string]bool
	short []string // those with a form that is too short to be looked up
}

// form is a form of a secret, with its index in all.
type form struct {
	text string
	of   int
}

// Add adds secrets that are not known yet.
func (f *Finder) Add(secrets []string) {
	if f.heads == nil {
		f.heads, f.known = map[string][]form{}, map[string]bool{}
	}
	for _, text := range secrets {
		if f.known[text] {
			continue
		}
		f.known[text] = true
		f.all = append(f.all, text)
		forms := encodings(text)
		for _, form := range sent(text) {
			forms = append(forms, unescapings(form)...)
		}
		if !long(text) || slices.ContainsFunc(forms, func(form string) bool { return len(form) < minPart }) {
			f.short = append(f.short, text)
			continue
		}
		for _, text := range forms {
			f.heads[text[:minPart]] = append(f.heads[text[:minPart]], form{text, len(f.all) - 1})
		}
	}
}

// In returns the secrets that the JSON values may contain, keys included.
func (f *Finder) In(values ...any) []string {
	found := append([]string{}, f.short...)
	seen := map[int]bool{}
	for _, value := range values {
		f.search(value, func(i int) {
			if !seen[i] {
				seen[i] = true
				found = append(found, f.all[i])
			}
		})
	}
	return found
}

func (f *Finder) search(value any, see func(int)) {
	switch v := value.(type) {
	case string:
		f.text(v, see)
	case json.Number:
		f.text(v.String(), see)
	case []any:
		for _, element := range v {
			f.search(element, see)
		}
	case map[string]any:
		for name, element := range v {
			f.text(name, see)
			f.search(element, see)
		}
	}
}

func (f *Finder) text(text string, see func(int)) {
	variants := unescapings(text)
	if strings.Contains(text, "%") {
		plain, _ := unescape(text, places(text), percent)
		variants = append(variants, plain)
	}
	for _, variant := range variants {
		if strings.ContainsAny(variant, lineEnds) {
			f.at(withoutLineEnds.Replace(variant), see)
		}
		f.at(variant, see)
	}
}

// at looks up forms at every place of a text.
func (f *Finder) at(text string, see func(int)) {
	for from := 0; from+minPart <= len(text); from++ {
		for _, form := range f.heads[text[from:from+minPart]] {
			if begins(text[from:], form.text) {
				see(form.of)
			}
		}
	}
}

// begins reports whether a text begins with a form, or with a beginning of it that may have been
// truncated there, also within an escape.
func begins(text, form string) bool {
	same := 0
	for same < len(form) && same < len(text) && form[same] == text[same] {
		same++
	}
	return same == len(form) || same == len(text) || strings.HasPrefix(text[same:], "…") || strings.IndexByte(`.%\&`, text[same]) >= 0
}

package expression

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hbollon/go-edlib"

	"blueprintd/blueprint"
)

const (
	hintNames  = 8    // how many known names an error lists
	hintLength = 64   // how much of a name it shows
	hintSearch = 1000 // with more names, none are listed
)

// known lists the names nearest to a wrong one for the end of an error message.
func known(wrong string, names []string) string {
	switch {
	case len(names) == 0:
		return "(no names are known here)"
	case len(names) > hintSearch:
		return fmt.Sprintf("(%d others are known here)", len(names))
	}
	wrong = blueprint.Shorten(wrong, hintLength)
	type candidate struct {
		name     string
		distance int
	}
	candidates := make([]candidate, len(names))
	for i, name := range names {
		name = blueprint.Shorten(name, hintLength)
		candidates[i] = candidate{name, edlib.OSADamerauLevenshteinDistance(strings.ToLower(wrong), strings.ToLower(name))}
	}
	slices.SortFunc(candidates, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.name, b.name))
	})
	shown := make([]string, 0, hintNames)
	for _, c := range candidates[:min(hintNames, len(candidates))] {
		shown = append(shown, displayKey(c.name))
	}
	more := ""
	if hidden := len(names) - len(shown); hidden > 0 {
		more = fmt.Sprintf(" and %d more", hidden)
	}
	return "(known here: " + strings.Join(shown, ", ") + more + ")"
}

// knownKeys is known for the keys of an object.
func knownKeys(wrong string, object map[string]any) string {
	if len(object) > hintSearch {
		return fmt.Sprintf("(%d others are known here)", len(object))
	}
	return known(wrong, slices.Collect(maps.Keys(object)))
}

// displayKey quotes a key unless it can appear in a path.
func displayKey(key string) string {
	if isName(key) {
		return key
	}
	return fmt.Sprintf("%q", key)
}

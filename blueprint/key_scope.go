package blueprint

import (
	"slices"
	"strings"
)

// KeyScope is a part of what a user may do that an API key can be limited to.
type KeyScope string

// The scopes. Run and write include read, and admin includes all.
const (
	ScopeRead  KeyScope = "read"  // queries
	ScopeRun   KeyScope = "run"   // starts, answers and ends runs
	ScopeWrite KeyScope = "write" // changes blueprints, triggers, connections, categories, ratings and grants
	ScopeAdmin KeyScope = "admin" // organizations, members, collaborators, keys and the audit log
)

// KeyScopes is a set of scopes, sorted by name.
type KeyScopes []KeyScope

// AllScopes returns every scope there is.
func AllScopes() KeyScopes { return KeyScopes{ScopeAdmin, ScopeRead, ScopeRun, ScopeWrite} }

// ParseScopes reads what String writes, in any order. unknown names a part that
// is no scope, ok is then false.
func ParseScopes(text string) (scopes KeyScopes, unknown string, ok bool) {
	for name := range strings.SplitSeq(text, ",") {
		scope := KeyScope(strings.TrimSpace(name))
		if !slices.Contains(AllScopes(), scope) {
			return nil, string(scope), false
		}
		scopes = append(scopes, scope)
	}
	return scopes.Sorted(), "", true
}

// Sorted returns the set in order and without repetitions.
func (s KeyScopes) Sorted() KeyScopes {
	sorted := slices.Clone(s)
	slices.Sort(sorted)
	return slices.Compact(sorted)
}

// Allow reports whether the set includes scope. Nothing but the four scopes is
// ever included.
func (s KeyScopes) Allow(scope KeyScope) bool {
	switch scope {
	case ScopeRead:
		return len(s) > 0
	case ScopeRun, ScopeWrite, ScopeAdmin:
		return slices.Contains(s, scope) || slices.Contains(s, ScopeAdmin)
	}
	return false
}

// String returns the names, separated by commas.
func (s KeyScopes) String() string {
	names := make([]string, len(s))
	for i, scope := range s {
		names[i] = string(scope)
	}
	return strings.Join(names, ",")
}

// Admission is what a token gives access to: a principal, within scopes, until the
// token expires.
type Admission struct {
	Principal
	Scopes    KeyScopes
	ExpiresAt Time // 0 = never
}

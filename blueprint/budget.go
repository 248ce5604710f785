package blueprint

import (
	"encoding/json"
	"fmt"
)

// Budget limits the use of language models by a run. A nil Budget or field is unlimited.
type Budget struct {
	Tokens   *int64   `json:"tokens,omitempty"`
	Calls    *int64   `json:"calls,omitempty"`
	OnBreach OnBreach `json:"onBreach,omitempty"`
}

// OnBreach is the reaction to a call beyond the budget.
type OnBreach string

// The reactions; "" means BreachFails.
const (
	BreachFails  OnBreach = "fail"
	BreachPauses OnBreach = "pause" // until a user who can manage the blueprint raises it
)

// maxBudget is the maximum of a limit and of a raise.
const maxBudget = 1 << 50

// ParseBudget parses a decoded budget; null returns nil. Issue paths start at the budget.
func ParseBudget(value any) (*Budget, []Issue) {
	if value == nil {
		return nil, nil
	}
	object, ok := value.(map[string]any)
	if !ok {
		return nil, []Issue{{Path: []any{}, Message: `must be an object with "tokens", "calls" and "onBreach"`}}
	}
	b := &Budget{}
	issues := b.limits(object, 0)
	switch reaction := object["onBreach"]; reaction {
	case nil:
	case string(BreachFails), string(BreachPauses):
		b.OnBreach = OnBreach(reaction.(string))
	default:
		issues = append(issues, Issue{Path: []any{"onBreach"}, Message: `must be "fail" or "pause"`})
	}
	if len(issues) > 0 {
		return nil, issues
	}
	return b, nil
}

// ParseRaise parses the tokens and calls to add to the budget of a paused run.
func ParseRaise(value any) (*Budget, []Issue) {
	object, ok := value.(map[string]any)
	if !ok {
		return nil, []Issue{{Path: []any{}, Message: `must be an object with the "tokens" or "calls" to add`}}
	}
	b := &Budget{}
	issues := b.limits(object, 1)
	if len(issues) == 0 && b.Tokens == nil && b.Calls == nil {
		issues = append(issues, Issue{Path: []any{}, Message: `must name the "tokens" or "calls" to add`})
	}
	if len(issues) > 0 {
		return nil, issues
	}
	return b, nil
}

func (b *Budget) limits(object map[string]any, least int64) (issues []Issue) {
	for _, name := range []string{"tokens", "calls"} {
		into := &b.Tokens
		if name == "calls" {
			into = &b.Calls
		}
		if object[name] == nil {
			continue
		}
		number, _ := object[name].(json.Number)
		limit, err := number.Int64()
		if err != nil || limit < least || limit > maxBudget {
			issues = append(issues, Issue{Path: []any{name}, Message: fmt.Sprintf("must be a whole number from %d to %d", least, int64(maxBudget))})
			continue
		}
		*into = &limit
	}
	return issues
}

// Limits reports whether the budget limits anything.
func (b *Budget) Limits() bool { return b != nil && (b.Tokens != nil || b.Calls != nil) }

// Stricter returns the budget with the smaller limits of both.
func (b *Budget) Stricter(other *Budget) *Budget {
	switch {
	case b == nil:
		return other
	case other == nil:
		return b
	}
	out := &Budget{Tokens: least(b.Tokens, other.Tokens), Calls: least(b.Calls, other.Calls), OnBreach: b.OnBreach}
	if other.OnBreach != "" {
		out.OnBreach = other.OnBreach
	}
	return out
}

func least(a, b *int64) *int64 {
	if a == nil || b != nil && *b < *a {
		return b
	}
	return a
}

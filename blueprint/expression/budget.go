package expression

import (
	"encoding/json"
	"fmt"

	"blueprintd/blueprint"
)

// The limits. Source and operations are checked when compiling, the rest is
// what one evaluation may spend.
const (
	maxSource       = 4 << 10  // bytes of one expression
	maxOperations   = 200      // nodes of its syntax tree, shared ones counted each time
	maxPredicates   = 2        // predicates around one operation, itself included
	maxPlaceholders = 10_000   // in one template or config
	maxSteps        = 16 << 20 // one is some 10 to 50 nanoseconds
	maxBytes        = 64 << 20 // made while evaluating, whether still in use or not
	maxText         = 16 << 20 // bytes of resolved text, or of a result as JSON
)

// budget is what is left to spend in one call of Eval or Resolve. It is used
// by one goroutine.
type budget struct{ steps, bytes, text int64 }

func newBudget() *budget { return &budget{steps: maxSteps, bytes: maxBytes, text: maxText} }

// work pays for n steps before they are taken.
func (b *budget) work(n int) error {
	if b.steps -= int64(n); n < 0 || b.steps < 0 {
		b.steps = 0
		return &failure{at: unknownPlace, code: CodeBudgetExceeded, message: fmt.Sprintf(
			"too much work for one evaluation (over %d steps); use fewer items, or a code node", maxSteps)}
	}
	return nil
}

// scan pays for one pass over n bytes.
func (b *budget) scan(n int) error { return b.work(1 + n/16) }

// memory pays for n bytes before they are allocated.
func (b *budget) memory(n int) error {
	if b.bytes -= int64(n); n < 0 || b.bytes < 0 {
		b.bytes = 0
		return &failure{at: unknownPlace, code: CodeBudgetExceeded, message: fmt.Sprintf(
			"too much memory for one evaluation (over %d MiB)", maxBytes>>20)}
	}
	return nil
}

// output pays for n bytes of text that leave the evaluation.
func (b *budget) output(n int) error {
	if b.text -= int64(n); n < 0 || b.text < 0 {
		b.text = 0
		return &failure{at: unknownPlace, code: CodeBudgetExceeded, message: fmt.Sprintf(
			"the result is longer than %d MiB", maxText>>20)}
	}
	return nil
}

// measure pays by spend for a value's length as JSON. Expressions can build
// values that contain one part many times over: small in memory, endless when
// written. So whatever was built passes here before it is written or returned.
func measure(value any, spend func(int) error) error { return measureAt(value, 1, spend) }

// measureAt is measure for a value inside level-1 others.
func measureAt(value any, level int, spend func(int) error) error {
	if level > blueprint.MaxDepth {
		switch value.(type) {
		case []any, map[string]any:
			return &failure{at: unknownPlace, code: CodeBudgetExceeded, message: fmt.Sprintf(
				"the value is nested deeper than %d levels", blueprint.MaxDepth)}
		}
	}
	switch v := value.(type) {
	case nil, bool:
		return spend(5)
	case string:
		return spend(jsonLength(v))
	case json.Number:
		return spend(len(v))
	case int, int64, float64:
		return spend(24)
	case []any:
		if err := spend(2 + len(v)); err != nil {
			return err
		}
		for _, item := range v {
			if err := measureAt(item, level+1, spend); err != nil {
				return err
			}
		}
		return nil
	case map[string]any:
		if err := spend(2 + 2*len(v)); err != nil {
			return err
		}
		for key, item := range v {
			if err := spend(jsonLength(key)); err != nil {
				return err
			}
			if err := measureAt(item, level+1, spend); err != nil {
				return err
			}
		}
		return nil
	default:
		return failf("a Go %T is no JSON value", value)
	}
}

// jsonLength is about how long a string is as JSON, escapes included.
func jsonLength(text string) int {
	length := len(text) + 2
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c < ' ':
			length += 5
		case c == '"' || c == '\\':
			length++
		}
	}
	return length
}

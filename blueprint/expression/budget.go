package expression

import (
	"encoding/json"
	"fmt"

	"blueprintd/blueprint"
)

// Limits. Those of source, operations and placeholders are checked when compiling.
const (
	maxSource       = 4 << 10  // bytes of one expression
	maxOperations   = 200      // nodes of its syntax tree, shared ones counted each time
	maxPredicates   = 2        // predicates around one operation, itself included
	maxPlaceholders = 10_000   // in one template or config
	maxSteps        = 16 << 20 // one is some 10 to 50 nanoseconds
	maxBytes        = 64 << 20 // made while evaluating, whether still in use or not
	maxText         = 16 << 20 // bytes of resolved text, or of a result as JSON
)

// budget is what is left for one call of Eval or Resolve. It is for one goroutine.
type budget struct{ steps, bytes, text int64 }

func newBudget() *budget { return &budget{steps: maxSteps, bytes: maxBytes, text: maxText} }

// work spends n steps; it is called before the work.
func (b *budget) work(n int) {
	spend(&b.steps, n, "too much work for one evaluation (over %d steps); use fewer items, or a code node", maxSteps)
}

// scan spends the steps for one pass over n bytes.
func (b *budget) scan(n int) { b.work(1 + n/16) }

// memory spends n bytes; it is called before the allocation.
func (b *budget) memory(n int) {
	spend(&b.bytes, n, "too much memory for one evaluation (over %d MiB)", maxBytes>>20)
}

// output spends n bytes of resulting text.
func (b *budget) output(n int) { spend(&b.text, n, "the result is longer than %d MiB", maxText>>20) }

func spend(left *int64, n int, format string, limit int) {
	if *left -= int64(n); n < 0 || *left < 0 {
		*left = 0
		panic(exceeded(format, limit))
	}
}

func exceeded(format string, limit int) *failure {
	return &failure{at: unknownPlace, code: CodeBudgetExceeded, message: fmt.Sprintf(format, limit)}
}

// measure calls spend with the length of a value as JSON, before it is encoded or
// returned. An expression can build a value that contains one part many times, which is
// small in memory but huge as text.
func measure(value any, spend func(int)) { measureAt(value, 1, spend) }

// measureAt is measure for a value inside level-1 others.
func measureAt(value any, level int, spend func(int)) {
	switch v := value.(type) {
	case nil, bool:
		spend(5)
	case string:
		spend(jsonLength(v))
	case json.Number:
		spend(len(v))
	case int, int64, float64:
		spend(24)
	case []any:
		checkDepth(level)
		spend(2 + len(v))
		for _, item := range v {
			measureAt(item, level+1, spend)
		}
	case map[string]any:
		checkDepth(level)
		spend(2 + 2*len(v))
		for key, item := range v {
			spend(jsonLength(key))
			measureAt(item, level+1, spend)
		}
	default:
		panic(failf("a Go %T is not a JSON value", value))
	}
}

func checkDepth(level int) {
	if level > blueprint.MaxDepth {
		panic(exceeded("the value is nested deeper than %d levels", blueprint.MaxDepth))
	}
}

// jsonLength returns the approximate length of a string as JSON, escapes included.
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

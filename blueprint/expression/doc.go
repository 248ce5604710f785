// Package expression compiles and evaluates the templates and expressions in the
// config of nodes.
//
// # Templates
//
// A string without "{{" is plain text. Otherwise it has placeholders:
//
//	{{path}}               path = name(.key | [index] | ["key"])*
//	{{path ?? literal}}    the JSON literal where path does not exist or is null
//	{{= expression }}      the value of an expression
//
// Names and keys are letters, digits and "_"; any other key is written as a
// JSON string in brackets, nodes["my-node"].output. An index is a whole number
// from 0. White space is allowed around the path and the two question marks, not
// inside a path. Anything else after "{{" is an error, never text; there is no
// escape, {{= "{{" }} writes the two braces.
//
// A string that is one placeholder alone resolves to the value with its type.
// Inside other text, strings are inserted as they are, numbers with their digits,
// booleans and null as these words, objects and arrays as compact JSON. Inserted
// values are not parsed again, so "{{" in a value is only text.
//
// # Expressions
//
// Expressions are written in the expr language (github.com/expr-lang/expr)
// over the same names. The parser is expr's; the evaluator is this package's own,
// because expr's cannot be stopped: it limits neither steps nor concatenation.
// With its own evaluator JSON numbers keep their digits, nothing of the host is
// reachable by reflection, and 5 MiB of input are not converted for one field.
//
// Intended differences from expr:
//
//   - a missing key, a key of null and a position past the end are nil, however
//     deep; an unknown top-level name is an error, even in a branch not taken
//   - "null" is another word for nil
//   - reduce, methods, byte strings, $env, and whatever reads the clock (now(),
//     date(), duration(), timezone()) do not exist; the name now holds the time
//   - at most one predicate (filter, map, all ...) stands inside another
//   - numbers are compared by value; whole numbers that leave 64 bits, division
//     by zero and results that are no finite number are errors; whole numbers
//     beyond 64 bits can be passed on and compared but not computed with
//   - text is counted in characters everywhere: len, positions, slices, indexOf
//   - keys, values and toPairs come in the order of the keys, sorts are stable;
//     the keys of groupBy are the texts of the values
//   - toJSON is compact, string() is what a template would write, numbers serve
//     as keys of objects by their digits, join takes any scalar
//   - operands of different kinds are unequal instead of a compile error
//
// # Budgets
//
// An expression has at most 4 KiB of source and 200 operations. Running costs
// steps (one for each operation of each turn of a predicate, more for work that
// grows with the data, such as comparing, searching, sorting, parsing), bytes
// (for every allocation) and text (for output). Beyond a limit evaluation fails
// with CodeBudgetExceeded. Steps are used instead of time because they are the
// same on every machine and in every replay. The limits are chosen so that any
// expression over 5 MiB of input ends within about a second and 100 MiB. Resolve
// of a Template or a Config spends one budget.
//
// # Concurrency and ownership
//
// Template, Expression and Config are immutable and may be used by any number
// of goroutines. Results share structure with the values of the scope; neither may
// be changed.
package expression

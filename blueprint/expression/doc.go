// Package expression looks values up for the nodes of a blueprint: templates
// in the strings of their config, and expressions.
//
// # Templates
//
// A string without "{{" stands for itself. Otherwise it holds placeholders:
//
//	{{path}}               path = name(.key | [index] | ["key"])*
//	{{path ?? literal}}    the JSON literal where path leads nowhere or is null
//	{{= expression }}      the value of an expression
//
// Names and keys are letters, digits and "_"; any other key is written as a
// JSON string in brackets, nodes["my-node"].output. An index is a whole number
// from 0. Blanks may stand around the path and the two question marks, not
// inside a path. Everything else after "{{" is an error, never text; there is
// no escape, {{= "{{" }} writes the two braces.
//
// A string that is one placeholder alone takes the value with its type. Inside
// other text strings go in as they are, numbers with the digits they have,
// booleans and null by these words, objects and arrays as compact JSON. What
// was put in is never looked at again, so a value that holds "{{" is only text.
//
// # Expressions
//
// Expressions are written in the expr language (github.com/expr-lang/expr)
// over the same names. Its parser is used; the evaluation is this package's
// own, because the library's cannot be stopped once it runs: it counts neither
// steps nor joined strings. Owning it also means that a JSON number keeps its
// digits, that nothing of the host is reachable by reflection, and that 5 MiB
// of input are not converted to ask for one field of them.
//
// What differs from expr, all on purpose:
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
//   - operands of different kinds are found unequal instead of refused early
//
// # Budgets
//
// An expression has at most 4 KiB of source and 200 operations. Running costs
// steps (one for each operation of each turn of a predicate, more for work that
// grows with the data, such as comparing, searching, sorting, parsing), bytes
// (for everything that is made) and text (for what comes out). Past a limit
// evaluation ends with CodeBudgetExceeded. Steps stand in for time because they
// are the same on every machine and in every replay. The limits are sized so
// that any expression over 5 MiB of input ends within about a second and
// 100 MiB. Resolve of a Template or a Config spends one budget in all.
//
// # Concurrency and ownership
//
// Template, Expression and Config are immutable and may be used by any number
// of goroutines; compile once and keep them. Results share structure with the
// values of the scope: neither is ever to be changed in place.
package expression

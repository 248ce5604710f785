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
// inside a path. Anything else after "{{" is an error. There is no escape;
// {{= "{{" }} inserts the two braces.
//
// A string that is a single placeholder resolves to the value with its type.
// Inside other text, strings are inserted as they are, numbers with their digits,
// booleans and null as these words, objects and arrays as compact JSON. Inserted
// values are not parsed again, so "{{" in a value is only text.
//
// # Expressions
//
// Expressions are written in the expr language (github.com/expr-lang/expr)
// over the same names. The parser is expr's; the evaluator is this package's own,
// because expr's cannot be stopped: it limits neither steps nor concatenation.
// It also keeps the digits of JSON numbers, uses no reflection, and does not convert 5 MiB
// of input to read one field.
//
// Intended differences from expr:
//
//   - a missing key, a key of null and an index past the end are nil at any depth;
//     an unknown top-level name is an error, even in a branch that is not taken
//   - "null" is a synonym of nil
//   - reduce, methods, byte strings, $env and functions of the clock (now(), date(),
//     duration(), timezone()) do not exist; the name now holds the time
//   - predicates (filter, map, all ...) are nested at most two deep
//   - numbers are compared by value; overflow of 64-bit whole numbers, division by
//     zero and results that are not finite are errors; whole numbers
//     beyond 64 bits can be passed on and compared but not computed with
//   - text is counted in characters everywhere: len, indexes, slices, indexOf
//   - keys, values and toPairs are in the order of the keys, sorts are stable;
//     the keys of groupBy are the values as text
//   - toJSON is compact, string() formats as a template does, numbers as
//     object keys are their digits, join takes any scalar
//   - operands of different kinds are unequal instead of a compile error
//
// # Budgets
//
// An expression has at most 4 KiB of source and 200 operations. Evaluation has a budget
// of steps (one for each operation and iteration of a predicate, more for comparing,
// searching, sorting and parsing), bytes (for every allocation) and text (for output);
// beyond it evaluation fails with CodeBudgetExceeded. Steps are counted instead of time
// because they are the same on every machine and in every replay. The limits are
// chosen so that any expression over 5 MiB of input ends within about a second and 100
// MiB. Resolve of a Template or a Config has one budget.
//
// # Concurrency and ownership
//
// Template, Expression and Config are immutable and safe for concurrent use. Results share
// structure with the values of the scope; neither may be changed.
package expression

// Package jsonschema validates JSON values against JSON Schemas of users: for answers to
// questions, the input of triggers, and the output of models.
//
// # Supported keywords
//
// Drafts 4, 6, 7, 2019-09 and 2020-12; a schema without "$schema" is 2020-12. Patterns are
// RE2, which takes linear time and supports neither lookaround nor backreferences.
// "format" is asserted for date, date-time, time, duration, email, hostname, ipv4, ipv6,
// uri, uri-reference, uuid, regex, json-pointer and a few more; any other format is an
// annotation, as are contentEncoding and contentMediaType.
//
// Nothing outside the schema is loaded: a "$ref" refers to the same schema or to a built-in
// meta-schema of drafts 4 to 7. "$dynamicRef", "$recursiveRef" and other meta-schemas in
// "$schema" are errors.
//
// # Limits
//
// A schema has at most 256 KiB, 5,000 values, 64 levels, 300 different references and 1,000
// characters in a pattern. Validating a value takes steps: one for each rule and value,
// more for patterns and comparisons. They are counted before the validation, so that
// neither a schema with exponentially many references nor a huge value blocks a processor;
// a value beyond the limit is one issue. Numbers with more than 1,000 digits or an exponent
// beyond 1,000 are issues too, since exact comparison is expensive.
//
// # Issues
//
// Validate returns at most MaxIssues issues in the order of their paths. Messages describe
// the schema and never contain the value, which may be a secret.
package jsonschema

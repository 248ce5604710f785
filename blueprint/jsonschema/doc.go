// Package jsonschema checks JSON values against JSON Schemas that users wrote: of
// the answer to a question, of the input of a trigger, of a model's output.
//
// # What is understood
//
// Drafts 4, 6, 7, 2019-09 and 2020-12; without "$schema" a schema is 2020-12.
// Patterns are RE2: they always end, and know neither lookaround nor
// backreferences. "format" is asserted for the formats in which values are
// checked (date, date-time, time, duration, email, hostname, ipv4, ipv6, uri,
// uri-reference, uuid, regex, json-pointer and a few more); any other format is
// only a note, as are contentEncoding and contentMediaType.
//
// Nothing outside the schema is ever read: a "$ref" leads to a place in the
// same schema or to a published meta-schema of drafts 4 to 7, which are built
// in. "$dynamicRef" and "$recursiveRef" are refused, and a "$schema" of one's
// own is too.
//
// # Limits
//
// A schema has at most 256 KiB, 5,000 values, 64 levels, 300 different
// references and 1,000 characters in a pattern. Checking a value costs steps (one for each rule that meets each
// value, more for patterns and comparisons), so that neither a schema that
// refers to itself many times over nor a huge value can hold a processor:
// beyond the limit the value is refused with one issue. The steps are counted
// on the same walk that the check takes, before it begins. Numbers of more than
// 1,000 digits, or with an exponent beyond 1,000, are refused as well, since
// comparing them exactly is expensive.
//
// # Issues
//
// Validate reports what is wrong in plain words, at most MaxIssues of it, in
// the order of the paths. Messages speak of the schema and never show the
// value, which may be a secret.
package jsonschema

package trpc

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"blueprintd/blueprint"
)

// rules are the parsed rules of a check or each tag.
type rules struct {
	required bool
	nullable bool
	trim     bool
	line     bool // is shown in a line, see blueprint.IsUnprintable
	uuid     bool
	min, max *float64
	enum     []string
	fallback *string // the value of an absent field, as text
	each     *rules  // for the elements of a list or object
}

func (r rules) elements() rules {
	if r.each == nil {
		return rules{}
	}
	return *r.each
}

// parseRules parses a tag of comma-separated rules.
func parseRules(tag string) (rules, error) {
	var r rules
	for word := range strings.SplitSeq(tag, ",") {
		name, value, hasValue := strings.Cut(word, "=")
		if err := r.add(name, value, hasValue); err != nil {
			return rules{}, err
		}
	}
	if r.required && r.fallback != nil {
		return rules{}, fmt.Errorf("required and default=%s cannot be combined", *r.fallback)
	}
	return r, nil
}

func (r *rules) add(name, value string, hasValue bool) error {
	switch name {
	case "":
		return nil
	case "required":
		r.required = true
	case "nullable":
		r.nullable = true
	case "trim":
		r.trim = true
	case "line":
		r.line = true
	case "uuid":
		r.uuid = true
	case "enum":
		r.enum = strings.Split(value, "|")
	case "default":
		r.fallback = &value
	case "min", "max":
		bound, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return fmt.Errorf("rule %s needs a number, not %q", name, value)
		}
		if name == "min" {
			r.min = &bound
		} else {
			r.max = &bound
		}
	default:
		return fmt.Errorf("unknown rule %q", name)
	}
	if wants := name == "enum" || name == "default" || name == "min" || name == "max"; wants != hasValue {
		return fmt.Errorf("rule %s: missing or unexpected value", name)
	}
	return nil
}

// only returns an error for rules that do not apply to a kind of value.
func (r rules) only(kind string, bounds, text, list bool) error {
	switch {
	case !bounds && (r.min != nil || r.max != nil):
		return fmt.Errorf("min and max do not apply to %s", kind)
	case !text && (r.trim || r.line || r.uuid || r.enum != nil):
		return fmt.Errorf("trim, line, uuid and enum do not apply to %s", kind)
	case !list && r.each != nil:
		return fmt.Errorf("each does not apply to %s", kind)
	}
	return nil
}

// checkText applies the rules for strings and returns the first fault.
func (r rules) checkText(text string) (trimmed, fault string) {
	if r.trim {
		text = strings.TrimSpace(text)
	}
	length := float64(utf8.RuneCountInString(text))
	switch {
	case r.min != nil && length < *r.min && text == "":
		return text, "must not be empty"
	case r.min != nil && length < *r.min:
		return text, fmt.Sprintf("must have at least %s", counted(*r.min, "character"))
	case r.max != nil && length > *r.max:
		return text, fmt.Sprintf("must have at most %s", counted(*r.max, "character"))
	case r.line && strings.ContainsFunc(text, blueprint.IsUnprintable):
		return text, "must be one line, without control characters and others that are not seen"
	case r.uuid && !blueprint.IsUUID(text):
		return text, "must be a UUID"
	case r.uuid:
		text = strings.ToLower(text) // the form in which they are stored
	}
	if r.enum != nil && !r.lists(text) {
		return text, "must be one of " + strings.Join(r.enum, ", ")
	}
	return text, ""
}

func (r rules) lists(text string) bool {
	for _, allowed := range r.enum {
		if text == allowed || r.uuid && strings.EqualFold(text, allowed) {
			return true
		}
	}
	return false
}

func (r rules) checkNumber(value float64) string {
	switch {
	case r.min != nil && value < *r.min:
		return "must be at least " + numberText(*r.min)
	case r.max != nil && value > *r.max:
		return "must be at most " + numberText(*r.max)
	}
	return ""
}

func (r rules) checkCount(count int, noun string) string {
	switch {
	case r.min != nil && float64(count) < *r.min:
		return "must have at least " + counted(*r.min, noun)
	case r.max != nil && float64(count) > *r.max:
		return "must have at most " + counted(*r.max, noun)
	}
	return ""
}

func counted(count float64, noun string) string {
	if count != 1 {
		noun += "s"
	}
	return numberText(count) + " " + noun
}

func numberText(value float64) string { return strconv.FormatFloat(value, 'f', -1, 64) }

// unions are the string types whose values are a closed list.
var unions = map[reflect.Type][]string{
	reflect.TypeFor[blueprint.Status]():      {"running", "completed", "failed", "paused", "not_found"},
	reflect.TypeFor[blueprint.StepStatus]():  {"pending", "running", "completed", "failed", "skipped", "paused"},
	reflect.TypeFor[blueprint.AwaitKind]():   {"human", "approval", "oauth", "unknown-outcome", "budget"},
	reflect.TypeFor[blueprint.TriggerType](): blueprint.TriggerTypes(),
	reflect.TypeFor[blueprint.Effect]():      {"pure", "idempotent", "once"},
	reflect.TypeFor[blueprint.KeyScope]():    {"admin", "read", "run", "write"},
}

// Words returns the values of a string type with a closed list of them, or one with
// a method Words() []string; nil for any other type.
func Words(t reflect.Type) []string {
	if t == nil || t.Kind() != reflect.String {
		return nil
	}
	if worded, ok := reflect.Zero(t).Interface().(interface{ Words() []string }); ok {
		return worded.Words()
	}
	return unions[t]
}

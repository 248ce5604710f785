package triggers

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"blueprintd/blueprint"
)

// Kind is a trigger type: what every package needs to know of it, and what its
// file in this package, kind_<name>.go, says of its config.
//
// The config of a kind is a struct that describes itself by tags, from which the
// check, the JSON Schema and the reading for a delivery are derived:
//
//	key       the name in the config
//	doc       what it is for
//	enum      the texts that it may be, separated by |
//	required  "true" when it must be given
//
// The type of a field is one of this file, or one of its own that is a fieldType.
type Kind struct {
	blueprint.TriggerKind
	Description string // what starts a run, in a sentence
	NeverFired  string // what to check when an active trigger has an empty ledger

	fields  []field
	guard   func(key string) string
	meant   map[string]string
	judge   func(t *Service, a *activation, at time.Time) *refusal
	accepts func(t *Service, binding *blueprint.Binding, input any) *blueprint.Error
}

// definition is what the file of a kind says of it. C is the struct of its config.
type definition[C any] struct {
	of          blueprint.TriggerType
	description string
	neverFired  string

	// guard returns which keys keep senders out, for an unknown key that is meant
	// to; "" when there are none for it.
	guard func(key string) string
	// meant are keys that are often written in the place of others, in lower case
	// and without underscores.
	meant map[string]string
	// judge decides about a delivery that came at an instant, for the first time or
	// to be run again; nil takes the body for the input.
	judge func(t *Service, a *activation, at time.Time) *refusal
	// accepts refuses an input, also one that is given by hand; nil takes any.
	accepts func(t *Service, binding *blueprint.Binding, input any) *blueprint.Error
}

// define makes a kind of a definition. A mistake in a definition is a bug and
// panics.
func define[C any](d definition[C]) *Kind {
	kind := blueprint.KindOf(d.of)
	k := &Kind{
		TriggerKind: kind, Description: d.description, NeverFired: d.neverFired, fields: fieldsOf(reflect.TypeFor[C]()),
		guard: d.guard, meant: d.meant, judge: d.judge, accepts: d.accepts,
	}
	var keys []string
	for _, f := range k.fields {
		keys = append(keys, f.key)
	}
	if kind.Type == "" || !slices.Equal(slices.Sorted(slices.Values(keys)), slices.Sorted(slices.Values(kind.Keys))) {
		panic(fmt.Sprintf("triggers: the keys of type %q are %q here and %q in package blueprint", d.of, keys, kind.Keys))
	}
	k.fields = slices.Concat(k.fields, commonFields)
	if k.guard == nil {
		k.guard = noGuard
	}
	if k.judge == nil {
		k.judge = func(t *Service, a *activation, _ time.Time) *refusal { return t.judgeSaid(a) }
	}
	if k.accepts == nil {
		k.accepts = anyInputOf
	}
	return k
}

// kinds is the table of trigger types, in the order in which documentation lists
// them. It is filled by init because the kinds refer to functions that read it.
var kinds []*Kind

func init() {
	kinds = []*Kind{manualKind(), scheduledKind(), webhookKind(), emailKind(), slackKind(), eventKind(), apiKind()}
}

// KindOf returns the kind of a trigger type; of one that does not exist, a kind that
// has the keys of every trigger.
func KindOf(of blueprint.TriggerType) *Kind {
	for _, kind := range kinds {
		if kind.Type == of {
			return kind
		}
	}
	return &Kind{TriggerKind: blueprint.TriggerKind{Type: of}, fields: commonFields, guard: noGuard, accepts: anyInputOf}
}

func noGuard(string) string { return "" }

func anyInputOf(*Service, *blueprint.Binding, any) *blueprint.Error { return nil }

// kindFrom returns the kind that firings of a source belong to, nil for a source
// that fires every type.
func kindFrom(source blueprint.Source) *Kind {
	for _, kind := range kinds {
		if kind.Source == source && source != blueprint.SourceManual {
			return kind
		}
	}
	return nil
}

// field is one key of a config.
type field struct {
	key      string
	doc      string
	enum     []string
	required bool
	value    fieldType
}

// fieldType is implemented by the types of the fields of a config, on their zero
// values.
type fieldType interface {
	check(c *checker, f *field)
	// schema returns the JSON Schema of a value, without its description.
	schema(f *field) map[string]any
}

// shapes are the fields of the config structs, by the struct.
var shapes sync.Map

// fieldsOf reads the tags of a config struct. The caller must not change the result.
func fieldsOf(t reflect.Type) []field {
	if known, ok := shapes.Load(t); ok {
		return known.([]field)
	}
	var fields []field
	for i := range t.NumField() {
		member := t.Field(i)
		value, ok := reflect.Zero(member.Type).Interface().(fieldType)
		f := field{key: member.Tag.Get("key"), doc: member.Tag.Get("doc"), required: member.Tag.Get("required") == "true", value: value}
		if list := member.Tag.Get("enum"); list != "" {
			f.enum = strings.Split(list, "|")
		}
		if !ok || f.key == "" || f.doc == "" {
			panic(fmt.Sprintf("triggers: %s.%s needs a key, a doc and a type that can be checked", t, member.Name))
		}
		fields = append(fields, f)
	}
	shapes.Store(t, fields)
	return fields
}

// read returns what a config says. A key that is absent or holds a value of another
// type leaves its field empty, as do fields that hold neither text nor a boolean.
func read[C any](config map[string]any) (c C) {
	target := reflect.ValueOf(&c).Elem()
	for i, f := range fieldsOf(target.Type()) {
		switch value := config[f.key].(type) {
		case string:
			if member := target.Field(i); member.Kind() == reflect.String {
				member.SetString(value)
			}
		case bool:
			if member := target.Field(i); member.Kind() == reflect.Bool {
				member.SetBool(value)
			}
		}
	}
	return c
}

// commonConfig is what every kind has in its config.
type commonConfig struct {
	Concurrency limits  `key:"concurrency" doc:"how many runs of it go on at once"`
	Breaker     boolean `key:"breaker" doc:"whether it is switched off when its runs keep failing"`
	Record      boolean `key:"record" doc:"whether what its runs exchange with other services is kept"`
}

var commonFields = fieldsOf(reflect.TypeFor[commonConfig]())

// ConfigSchema describes the config of a trigger type.
type ConfigSchema struct {
	Type        blueprint.TriggerType
	Description string
	// Schema is the JSON Schema of the config, as a plain JSON value of its own
	// that the caller may change. It refuses nothing that Check takes.
	Schema map[string]any
}

// ConfigSchemas describes every trigger type, in the order in which documentation
// lists them.
func ConfigSchemas() []ConfigSchema {
	out := make([]ConfigSchema, len(kinds))
	for i, kind := range kinds {
		out[i] = ConfigSchema{kind.Type, kind.Description, kind.schema()}
	}
	return out
}

func (k *Kind) schema() map[string]any {
	properties := map[string]any{}
	schema := map[string]any{"type": []any{"object", "null"}, "properties": properties, "description": k.Description}
	for i := range k.fields {
		f := &k.fields[i]
		property := f.value.schema(f)
		property["description"] = f.doc
		properties[f.key] = property
		if !f.required {
			continue
		}
		schema["type"] = "object"
		var spellings []any
		for _, name := range blueprint.TriggerKeySpellings(f.key) {
			spellings = append(spellings, map[string]any{"required": []any{name}})
		}
		schema["anyOf"] = spellings
	}
	return schema
}

// text is at most maxText bytes, or one of the texts of its enum.
type text string

func (text) check(c *checker, f *field) {
	if f.enum != nil {
		c.choice(f.key, f.enum...)
		return
	}
	c.text(f.key, maxText)
}

func (text) schema(f *field) map[string]any {
	if f.enum != nil {
		return choiceSchema(f.enum)
	}
	return map[string]any{"type": []any{"string", "null"}}
}

func choiceSchema(choices []string) map[string]any {
	list := make([]any, 0, len(choices)+1)
	for _, choice := range choices {
		list = append(list, choice)
	}
	return map[string]any{"enum": append(list, nil)}
}

// boolean is true or false.
type boolean bool

func (boolean) check(c *checker, f *field) {
	if _, ok := c.config[f.key].(bool); !ok && c.config[f.key] != nil {
		c.refuse("must be true or false", f.key)
	}
}

func (boolean) schema(*field) map[string]any {
	return map[string]any{"type": []any{"boolean", "null"}}
}

// uuid is the id of something.
type uuid string

func (uuid) check(c *checker, f *field) {
	if id, ok := c.text(f.key, maxText); ok && !blueprint.IsUUID(id) {
		c.refuse("must be a UUID", f.key)
	}
}

func (uuid) schema(f *field) map[string]any { return text("").schema(f) }

// line is a text that is shown in a line.
type line string

func (line) check(c *checker, f *field) {
	if label, ok := c.text(f.key, maxText); ok && strings.ContainsFunc(label, blueprint.IsUnprintable) {
		c.refuse("must be one line, without control characters and others that are not seen", f.key)
	}
}

func (line) schema(f *field) map[string]any { return text("").schema(f) }

// assigned is a text that the server writes and nobody needs to check.
type assigned string

func (assigned) check(*checker, *field) {}

func (assigned) schema(f *field) map[string]any { return text("").schema(f) }

// secretText is a secret, or the one before it. An empty one would let everybody
// in.
type secretText string

func (secretText) check(c *checker, f *field) {
	if value, ok := c.text(f.key, maxSecret); ok && strings.TrimSpace(value) == "" {
		c.refuse("must not be empty; leave it out for none", f.key)
	}
}

func (secretText) schema(*field) map[string]any {
	return map[string]any{"type": []any{"string", "null"}, "minLength": json.Number("1")}
}

// secretEnd is until when the secret before the present one is valid.
type secretEnd string

func (secretEnd) check(c *checker, f *field) {
	keys := c.kind.Secrets
	until, ok := c.text(f.key, maxText)
	if _, err := time.Parse(time.RFC3339, until); ok && err != nil {
		c.refuse("must be a time such as 2030-01-31T12:00:00Z", f.key)
	}
	if c.config[keys.Previous] == nil {
		return
	}
	if c.config[f.key] == nil {
		c.refuse("required beside "+keys.Previous+": until when that is still good", f.key)
	}
	if c.config[keys.Secret] == nil {
		c.refuse("required beside "+keys.Previous, keys.Secret)
	}
}

func (secretEnd) schema(f *field) map[string]any { return text("").schema(f) }

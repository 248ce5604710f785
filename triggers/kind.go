package triggers

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"blueprintd/blueprint"
)

// Kind is a trigger type. It adds to the entry in blueprint/trigger_kind.go what
// the file of the type in this package, kind_<name>.go, declares.
//
// The config of a kind is a struct whose tags define the validation, the JSON
// Schema and the decoding:
//
//	key       the key in the config
//	doc       its description
//	enum      the allowed texts, separated by |
//	required  "true" for a required key
//
// The type of a field is one of this file or another one that implements fieldType.
type Kind struct {
	blueprint.TriggerKind
	Title       string    // as lists show it
	Description string    // what it does, for the dashboard and the JSON Schemas
	Input       string    // the inputData of its runs, one or two sentences
	NeverFired  string    // what to check when an active trigger has no firings
	Endpoint    *Endpoint // serves TriggerKind.Path; nil without a path

	fields []field
	// guard returns the keys that authenticate or filter senders, as the suggestion
	// for an unknown key that seems meant to; "" for none.
	guard func(key string) string
	// aliases maps common wrong keys, in lower case and without underscores.
	aliases map[string]string
	// judge decides about a delivery that was received at an instant, now or, for a
	// redelivery, earlier. Nil uses the body as input.
	judge func(t *Service, a *activation, at time.Time) *refusal
	// accepts validates an input, also of a manual firing; nil accepts any.
	accepts func(t *Service, binding *blueprint.Binding, input any) *blueprint.Error
}

// define completes a kind whose config is the struct C. It panics if the kind
// contradicts its entry in package blueprint.
func define[C any](of blueprint.TriggerType, k Kind) *Kind {
	k.TriggerKind = blueprint.KindOf(of)
	k.fields = fieldsOf(reflect.TypeFor[C]())
	var keys []string
	for _, f := range k.fields {
		keys = append(keys, f.key)
	}
	if k.Type == "" || !slices.Equal(slices.Sorted(slices.Values(keys)), slices.Sorted(slices.Values(k.Keys))) {
		panic(fmt.Sprintf("triggers: the keys of type %q are %q here and %q in package blueprint", of, keys, k.Keys))
	}
	if k.Title == "" || k.Description == "" || k.Input == "" || k.NeverFired == "" {
		panic(fmt.Sprintf("triggers: type %q needs a title, a description, its input and what to check if it never fired", of))
	}
	if (k.Path != "") != (k.Endpoint != nil) {
		panic(fmt.Sprintf("triggers: type %q needs both a path and an endpoint, or neither", of))
	}
	k.fields = slices.Concat(k.fields, commonFields)
	return &k
}

// kinds lists all kinds in the order of the documentation. It is filled by init
// because the kinds refer to functions that read it.
var kinds []*Kind

func init() {
	kinds = []*Kind{manualKind(), scheduledKind(), webhookKind(), emailKind(), slackKind(), eventKind(), apiKind()}
}

// Kinds returns all kinds in the order of the documentation.
func Kinds() []*Kind { return slices.Clone(kinds) }

// KindOf returns the kind of a trigger type. An unknown one has the common keys.
func KindOf(of blueprint.TriggerType) *Kind {
	for _, kind := range kinds {
		if kind.Type == of {
			return kind
		}
	}
	return &Kind{TriggerKind: blueprint.TriggerKind{Type: of}, fields: commonFields}
}

// field is one key of a config.
type field struct {
	key      string
	doc      string
	enum     []string
	required bool
	value    fieldType
}

// fieldType validates the value of a field. It is called on the zero value of the type.
type fieldType interface {
	check(c *checker, f *field)
}

// schema returns the JSON Schema of the field, without its description. Unless its
// type has a schema method, the value is a text.
func (f *field) schema() map[string]any {
	if described, ok := f.value.(interface {
		schema(f *field) map[string]any
	}); ok {
		return described.schema(f)
	}
	if f.enum != nil {
		return choiceSchema(f.enum)
	}
	return map[string]any{"type": []any{"string", "null"}}
}

// knownFields caches fieldsOf by type.
var knownFields sync.Map

// fieldsOf returns the fields of a config struct. The result is shared.
func fieldsOf(t reflect.Type) []field {
	if known, ok := knownFields.Load(t); ok {
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
			panic(fmt.Sprintf("triggers: %s.%s needs a key, a doc and a fieldType", t, member.Name))
		}
		fields = append(fields, f)
	}
	knownFields.Store(t, fields)
	return fields
}

// read decodes a config. Absent keys and values of another type leave the zero
// value, as do fields that are neither text nor boolean.
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

// commonConfig holds the keys of every kind.
type commonConfig struct {
	Label       line    `key:"label" doc:"its name in lists, and that of the MCP tool of an api trigger"`
	Concurrency limits  `key:"concurrency" doc:"the limit on concurrent runs of the trigger"`
	Breaker     boolean `key:"breaker" doc:"whether it is paused when its runs keep failing"`
	Record      boolean `key:"record" doc:"whether the exchanges of its runs with other services are recorded"`
}

var commonFields = fieldsOf(reflect.TypeFor[commonConfig]())

// ConfigSchema describes the config of a trigger type.
type ConfigSchema struct {
	Type        blueprint.TriggerType
	Description string
	// Schema is a JSON Schema that accepts at least what Check accepts. It is a plain
	// JSON value owned by the caller.
	Schema map[string]any
}

// ConfigSchemas describes all trigger types in the order of the documentation.
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
		property := f.schema()
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

// text is at most maxText bytes, or one of the texts of the enum.
type text string

func (text) check(c *checker, f *field) {
	if f.enum != nil {
		c.choice(f.key, f.enum...)
		return
	}
	c.text(f.key, maxText)
}

func choiceSchema(choices []string) map[string]any {
	list := make([]any, 0, len(choices)+1)
	for _, choice := range choices {
		list = append(list, choice)
	}
	return map[string]any{"enum": append(list, nil)}
}

type boolean bool

func (boolean) check(c *checker, f *field) {
	if _, ok := c.config[f.key].(bool); !ok && c.config[f.key] != nil {
		c.refuse("must be true or false", f.key)
	}
}

func (boolean) schema(*field) map[string]any {
	return map[string]any{"type": []any{"boolean", "null"}}
}

type uuid string

func (uuid) check(c *checker, f *field) {
	if id, ok := c.text(f.key, maxText); ok && !blueprint.IsUUID(id) {
		c.refuse("must be a UUID", f.key)
	}
}

// line is a text that is displayed on one line.
type line string

func (line) check(c *checker, f *field) {
	if label, ok := c.text(f.key, maxText); ok && strings.ContainsFunc(label, blueprint.IsUnprintable) {
		c.refuse("must be one line without control or invisible characters", f.key)
	}
}

// assigned is a text that the server sets.
type assigned string

func (assigned) check(*checker, *field) {}

// secretText is a secret. An empty one would accept every sender.
type secretText string

func (secretText) check(c *checker, f *field) {
	if value, ok := c.text(f.key, maxSecret); ok && strings.TrimSpace(value) == "" {
		c.refuse("must not be empty; leave it out for none", f.key)
	}
}

func (secretText) schema(*field) map[string]any {
	return map[string]any{"type": []any{"string", "null"}, "minLength": json.Number("1")}
}

// secretEnd is the time until which the previous secret is valid.
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
		c.refuse("required with "+keys.Previous+": the time until which that is valid", f.key)
	}
	if c.config[keys.Secret] == nil {
		c.refuse("required with "+keys.Previous, keys.Secret)
	}
}

const (
	maxText   = 200 // bytes
	maxSecret = 1000
)

// Check validates a trigger's config, whose keys must have their canonical spelling.
// Paths of the issues start at the config. Null is the same as absent.
func Check(kind blueprint.TriggerType, config map[string]any) []blueprint.Issue {
	c := &checker{kind: KindOf(kind), config: config}
	if blueprint.KindOf(kind).Type == "" {
		c.refuse("is not a config of a known trigger type")
	}
	for i := range c.kind.fields {
		f := &c.kind.fields[i]
		f.value.check(c, f)
	}
	c.unknown()
	return c.issues
}

// checker collects the issues of a config.
type checker struct {
	kind   *Kind
	config map[string]any
	issues []blueprint.Issue
}

func (c *checker) refuse(message string, path ...any) {
	c.issues = append(c.issues, blueprint.Issue{Path: slices.Clone(path), Message: message})
}

func (c *checker) required(key string) {
	if c.config[key] == nil {
		c.refuse("required", key)
	}
}

// text returns the value of a key. It returns false if there is nothing left to validate.
func (c *checker) text(key string, limit int) (string, bool) {
	value := c.config[key]
	if value == nil {
		return "", false
	}
	text, ok := value.(string)
	switch {
	case !ok:
		c.refuse("must be a string", key)
	case len(text) > limit:
		c.refuse("is too long", key)
		ok = false
	}
	return text, ok
}

func (c *checker) choice(key string, choices ...string) {
	if text, ok := c.text(key, maxText); ok && !slices.Contains(choices, text) {
		c.refuse("must be one of "+strings.Join(choices, ", "), key)
	}
}

// guardWords are parts of the names of keys that are meant to authenticate or filter
// senders. An unknown key with such a name is an error, because it would have no
// effect.
var guardWords = []string{"secret", "token", "hmac", "signature", "password", "sender", "from", "allow", "domain", "filter", "auth", "verify"}

// proofWords are the guardWords about authentication.
var proofWords = []string{"secret", "token", "hmac", "signature", "password", "auth", "verify"}

func guards(key string, words ...string) bool {
	key = strings.ToLower(key)
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(key, word) })
}

// refusedKey returns why an unknown key is an error: it is named like a guard, or
// nearly like a known one. It returns "" for any other.
func (k *Kind) refusedKey(key string) string {
	meant := blueprint.Nearest(key, blueprint.TriggerConfigKeys(k.Type))
	right := ""
	if k.guard != nil {
		right = k.guard(key)
	}
	isWord := slices.Contains(guardWords, strings.ToLower(key)) // not a misspelling of another key
	switch {
	case meant != "" && (guards(key, guardWords...) && !isWord || guards(meant, guardWords...)):
		return fmt.Sprintf("unknown; did you mean %q?", meant)
	case !guards(key, guardWords...):
		return ""
	case right != "":
		return "unknown; the key of " + blueprint.WithArticle(string(k.Type)) + " trigger is " + right
	}
	return "unknown; " + blueprint.WithArticle(string(k.Type)) + " trigger takes none"
}

func (c *checker) unknown() {
	for _, key := range blueprint.UnknownTriggerKeys(c.kind.Type, c.config) {
		if message := c.kind.refusedKey(key); message != "" && len(c.issues) < blueprint.MaxIssues {
			c.refuse(message, key)
			c.issues[len(c.issues)-1].Spot.OnKey = true
		}
	}
}

// Warnings returns the unknown keys of a config that Check accepts, which have no
// effect. Paths start at the config.
func Warnings(kind blueprint.TriggerType, config map[string]any) (issues []blueprint.Issue) {
	k, known := KindOf(kind), blueprint.TriggerConfigKeys(kind)
	for _, key := range blueprint.UnknownTriggerKeys(kind, config) {
		if k.refusedKey(key) != "" || len(issues) == blueprint.MaxIssues {
			continue
		}
		hint := blueprint.DidYouMean(key, known)
		switch meant := k.aliases[strings.ToLower(strings.ReplaceAll(key, "_", ""))]; {
		case meant != "":
			hint = fmt.Sprintf("; did you mean %q?", meant)
		case hint == "":
			hint = "; known keys: " + strings.Join(known, ", ")
		}
		issues = append(issues, blueprint.Issue{Path: []any{key}, Message: "unknown key, kept without effect" + hint, Severity: blueprint.SeverityWarning, Spot: blueprint.Spot{OnKey: true}})
	}
	return issues
}

// Settle applies change to the previous config, nil for a new trigger, and returns
// the result with canonical keys, and its issues. Paths start at the config and use
// the keys of change. It does not modify its arguments.
func Settle(kind blueprint.TriggerType, before, change map[string]any) (config map[string]any, issues []blueprint.Issue) {
	change, renamed, issues := blueprint.TriggerConfigSpelling(kind, change)
	if len(issues) > 0 {
		return nil, issues
	}
	if config = change; before != nil {
		config = blueprint.MergeConfig(before, change)
	} else if config == nil {
		config = map[string]any{}
	}
	issues = Check(kind, config)
	for i := range issues {
		if path := issues[i].Path; len(path) > 0 {
			key, _ := path[0].(string)
			path[0] = cmp.Or(renamed[key], key)
		}
	}
	return config, issues
}

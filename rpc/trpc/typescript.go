package trpc

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"blueprintd/blueprint"
)

// TypeScript writes the type AppRouter of a table of procedures, as
// @trpc/client wants it, so that a client in TypeScript knows each input and
// output. A golden file of it is compiled into the dashboard.
func TypeScript(procedures []Procedure) string {
	routers := map[string][]Procedure{}
	for _, procedure := range procedures {
		router, _, _ := strings.Cut(procedure.Name, ".")
		routers[router] = append(routers[router], procedure)
	}
	var text strings.Builder
	text.WriteString(typescriptHead)
	for _, router := range sortedKeys(routers) {
		fmt.Fprintf(&text, "  %s: {\n", router)
		list := routers[router]
		slices.SortFunc(list, func(a, b Procedure) int { return strings.Compare(a.Name, b.Name) })
		for _, p := range list {
			_, name, _ := strings.Cut(p.Name, ".")
			kind := map[Kind]string{KindQuery: "Query", KindMutation: "Mutation", KindSubscription: "Subscription"}[p.Kind]
			fmt.Fprintf(&text, "    %s: %s<%s, %s>\n", name, kind, inputTypeScript(p.Input), typescript{}.of(p.Output, nil))
		}
		text.WriteString("  }\n")
	}
	text.WriteString("}\n\n/** The procedures of the server. */\nexport type AppRouter = TRPCBuiltRouter<Root, Procedures>\n")
	return text.String()
}

const typescriptHead = `// Made from the table of procedures (go test ./tests/api -run RouterType -update); not to be edited.
import type { TRPCBuiltRouter, TRPCMutationProcedure, TRPCQueryProcedure, TRPCSubscriptionProcedure } from '@trpc/server'

type Root = { ctx: object; meta: object; errorShape: ErrorShape; transformer: true }

/** What an error looks like on the wire. */
export type ErrorShape = {
  message: string
  code: number
  data: { code: string; httpStatus: number; path?: string; issues?: { path: (string | number)[]; message: string }[] }
}

type Query<I, O> = TRPCQueryProcedure<{ input: I; output: O; meta: object }>
type Mutation<I, O> = TRPCMutationProcedure<{ input: I; output: O; meta: object }>
type Subscription<I, O> = TRPCSubscriptionProcedure<{ input: I; output: AsyncIterable<O>; meta: object }>

type Procedures = {
`

// inputTypeScript allows a call without input where nothing in it is needed.
func inputTypeScript(t reflect.Type) string {
	w := typescript{input: true}
	fields := w.fields(t, nil)
	switch {
	case len(fields) == 0:
		return "void"
	case slices.ContainsFunc(fields, func(field string) bool { name, _, _ := strings.Cut(field, ": "); return !strings.HasSuffix(name, "?") }):
		return w.of(t, nil)
	}
	return w.of(t, nil) + " | void"
}

// unions are the closed lists of words that have a type of their own.
var unions = map[reflect.Type][]string{
	reflect.TypeFor[blueprint.Status]():      {"running", "completed", "failed", "paused", "not_found"},
	reflect.TypeFor[blueprint.StepStatus]():  {"pending", "running", "completed", "failed", "skipped", "paused"},
	reflect.TypeFor[blueprint.AwaitKind]():   {"human", "approval", "oauth", "unknown-outcome", "budget"},
	reflect.TypeFor[blueprint.TriggerType](): blueprint.TriggerTypes(),
	reflect.TypeFor[blueprint.Effect]():      {"pure", "idempotent", "once"},
	reflect.TypeFor[blueprint.KeyScope]():    {"admin", "read", "run", "write"},
}

// Worded is a string type of an input or output that says which texts it may be.
type Worded interface{ Words() []string }

// wordsOf returns the texts that a type may be, nil for any.
func wordsOf(t reflect.Type) []string {
	if t == nil || t.Kind() != reflect.String {
		return nil
	}
	if words, is := reflect.Zero(t).Interface().(Worded); is {
		return words.Words()
	}
	return unions[t]
}

// always are the names of instants that are never null.
var always = []string{"createdAt", "updatedAt", "created_at", "updated_at", "at", "receivedAt", "requestedAt", "timestamp", "start", "startedAt", "now"}

// typescript writes Go types as TypeScript ones.
type typescript struct{ input bool }

func (w typescript) of(t reflect.Type, open []reflect.Type) string {
	if words := wordsOf(t); words != nil {
		return union(words)
	}
	switch {
	case t == nil:
		return "unknown"
	case t == numberType:
		return "number"
	case t == reflect.TypeFor[blueprint.Time]():
		return "string | null"
	case t.Implements(optionalType):
		return w.of(t.Field(0).Type, open)
	}
	switch t.Kind() {
	case reflect.Pointer:
		return w.of(t.Elem(), open)
	case reflect.Slice, reflect.Array:
		element := w.of(t.Elem(), open)
		if strings.ContainsAny(element, "|") && !strings.HasPrefix(element, "{") {
			element = "(" + element + ")"
		}
		return element + "[]"
	case reflect.Map:
		return "Record<string, " + w.of(t.Elem(), open) + ">"
	case reflect.Interface:
		return "unknown"
	case reflect.Bool:
		return "boolean"
	case reflect.String:
		return "string"
	case reflect.Struct:
		if slices.Contains(open, t) || t.Implements(reflect.TypeFor[json.Marshaler]()) {
			return "unknown"
		}
		return "{ " + strings.Join(w.fields(t, append(open, t)), "; ") + " }"
	}
	return "number"
}

// fields writes the fields of a struct.
func (w typescript) fields(t reflect.Type, open []reflect.Type) (fields []string) {
	eachField(t, func(declared reflect.StructField, name, options string) {
		text := w.of(declared.Type, open)
		if words := enumOf(declared); words != nil && declared.Type.Kind() == reflect.String {
			text = union(words)
		}
		switch {
		case w.input && w.required(declared):
		case w.input, strings.Contains(options, "omit"):
			name += "?"
			text = strings.TrimSuffix(text, " | null")
		case slices.Contains(always, name):
			text = strings.TrimSuffix(text, " | null")
		case declared.Type.Kind() == reflect.Pointer:
			text += " | null"
		}
		fields = append(fields, name+": "+text)
	})
	return fields
}

func (w typescript) required(declared reflect.StructField) bool {
	return slices.Contains(strings.Split(declared.Tag.Get("check"), ","), "required")
}

// enumOf returns the words that a field is limited to by its rules, or by the tag
// words of an output.
func enumOf(declared reflect.StructField) []string {
	if words := declared.Tag.Get("words"); words != "" {
		return strings.Split(words, "|")
	}
	for _, rule := range strings.Split(declared.Tag.Get("check"), ",") {
		if words, ok := strings.CutPrefix(rule, "enum="); ok {
			return strings.Split(words, "|")
		}
	}
	return nil
}

func union(words []string) string { return "'" + strings.Join(words, "' | '") + "'" }

package describe

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/rpc/trpc"
)

// TypeScript generates the type AppRouter of a table of procedures for @trpc/client, so
// that a TypeScript client knows each input and output. The dashboard compiles a golden
// file of it.
func TypeScript(procedures []trpc.Procedure) string {
	routers := map[string][]trpc.Procedure{}
	for _, procedure := range procedures {
		router, _, _ := strings.Cut(procedure.Name, ".")
		routers[router] = append(routers[router], procedure)
	}
	var text strings.Builder
	text.WriteString(typescriptHead)
	for _, router := range slices.Sorted(maps.Keys(routers)) {
		fmt.Fprintf(&text, "  %s: {\n", router)
		list := routers[router]
		slices.SortFunc(list, func(a, b trpc.Procedure) int { return strings.Compare(a.Name, b.Name) })
		for _, p := range list {
			_, name, _ := strings.Cut(p.Name, ".")
			kind := map[trpc.Kind]string{trpc.KindQuery: "Query", trpc.KindMutation: "Mutation", trpc.KindSubscription: "Subscription"}[p.Kind]
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

// inputTypeScript makes the input optional if none of its fields is required.
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

// always are the names of instants that are never null.
var always = []string{"createdAt", "updatedAt", "created_at", "updated_at", "at", "receivedAt", "requestedAt", "timestamp", "start", "startedAt", "now"}

// typescript writes Go types as TypeScript ones.
type typescript struct{ input bool }

func (w typescript) of(t reflect.Type, open []reflect.Type) string {
	if words := trpc.Words(t); words != nil {
		return union(words)
	}
	switch {
	case t == nil:
		return "unknown"
	case t == numberType:
		return "number"
	case t == reflect.TypeFor[blueprint.Time]():
		return "string | null"
	case isOptional(t):
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
	eachField(t, func(_ reflect.Type, declared reflect.StructField, name, options string) {
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

// enumOf returns the values that the rules of a field, or the tag words of an output,
// allow.
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

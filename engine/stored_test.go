package engine

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Processes of two versions share runs: each reads the entries, the records and the commands of
// the other. testdata/stored.txt has each kind of entry and each member, with the oldest form of
// the tables on PostgreSQL whose programs continue a run with it, none of which may be newer than
// runForm of package store.
func TestStoredMembersHaveAForm(t *testing.T) {
	const page = "testdata/stored.txt"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	forms := map[string]int{}
	for line := range strings.Lines(string(text)) {
		form, what, _ := strings.Cut(strings.TrimSpace(line), " ")
		if forms[what], err = strconv.Atoi(form); err != nil {
			t.Fatalf("%s: %q: want a form and a member", page, line)
		}
	}
	source, err := os.ReadFile("../store/remote_form.go")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^const runForm = (\d+)$`).FindSubmatch(source)
	if found == nil {
		t.Fatal("there is no runForm in ../store/remote_form.go")
	}
	runForm, _ := strconv.Atoi(string(found[1]))
	stored := storedMembers(t)
	for _, what := range slices.Sorted(maps.Keys(stored)) {
		switch form := forms[what]; {
		case form == 0:
			t.Errorf("%s lacks %q. Precede it with %d if programs of that form continue a run correctly without knowing it. Otherwise add a step for PostgreSQL, and give it and runForm in store/remote_form.go the new form.", page, what, runForm)
		case form > runForm:
			t.Errorf("%q needs the form %d: set runForm in store/remote_form.go to it", what, form)
		}
		delete(forms, what)
	}
	for what := range forms {
		t.Errorf("%s has %q, which this version neither stores nor reads. Remove the line if no other version stores it.", page, what)
	}
}

// storedMembers returns the kinds of entries, and the members of everything that one process
// reads of another.
func storedMembers(t *testing.T) map[string]bool {
	list := map[string]bool{}
	file, err := parser.ParseFile(token.NewFileSet(), "journal.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && strings.HasPrefix(spec.Names[0].Name, "entry") {
			list["entry of kind "+spec.Values[0].(*ast.BasicLit).Value] = true
		}
		return true
	})
	seen := map[reflect.Type]bool{}
	var add func(of reflect.Type)
	add = func(of reflect.Type) {
		switch of.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
			add(of.Elem())
			return
		case reflect.Struct:
		default:
			return
		}
		if seen[of] || !strings.HasPrefix(of.PkgPath(), "blueprintd/") {
			return
		}
		seen[of] = true
		for i := range of.NumField() {
			field := of.Field(i)
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			switch {
			case field.Anonymous && name == "":
				add(field.Type)
			case field.IsExported() && name != "-":
				list[fmt.Sprintf("%s.%s", of, cmp.Or(name, field.Name))] = true
				add(field.Type)
			}
		}
	}
	for _, root := range []any{entry{}, storedRecord{}, command{}, answer{}} {
		add(reflect.TypeOf(root))
	}
	return list
}

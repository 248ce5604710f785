// Package stored checks that each stored member that one process reads of another has a form.
package stored

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Check compares what a package stores with its file testdata/stored.txt. A line there has what
// is stored, preceded by the oldest form of the tables on PostgreSQL whose programs continue a
// run with it. None may be newer than runForm of package store. root is the folder of the module.
func Check(t testing.TB, root string, stored map[string]bool) {
	t.Helper()
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
	source, err := os.ReadFile(filepath.Join(root, "store/remote_form.go"))
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^const runForm = (\d+)$`).FindSubmatch(source)
	if found == nil {
		t.Fatal("there is no runForm in store/remote_form.go")
	}
	runForm, _ := strconv.Atoi(string(found[1]))
	for _, what := range slices.Sorted(maps.Keys(stored)) {
		switch form := forms[what]; {
		case form == 0:
			t.Errorf("%s lacks %q. Precede it with %d if programs of that form continue a run correctly without knowing it. Otherwise add a step for PostgreSQL, and give it and runForm in store/remote_form.go the new form.", page, what, runForm)
		case form > runForm:
			t.Errorf("%q needs the form %d: set runForm in store/remote_form.go to it", what, form)
		}
		delete(forms, what)
	}
	for _, what := range slices.Sorted(maps.Keys(forms)) {
		t.Errorf("%s has %q, which this version neither stores nor reads. Keep reading it while a version that stores it is supported; then remove the line.", page, what)
	}
}

// Members returns the members of the roots' types and of all types of the module that they
// contain, as type.member. What a member of type any contains is not among them.
func Members(roots ...any) map[string]bool {
	list := map[string]bool{}
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
	for _, root := range roots {
		add(reflect.TypeOf(root))
	}
	return list
}

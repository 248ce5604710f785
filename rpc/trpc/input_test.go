package trpc

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"blueprintd/blueprint"
)

type testPaging struct {
	Limit  int `json:"limit" check:"min=1,max=100,default=20"`
	Offset int `json:"offset" check:"min=0"`
}

type testLevel string

type testEverything struct {
	Title  string                 `json:"title" check:"required,trim,line,min=2,max=5"`
	Kind   testLevel              `json:"kind" check:"enum=low|high,default=low"`
	ID     *string                `json:"id" check:"uuid"`
	On     bool                   `json:"on" check:"default=true"`
	Rating float64                `json:"rating" check:"min=0,max=5,default=2.5"`
	Small  int8                   `json:"small"`
	Exact  json.Number            `json:"exact" check:"min=1"`
	Tags   []string               `json:"tags" check:"min=1,max=3" each:"trim,min=1"`
	Any    any                    `json:"any"`
	Tree   map[string]any         `json:"tree"`
	List   []any                  `json:"list"`
	Counts map[string]int         `json:"counts" check:"max=2" each:"max=9"`
	Node   *testNode              `json:"node"`
	Nodes  []testNode             `json:"nodes"`
	Note   Optional[string]       `json:"note" check:"nullable,max=3"`
	Maybe  Optional[any]          `json:"maybe"`
	Sure   Optional[bool]         `json:"sure"`
	Parent *string                `json:"parent" check:"nullable,uuid"`
	Extra  map[string]any         `json:"extra" check:"nullable"`
	Lists  [][]int                `json:"lists"`
	Levels map[testLevel][]string `json:"levels"`
	Hidden int                    `json:"-"`
	testPaging
}

type testNode struct {
	Name   string         `json:"name" check:"required"`
	Config map[string]any `json:"config" check:"required"`
}

// decodeInto decodes the text of an envelope into a T and returns the issues.
func decodeInto[T any](t *testing.T, envelope string) (T, []blueprint.Issue, string) {
	t.Helper()
	var raw rawInput
	if envelope != "" {
		decoded, err := blueprint.Decode([]byte(envelope))
		if err != nil {
			t.Fatal(err)
		}
		if raw, err = readEnvelope(decoded); err != nil {
			t.Fatal(err)
		}
	}
	value, err := inputDecoder[T]("test")(raw)
	if err == nil {
		return value, nil, ""
	}
	var refused *blueprint.Error
	if !errors.As(err, &refused) || refused.Code != blueprint.CodeBadRequest {
		t.Fatalf("%s: %v, want Code %v", envelope, err, blueprint.CodeBadRequest)
	}
	return value, refused.Issues, refused.Message
}

func TestInputFaults(t *testing.T) {
	for _, test := range []struct{ json, want string }{
		{`{}`, "title: required"},
		{`{"Title":"abc"}`, "title: required"},
		{`{"title":5}`, "title: must be a string"},
		{`{"title":null}`, "title: must be a string"},
		{`{"title":" "}`, "title: must not be empty"},
		{`{"title":"é"}`, "title: must have at least 2 characters"},
		{`{"title":"éééééé"}`, "title: must have at most 5 characters"},
		{`{"title":"a\u001b[2"}`, "title: must be one line, without control characters and others that are not seen"},
		{`{"title":"a\nb"}`, "title: must be one line, without control characters and others that are not seen"},
		{`{"title":"a\u202eb"}`, "title: must be one line, without control characters and others that are not seen"},
		{`{"title":"abc","kind":"middle"}`, "kind: must be one of low, high"},
		{`{"title":"abc","id":"no"}`, "id: must be a UUID"},
		{`{"title":"abc","on":"true"}`, "on: must be true or false"},
		{`{"title":"abc","rating":"4"}`, "rating: must be a number"},
		{`{"title":"abc","rating":-0.5}`, "rating: must be at least 0"},
		{`{"title":"abc","rating":5.5}`, "rating: must be at most 5"},
		{`{"title":"abc","rating":1e999}`, "rating: must be at most 5"},
		{`{"title":"abc","small":1.5}`, "small: must be an integer"},
		{`{"title":"abc","small":200}`, "small: is out of range"},
		{`{"title":"abc","small":1e400}`, "small: is out of range"},
		{`{"title":"abc","exact":0}`, "exact: must be at least 1"},
		{`{"title":"abc","exact":"1"}`, "exact: must be a number"},
		{`{"title":"abc","tags":"a"}`, "tags: must be an array"},
		{`{"title":"abc","tags":{}}`, "tags: must be an array"},
		{`{"title":"abc","tags":[]}`, "tags: must have at least 1 element"},
		{`{"title":"abc","tags":["a","b","c","d"]}`, "tags: must have at most 3 elements"},
		{`{"title":"abc","tags":[1," ",null]}`, "tags[0]: must be a string; tags[1]: must not be empty; tags[2]: must be a string"},
		{`{"title":"abc","tree":[]}`, "tree: must be an object"},
		{`{"title":"abc","list":{}}`, "list: must be an array"},
		{`{"title":"abc","counts":{"a":1,"b":2,"c":3}}`, "counts: must have at most 2 keys"},
		{`{"title":"abc","counts":{"a b":10,"a":"x"}}`, `counts.a: must be a number; counts["a b"]: must be at most 9`},
		{`{"title":"abc","node":5}`, "node: must be an object"},
		{`{"title":"abc","node":{"config":5}}`, "node.name: required; node.config: must be an object"},
		{`{"title":"abc","nodes":[{"name":"a","config":{}},{}]}`, "nodes[1].name: required; nodes[1].config: required"},
		{`{"title":"abc","note":5}`, "note: must be a string"},
		{`{"title":"abc","note":"abcd"}`, "note: must have at most 3 characters"},
		{`{"title":"abc","parent":"x"}`, "parent: must be a UUID"},
		{`{"title":"abc","lists":[[1],["x"]]}`, "lists[1][0]: must be a number"},
		{`{"title":"abc","levels":{"":[1]}}`, `levels[""][0]: must be a string`},
		{`{"title":"abc","limit":101,"offset":-1}`, "limit: must be at most 100; offset: must be at least 0"},
		{`{"limit":"20","title":1,"kind":2}`, "title: must be a string; kind: must be a string; limit: must be a number"},
		{`[]`, "input: must be an object"},
		{`null`, "input: must be an object"},
		{`"x"`, "input: must be an object"},
	} {
		t.Run(test.json, func(t *testing.T) {
			_, issues, message := decodeInto[testEverything](t, `{"json":`+test.json+`}`)
			if message != test.want {
				t.Errorf("%s\ngot  %s\nwant %s", test.json, message, test.want)
			}
			if len(issues) != strings.Count(test.want, "; ")+1 {
				t.Errorf("%d issues, want %v", len(issues), strings.Count(test.want, "; ")+1)
			}
		})
	}
}

// A UUID may be one of a list, in any letter case on either side.
func TestInputRulesTogether(t *testing.T) {
	type upper struct {
		ID string `json:"id" check:"uuid,enum=6B1F0C5E-8A6D-4C1E-9F33-2D5B7A90C412"`
	}
	if got, _, message := decodeInto[upper](t, `{"json":{"id":"6B1F0C5E-8a6d-4c1e-9f33-2d5b7a90c412"}}`); message != "" || got.ID != "6b1f0c5e-8a6d-4c1e-9f33-2d5b7a90c412" {
		t.Errorf("%q %s, want nothing and 6b1f0c5e-8a6d-4c1e-9f33-2d5b7a90c412", got.ID, message)
	}
	type input struct {
		ID string `json:"id" check:"uuid,enum=6b1f0c5e-8a6d-4c1e-9f33-2d5b7a90c412"`
	}
	if got, _, message := decodeInto[input](t, `{"json":{"id":"6B1F0C5E-8a6d-4c1e-9f33-2d5b7a90c412"}}`); message != "" || got.ID != "6b1f0c5e-8a6d-4c1e-9f33-2d5b7a90c412" {
		t.Errorf("%q %s, want nothing and 6b1f0c5e-8a6d-4c1e-9f33-2d5b7a90c412", got.ID, message)
	}
	if _, _, message := decodeInto[input](t, `{"json":{"id":"00000000-8a6d-4c1e-9f33-2d5b7a90c412"}}`); message != "id: must be one of 6b1f0c5e-8a6d-4c1e-9f33-2d5b7a90c412" {
		t.Errorf("%v, want id: must be one of 6b1f0c5e-8a6d-4c1e-9f33-2d5b7a90c412", message)
	}
	if _, _, message := decodeInto[input](t, `{"json":{"id":"x"}}`); message != "id: must be a UUID" {
		t.Errorf("%v, want id: must be a UUID", message)
	}
}

// Null for an optional field counts as absent; a required one must be given.
func TestInputNulls(t *testing.T) {
	type input struct {
		testEverything
		Must any `json:"must" check:"required"`
	}
	absent, _, message := decodeInto[input](t, `{"json":{"title":"abc","must":false}}`)
	if message != "" {
		t.Fatalf("%v, want nothing", message)
	}
	given, _, message := decodeInto[input](t, `{"json":{"title":"abc","must":false,"kind":null,"id":null,"on":null,"rating":null,"small":null,"exact":null,"tags":null,"any":null,"tree":null,
		"list":null,"counts":null,"node":null,"nodes":null,"maybe":null,"sure":null,"parent":null,"extra":null,"lists":null,"levels":null,"limit":null,"offset":null}}`)
	if message != "" || !reflect.DeepEqual(given, absent) {
		t.Errorf("%s\ngot  %+v\nwant %+v", message, given, absent)
	}
	if _, _, message := decodeInto[input](t, `{"json":{"title":null,"must":null}}`); message != "title: must be a string; must: required" {
		t.Errorf("%v, want title: must be a string; must: required", message)
	}
	type anything struct {
		Value any `json:"value" check:"required,nullable"`
	}
	if got, _, message := decodeInto[anything](t, `{"json":{"value":null}}`); message != "" || got.Value != nil {
		t.Errorf("%v %s, want nil and no message", got.Value, message)
	}
	if _, _, message := decodeInto[anything](t, `{"json":{}}`); message != "value: required" {
		t.Errorf("%v, want value: required", message)
	}
}

func TestInputMarks(t *testing.T) {
	for _, test := range []struct{ json, values, want string }{
		{`{"title":null}`, `{"title":["undefined"]}`, "title: required"},
		{`{"title":"abc","tags":["a",null]}`, `{"tags.1":["undefined"]}`, "tags[1]: required"},
		{`{"title":"2020"}`, `{"title":["Date"]}`, "title: must be a string"},
		{`{"title":"abc","small":"5"}`, `{"small":["bigint"]}`, "small: must be a number"},
		{`{"title":"abc","rating":"NaN"}`, `{"rating":["number"]}`, "rating: must be a number"},
		{`{"title":"abc","tags":["a"]}`, `{"tags":["set"]}`, "tags: must be an array"},
		{`{"title":"abc","tree":{}}`, `{"tree":["Error"]}`, "tree: must be an object"},
		{`{"title":"abc","any":["NaN"]}`, `{"any.0":["number"]}`, "any[0]: must be a finite number"},
		{`{}`, `["Date"]`, "input: must be an object"},
	} {
		t.Run(test.json, func(t *testing.T) {
			_, _, message := decodeInto[testEverything](t, `{"json":`+test.json+`,"meta":{"values":`+test.values+`,"v":1}}`)
			if message != test.want {
				t.Errorf("%s with %s\ngot  %s\nwant %s", test.json, test.values, message, test.want)
			}
		})
	}
	got, _, message := decodeInto[testEverything](t, `{"json":{"title":"abc","id":null,"offset":"-0","any":["2020",null,"7",[["k","2021"]]],"tree":{"a":null,"b":["2022"]},"list":[null],"note":null},
		"meta":{"values":{"id":["undefined"],"offset":["number"],"any.0":["Date"],"any.1":["undefined"],"any.2":["bigint"],"any.3":["map",{"0.1":["Date"]}],
		"tree.a":["undefined"],"tree.b":["set",{"0":["Date"]}],"list.0":["undefined"],"note":["undefined"]},"v":1}}`)
	want := testEverything{
		Title: "abc", Kind: "low", On: true, Rating: 2.5,
		Any:        []any{"2020", nil, json.Number("7"), []any{[]any{"k", "2021"}}},
		Tree:       map[string]any{"b": []any{"2022"}},
		List:       []any{nil},
		testPaging: testPaging{Limit: 20},
	}
	if message != "" || !reflect.DeepEqual(got, want) {
		t.Errorf("%s\ngot  %+v\nwant %+v", message, got, want)
	}
}

func TestInputValues(t *testing.T) {
	id := someID
	given, _, message := decodeInto[testEverything](t, `{"json":{"title":" abc ","kind":"high","id":"`+strings.ToUpper(id)+`","on":false,"rating":4,"small":-1.28e2,"exact":1.0,
		"tags":[" a "],"any":null,"tree":{"x":[1e2,null]},"list":[],"counts":{"a":1},"node":{"name":"","config":{}},"nodes":[],"note":null,"maybe":null,"sure":false,
		"parent":null,"extra":null,"lists":[[],[1]],"levels":{"low":["a"]},"limit":1e2,"offset":3,"unknown":1,"Hidden":5}}`)
	want := testEverything{
		Title: "abc", Kind: "high", ID: &id, Rating: 4, Small: -128, Exact: "1.0", Tags: []string{"a"},
		Tree: map[string]any{"x": []any{json.Number("1e2"), nil}}, List: []any{}, Counts: map[string]int{"a": 1},
		Node: &testNode{Config: map[string]any{}}, Nodes: []testNode{}, Note: Optional[string]{Set: true}, Maybe: Optional[any]{},
		Sure: Optional[bool]{Set: true}, Lists: [][]int{{}, {1}}, Levels: map[testLevel][]string{"low": {"a"}}, testPaging: testPaging{Limit: 100, Offset: 3},
	}
	if message != "" || !reflect.DeepEqual(given, want) {
		t.Errorf("%s\ngot  %+v\nwant %+v", message, given, want)
	}
}

func TestInputAsAWhole(t *testing.T) {
	for _, envelope := range []string{"", `{}`, `5`, `{"json":{}}`, `{"json":{"x":1}}`} {
		if _, _, message := decodeInto[struct{}](t, envelope); message != "" {
			t.Errorf("%q: %s, want nothing", envelope, message)
		}
		if got, _, message := decodeInto[testPaging](t, envelope); message != "" || got.Limit != 20 {
			t.Errorf("%q: %+v %s, want nothing and Limit 20", envelope, got, message)
		}
	}
	for _, envelope := range []string{`{"json":null}`, `{"json":[]}`} {
		if _, _, message := decodeInto[struct{}](t, envelope); message != "input: must be an object" {
			t.Errorf("%q: %s, want input: must be an object", envelope, message)
		}
	}
	if got, _, _ := decodeInto[any](t, ""); got != nil {
		t.Errorf("nothing became %v, want nil", got)
	}
}

func TestIssuesAreBounded(t *testing.T) {
	_, issues, _ := decodeInto[struct {
		Tags []string `json:"tags"`
	}](t, `{"json":{"tags":[`+strings.Repeat("1,", 5000)+`1]}}`)
	if len(issues) != maxIssues {
		t.Errorf("%d issues, want %v", len(issues), maxIssues)
	}
}

func TestParseInteger(t *testing.T) {
	for _, test := range []struct {
		text  string
		value int64
		whole bool
	}{
		{"0", 0, true}, {"-0", 0, true}, {"0.0", 0, true}, {"0e99999999999999999999", 0, true}, {"12", 12, true}, {"1e2", 100, true}, {"1E+2", 100, true},
		{"100.0", 100, true}, {"1.50e1", 15, true}, {"1200e-2", 12, true}, {"-5e0", -5, true}, {"0.05e2", 5, true}, {"1.5", 0, false}, {"1e-1", 0, false},
		{"1.25e1", 0, false}, {"1e-99999999999999999999", 0, false}, {"1e99999999999999999999", 1<<63 - 1, true}, {"-1e30", -1 << 63, true},
		{"9223372036854775807", 1<<63 - 1, true}, {"9223372036854775808", 1<<63 - 1, true}, {"-9223372036854775808", -1 << 63, true}, {"922337203685477580.7e1", 1<<63 - 1, true},
		{"1e18", 1e18, true}, {"9.223372036854775807e18", 1<<63 - 1, true}, {"-9.223372036854775808e18", -1 << 63, true}, {"1e19", 1<<63 - 1, true}, {"-1e19", -1 << 63, true},
	} {
		t.Run(test.text, func(t *testing.T) {
			if value, whole := parseInteger(test.text); value != test.value || whole != test.whole {
				t.Errorf("%d, %v; want %v and %v", value, whole, test.value, test.whole)
			}
		})
	}
	for _, test := range []struct{ json, want string }{
		{`9007199254740991`, ""}, {`9007199254740992`, "n: is out of range"}, {`-9.007199254740992e15`, "n: is out of range"},
	} {
		t.Run(test.json, func(t *testing.T) {
			if _, _, message := decodeInto[struct {
				N int64 `json:"n"`
			}](t, `{"json":{"n":`+test.json+`}}`); message != test.want {
				t.Errorf("%q, want %v", message, test.want)
			}
		})
	}
}

// Invalid input types panic when the table is built.
func TestInputTypesThatPanic(t *testing.T) {
	type self struct {
		Again *self `json:"again"`
	}
	type twice struct {
		testPaging
		Most int `json:"limit"`
	}
	mustPanic(t, "holds itself", func() { inputDecoder[self]("test") })
	mustPanic(t, "two fields named limit", func() { inputDecoder[twice]("test") })
	text, number, truth := reflect.TypeFor[string](), reflect.TypeFor[int](), reflect.TypeFor[bool]()
	for _, test := range []struct {
		field reflect.Type
		tag   reflect.StructTag
		with  string
	}{
		{text, ``, "A: needs an exported name and a json tag"},
		{text, `json:"a" check:"reqired"`, `input of test: a: unknown rule "reqired"`},
		{text, `json:"a" check:"min=x"`, "min needs a number"},
		{text, `json:"a" check:"enum"`, "enum: missing or unexpected value"},
		{text, `json:"a" check:"required=1"`, "required: missing or"},
		{number, `json:"a" check:"uuid"`, "uuid and enum do not apply to int"},
		{truth, `json:"a" check:"min=1"`, "min and max do not apply to bool"},
		{number, `json:"a" each:"min=1"`, "each does not apply to int"},
		{number, `json:"a" check:"required,default=1"`, "cannot be combined"},
		{number, `json:"a" check:"min=1,default=0"`, "default=0 must be at least 1"},
		{truth, `json:"a" check:"default=yes"`, "default=yes must be true or false"},
		{reflect.PointerTo(number), `json:"a" check:"default=1"`, "has no default"},
		{reflect.SliceOf(number), `json:"a" each:"required"`, "each: required"},
		{reflect.SliceOf(number), `json:"a" each:"x"`, "each: unknown rule"},
		{reflect.TypeFor[chan int](), `json:"a"`, "a chan int cannot be an input"},
		{reflect.TypeFor[uint](), `json:"a"`, "a uint cannot be an input"},
		{reflect.TypeFor[error](), `json:"a"`, "a error cannot be an input"},
		{reflect.TypeFor[blueprint.Time](), `json:"a"`, "reads its own JSON"},
	} {
		input := reflect.StructOf([]reflect.StructField{{Name: "A", Type: test.field, Tag: test.tag}})
		mustPanic(t, test.with, func() { compileInput("test", input) })
	}
}

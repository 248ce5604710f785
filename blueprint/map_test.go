package blueprint_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
)

// Maps are equivalent if they run in the same way: a caller who may not change a map may
// run only an equivalent one, and a grant holds for all equivalent ones.
func TestEquivalentMaps(t *testing.T) {
	parsed := func(text string) *blueprint.Map {
		if text == "" {
			return nil
		}
		m, issues := blueprint.ParseMap(decode(t, text))
		if issues != nil {
			t.Fatalf("%s: %s, want nil", text, issueTexts(issues))
		}
		return m
	}
	one := func(config string, more ...string) string { return nodes(node("a", "note", config, more...)) }
	two := func(edges string) string {
		return `{"nodes":[` + node("a", "note", "") + `,` + node("b", "note", "") + `],"edges":[` + edges + `]}`
	}
	for name, test := range map[string]struct {
		a, b        string
		nodes, same bool
	}{
		"none":              {"", "", false, true},
		"none and one":      {"", one(""), false, false},
		"identical":         {one(`"x":1`), one(`"x":1`), true, true},
		"order of keys":     {one(`"x":1,"y":2`), one(`"y":2,"x":1`), true, true},
		"title":             {one(""), `{"nodes":[{"id":"a","type":"note","title":"else","config":{}}]}`, true, true},
		"position":          {one(""), one("", `"position":1`), true, true},
		"spelling of types": {nodes(node("a", "for-each", "")), nodes(node("a", "for_each", "")), true, true},
		"explicit defaults": {one(""), one("", `"disabled":false,"onError":"stop"`), true, true},
		"id":                {one(""), nodes(node("b", "note", "")), false, false},
		"type":              {one(""), nodes(node("a", "send", "")), false, false},
		"config":            {one(`"x":1`), one(`"x":2`), false, false},
		"number as text":    {one(`"x":1`), one(`"x":"1"`), false, false},
		"disabled":          {one(""), one("", `"disabled":true`), false, false},
		"timeout":           {one(""), one("", `"timeoutMs":5`), false, false},
		"onError":           {one(""), one("", `"onError":"continue"`), false, false},
		"effect":            {one(""), one("", `"effect":"once"`), false, false},
		"another mistake":   {one("", `"timeoutMs":"5"`), one("", `"onError":"5"`), false, false},
		"same mistake":      {one("", `"timeoutMs":"5"`), one("", `"timeoutMs":"6"`), true, true},
		"one attempt":       {one(""), one("", `"retry":{"maxAttempts":1,"delayMs":7}`), true, true},
		"one attempt, both": {one("", `"retry":{"maxAttempts":1}`), one("", `"retry":{"maxAttempts":1,"delayMs":7}`), true, true},
		"two attempts":      {one(""), one("", `"retry":{"maxAttempts":2}`), false, false},
		"one and two":       {one("", `"retry":{"maxAttempts":2}`), one("", `"retry":{"maxAttempts":1}`), false, false},
		"default delay":     {one("", `"retry":{"maxAttempts":2}`), one("", `"retry":{"maxAttempts":2,"delayMs":1000,"backoff":2}`), true, true},
		"other delay":       {one("", `"retry":{"maxAttempts":2}`), one("", `"retry":{"maxAttempts":2,"delayMs":7}`), false, false},
		"more nodes":        {one(""), two(""), false, false},
		"order of nodes":    {two(""), nodes(node("b", "note", ""), node("a", "note", "")), false, false},
		"an edge":           {two(""), two(`{"source":"a","target":"b"}`), true, false},
		"id of an edge":     {two(`{"source":"a","target":"b"}`), two(`{"id":"e","source":"a","target":"b","sourceHandle":"main"}`), true, true},
		"source":            {two(`{"source":"a","target":"b"}`), two(`{"source":"b","target":"b"}`), true, false},
		"target":            {two(`{"source":"a","target":"b"}`), two(`{"source":"a","target":"a"}`), true, false},
		"handle":            {two(`{"source":"a","target":"b"}`), two(`{"source":"a","target":"b","sourceHandle":"x"}`), true, false},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := parsed(test.a), parsed(test.b)
			for _, pair := range [][2]*blueprint.Map{{a, b}, {b, a}} {
				if got := pair[0].Equivalent(pair[1]); got != test.same {
					t.Errorf("equivalent: got %v, want %v", got, test.same)
				}
				if got := pair[0].EquivalentNodes(pair[1]); got != test.nodes {
					t.Errorf("equivalent nodes: got %v, want %v", got, test.nodes)
				}
			}
		})
	}
}

func TestEquivalentVariables(t *testing.T) {
	for name, test := range map[string]struct {
		a, b string
		want bool
	}{
		"none":        {`[]`, `[]`, true},
		"same":        {`[{"name":"a","type":"json","default":{"x":1}}]`, `[{"name":"a","type":"json","default":{"x":1}}]`, true},
		"description": {`[{"name":"a","description":"x"}]`, `[{"name":"a"}]`, true},
		"name":        {`[{"name":"a"}]`, `[{"name":"b"}]`, false},
		"type":        {`[{"name":"a"}]`, `[{"name":"a","type":"json"}]`, false},
		"default":     {`[{"name":"a","default":"x"}]`, `[{"name":"a","default":"y"}]`, false},
		"no default":  {`[{"name":"a","type":"json","default":null}]`, `[{"name":"a","type":"json"}]`, false},
		"secret":      {`[{"name":"a"}]`, `[{"name":"a","secret":true}]`, false},
		"required":    {`[{"name":"a"}]`, `[{"name":"a","required":true}]`, false},
		"more":        {`[{"name":"a"}]`, `[{"name":"a"},{"name":"b"}]`, false},
	} {
		t.Run(name, func(t *testing.T) {
			a, issues := blueprint.ParseVariables(array(t, test.a))
			b, more := blueprint.ParseVariables(array(t, test.b))
			if issues != nil || more != nil {
				t.Fatal(issueTexts(issues), issueTexts(more))
			}
			if got := blueprint.EquivalentVariables(a, b); got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

// Readers who may not manage a blueprint see the keys that node types define, in whatever
// depth, because others may hold credentials.
func TestStripUnknownConfig(t *testing.T) {
	schema := func(text string) map[string]any { return object(t, text) }
	catalogue := blueprint.Catalogue{
		"http":  {Schema: schema(`{"properties":{"url":{},"headers":{"type":"object"},"auth":{"properties":{"kind":{}}},"parts":{"items":{"properties":{"name":{}}}},"body":{"anyOf":[{"properties":{"text":{}}},{"type":"string"},5]}}}`)},
		"each":  {Schema: schema(`{"properties":{"nodes":{},"items":{}}}`), Body: func(map[string]any) (map[string]any, []any) { return nil, nil }},
		"flat":  {Schema: schema(`{"properties":{"nodes":{}}}`)},
		"human": {Schema: schema(`{"properties":{"prompt":{}}}`)},
		"open":  {},
	}
	for name, test := range map[string]struct{ config, want string }{
		"known keys":        {`{"type":"http","config":{"url":"u"}}`, `{"type":"http","config":{"url":"u"}}`},
		"unknown key":       {`{"type":"http","config":{"url":"u","token":"hush"}}`, `{"type":"http","config":{"url":"u"}}`},
		"open object":       {`{"type":"http","config":{"headers":{"x":"y"}}}`, `{"type":"http","config":{"headers":{"x":"y"}}}`},
		"nested key":        {`{"type":"http","config":{"auth":{"kind":"k","token":"hush"}}}`, `{"type":"http","config":{"auth":{"kind":"k"}}}`},
		"in a list":         {`{"type":"http","config":{"parts":[{"name":"n","token":"hush"},5]}}`, `{"type":"http","config":{"parts":[{"name":"n"},5]}}`},
		"in alternatives":   {`{"type":"http","config":{"body":{"text":"t","token":"hush"}}}`, `{"type":"http","config":{"body":{"text":"t"}}}`},
		"other alternative": {`{"type":"http","config":{"body":"t"}}`, `{"type":"http","config":{"body":"t"}}`},
		"no object":         {`{"type":"http","config":"hush"}`, `{"type":"http","config":{}}`},
		"unknown type":      {`{"type":"lost","config":{"url":"hush"}}`, `{"type":"lost","config":{}}`},
		"no type":           {`{"config":{"url":"hush"}}`, `{"config":{}}`},
		"other spelling":    {`{"type":"human_checkpoint","config":{"prompt":"p","token":"hush"}}`, `{"type":"human_checkpoint","config":{"prompt":"p"}}`},
		"open schema":       {`{"type":"open","config":{"x":1}}`, `{"type":"open","config":{"x":1}}`},
		"other members":     {`{"type":"open","position":{"x":1}}`, `{"type":"open","position":{"x":1},"config":{}}`},
		"nodes inside":      {`{"type":"each","config":{"nodes":[{"type":"http","config":{"token":"hush"}}],"items":1}}`, `{"type":"each","config":{"nodes":[{"type":"http","config":{}}],"items":1}}`},
		"no nodes inside":   {`{"type":"each","config":{"items":1}}`, `{"type":"each","config":{"items":1}}`},
		"nodes of another":  {`{"type":"flat","config":{"nodes":[{"x":1}]}}`, `{"type":"flat","config":{"nodes":[{"x":1}]}}`},
	} {
		t.Run(name, func(t *testing.T) {
			given := decode(t, `{"nodes":[`+test.config+`],"more":1}`)
			got := catalogue.StripUnknownConfig(given)
			if diff := cmp.Diff(decode(t, `{"nodes":[`+test.want+`],"more":1}`), got); diff != "" {
				t.Errorf("map (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(decode(t, `{"nodes":[`+test.config+`],"more":1}`), given); diff != "" {
				t.Errorf("the given map was changed (-want +got):\n%s", diff)
			}
		})
	}
	for text, want := range map[string]string{`5`: `5`, `null`: `null`, `{"nodes":5}`: `{"nodes":5}`, `{"nodes":[5]}`: `{"nodes":[null]}`} {
		t.Run(text, func(t *testing.T) {
			if diff := cmp.Diff(decode(t, want), catalogue.StripUnknownConfig(decode(t, text))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", text, diff)
			}
		})
	}
}

func TestParseMapAtTheBounds(t *testing.T) {
	for member, valid := range map[string]bool{
		`"timeoutMs":1`: true, `"timeoutMs":9223372036854`: true, `"timeoutMs":9223372036855`: false, `"timeoutMs":0`: false,
		`"retry":{"maxAttempts":1000}`: true, `"retry":{"maxAttempts":1001}`: false, `"retry":{"maxAttempts":0}`: false,
		`"retry":{"maxAttempts":2,"delayMs":86400000}`: true, `"retry":{"maxAttempts":2,"delayMs":86400001}`: false, `"retry":{"maxAttempts":2,"delayMs":0}`: true, `"retry":{"maxAttempts":2,"delayMs":-1}`: false,
		`"retry":{"maxAttempts":2,"backoff":100}`: true, `"retry":{"maxAttempts":2,"backoff":1}`: true, `"retry":{"maxAttempts":2,"backoff":0.9}`: false,
	} {
		t.Run(member, func(t *testing.T) {
			m, issues := blueprint.ParseMap(decode(t, nodes(node("a", "note", "", member))))
			if issues != nil {
				t.Fatalf("%v, want nil", issueTexts(issues))
			}
			if got := m.Nodes[0].Invalid == nil; got != valid {
				t.Errorf("valid: got %v, want %v: %s", got, valid, issueTexts(m.Nodes[0].Invalid))
			}
		})
	}
	for text, want := range map[string]string{
		`{"nodes":[{"id":null,"type":5,"title":"","config":null}]}`:                                                     "nodes[0].id: must be a string\nnodes[0].type: must be a string\nnodes[0].config: must be an object",
		`{"nodes":[` + node("a", "note", "") + `],"edges":[{"id":null,"source":"a","target":"a","sourceHandle":null}]}`: "",
		`{"nodes":[` + node("a", "note", "") + `],"edges":[{"id":5,"source":"a","target":"a","sourceHandle":5}]}`:       "edges[0].id: must be a string\nedges[0].sourceHandle: must be a string",
	} {
		t.Run(text, func(t *testing.T) {
			if _, issues := blueprint.ParseMap(decode(t, text)); issueTexts(issues) != want {
				t.Errorf("got %q, want %q", issueTexts(issues), want)
			}
		})
	}
}

func TestCheckConnectionAtTheBounds(t *testing.T) {
	text := func(n int) string { return strings.Repeat("é", n) }
	list := func(n int) string { return `["` + strings.Repeat(`a.example","`, n-1) + `a.example"]` }
	for name, test := range map[string]struct {
		kind         blueprint.ConnectionType
		config, want string
	}{
		"long text":          {"oauth2", `{"flow":"client_credentials","tokenUrl":"https://a.example","clientId":"` + text(2048) + `"}`, ""},
		"too long text":      {"oauth2", `{"flow":"client_credentials","tokenUrl":"https://a.example","clientId":"` + text(2049) + `"}`, "clientId: must have at most 2048 characters"},
		"long secret":        {"slack", `{"botToken":"` + text(8192) + `"}`, ""},
		"too long secret":    {"slack", `{"botToken":"` + text(8192) + `a"}`, "botToken: must have at most 16384 bytes"},
		"long list":          {"http", `{"auth":{"type":"none"},"hosts":` + list(100) + `}`, ""},
		"too long list":      {"http", `{"auth":{"type":"none"},"hosts":` + list(101) + `}`, "hosts: must have at most 100 elements"},
		"empty text":         {"oauth2", `{"flow":"client_credentials","tokenUrl":"https://a.example","clientId":""}`, "clientId: must not be empty"},
		"ends of a scope":    {"oauth2", `{"flow":"client_credentials","tokenUrl":"https://a.example","clientId":"c","scopes":["!~"]}`, ""},
		"space in a scope":   {"oauth2", `{"flow":"client_credentials","tokenUrl":"https://a.example","clientId":"c","scopes":["a b"]}`, "scopes[0]: must be one scope, without spaces and quotes"},
		"letters of headers": {"http", `{"auth":{"type":"header","name":"azAZ09-_~","value":"v"},"hosts":["a.example"]}`, ""},
		"no letters":         {"http", `{"auth":{"type":"header","name":"a@","value":"v"},"hosts":["a.example"]}`, "auth.name: must be a header name"},
		"nor these":          {"http", `{"auth":{"type":"header","name":"a[","value":"v"},"hosts":["a.example"]}`, "auth.name: must be a header name"},
		"nor others":         {"http", `{"auth":{"type":"header","name":"a:","value":"v"},"hosts":["a.example"]}`, "auth.name: must be a header name"},
		"nor a slash":        {"http", `{"auth":{"type":"header","name":"a/","value":"v"},"hosts":["a.example"]}`, "auth.name: must be a header name"},
		"nor a brace":        {"http", `{"auth":{"type":"header","name":"a{","value":"v"},"hosts":["a.example"]}`, "auth.name: must be a header name"},
		"least number":       {"mcp-server", `{"url":"https://a.example","timeoutMs":1}`, ""},
		"greatest number":    {"mcp-server", `{"url":"https://a.example","timeoutMs":3600000}`, ""},
		"greater number":     {"mcp-server", `{"url":"https://a.example","timeoutMs":3600001}`, "timeoutMs: must be a whole number from 1 to 3600000"},
		"least port":         {"http", `{"auth":{"type":"none"},"hosts":["a.example:1","a.example:65535"]}`, ""},
		"no port":            {"http", `{"auth":{"type":"none"},"hosts":["a.example:0"]}`, "hosts[0]: must have a port from 1 to 65535"},
		"too large port":     {"http", `{"auth":{"type":"none"},"hosts":["a.example:65536"]}`, "hosts[0]: must have a port from 1 to 65535"},
		"long host":          {"http", `{"auth":{"type":"none"},"hosts":["` + strings.Repeat(strings.Repeat("a", 61)+".", 4) + `abcde"]}`, ""},
		"too long host":      {"http", `{"auth":{"type":"none"},"hosts":["` + strings.Repeat(strings.Repeat("a", 61)+".", 4) + `abcdef"]}`, `hosts[0]: must be a host, "host:port" or "*.domain": the host is too long`},
		"letters beyond":     {"http", `{"auth":{"type":"none"},"hosts":["ä.example"]}`, `hosts[0]: must be a host, "host:port" or "*.domain": write a host with letters beyond ASCII in its xn-- form`},
		"a tilde":            {"http", `{"auth":{"type":"none"},"hosts":["~.example"]}`, `hosts[0]: must be a host, "host:port" or "*.domain": a host consists of letters, digits and hyphens with dots between`},
		"user in a URL":      {"mcp-server", `{"url":"https://u@a.example"}`, "url: must not contain a user or a password"},
		"fragment":           {"mcp-server", `{"url":"https://a.example/#x"}`, "url: must not have a fragment"},
		"empty fragment":     {"mcp-server", `{"url":"https://a.example/#"}`, "url: must not have a fragment"},
		"scheme":             {"mcp-server", `{"url":"ftp://a.example/"}`, "url: must begin with https:// or http://"},
		"opaque":             {"mcp-server", `{"url":"https:a.example"}`, "url: must name a host"},
		"no host":            {"mcp-server", `{"url":"https:///x"}`, "url: must name a host"},
		"empty port":         {"mcp-server", `{"url":"https://a.example:/x"}`, "url: must have a port from 1 to 65535, or none"},
		"port in a URL":      {"mcp-server", `{"url":"http://a.example:65535/x"}`, ""},
		"no port in a URL":   {"mcp-server", `{"url":"http://a.example:0/x"}`, "url: must have a port from 1 to 65535, or none"},
		"unknown type":       {"lost", `{}`, `: unknown connection type "lost"`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := issueTexts(blueprint.CheckConnection(test.kind, object(t, test.config))); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// Unknown keys are reported one by one, up to the limit.
func TestCheckConnectionIsBounded(t *testing.T) {
	for keys, want := range map[int]int{999: 999, 1000: 1000, 1001: 1000} {
		t.Run(fmt.Sprint(keys), func(t *testing.T) {
			config := object(t, `{"botToken":"xoxb-1"}`)
			for i := range keys {
				config[fmt.Sprint("k", i)] = true
			}
			if got := len(blueprint.CheckConnection("slack", config)); got != want {
				t.Errorf("%d unknown keys: got %d issues, want %d", keys, got, want)
			}
		})
	}
}

// A placeholder is a config that reaches no real service, also of an unknown type.
func TestPlaceholderConfig(t *testing.T) {
	if issues := blueprint.CheckConnection("slack", blueprint.PlaceholderConfig("slack")); issues != nil {
		t.Errorf("slack: %s, want nil", issueTexts(issues))
	}
	want := map[string]any{"auth": map[string]any{"type": "none"}, "hosts": []any{}}
	if diff := cmp.Diff(want, blueprint.PlaceholderConfig("lost")); diff != "" {
		t.Errorf("an unknown type (-want +got):\n%s", diff)
	}
	for _, form := range blueprint.ConnectionForms() {
		if form.Type != blueprint.ConnectionSMTP {
			continue
		}
		port, _ := form.Schema["properties"].(map[string]any)["port"].(map[string]any)
		host, _ := form.Schema["properties"].(map[string]any)["host"].(map[string]any)
		if _, has := host["default"]; has || !blueprint.Equal(port["default"], 587) {
			t.Errorf("the defaults of host and port are %v and %v, want none and 587", host["default"], port["default"])
		}
	}
}

// Nodes beyond the map precede none.
func TestPrecedesOfAnUnknownNode(t *testing.T) {
	plan := blueprint.NewPlan(sequence(t, 64))
	for range 2 {
		if i, ok := plan.First(); ok {
			plan.Start(i)
			plan.Complete(i, "")
		}
	}
	for from, want := range map[int]bool{0: true, 1: false, 2: false, 63: false, 64: false, 1000: false} {
		t.Run(fmt.Sprint(from), func(t *testing.T) {
			if got := plan.Precedes(from, 1); got != want {
				t.Errorf("node %d precedes node 1: got %v, want %v", from, got, want)
			}
		})
	}
}

// sequence returns a graph of n nodes, one after the other.
func sequence(t *testing.T, n int) *blueprint.Graph {
	t.Helper()
	m := &blueprint.Map{}
	for i := range n {
		m.Nodes = append(m.Nodes, blueprint.Node{ID: fmt.Sprint("n", i), OnError: blueprint.OnErrorStop})
	}
	g, issues := blueprint.Compile(m)
	if issues != nil {
		t.Fatalf("%v, want nil", issueTexts(issues))
	}
	return g
}

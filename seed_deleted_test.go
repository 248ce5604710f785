package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSeedLeavesDeleted: what people have deleted, or given another title, is not
// made again by the same seed; what they had made themselves does not count.
func TestSeedLeavesDeleted(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "s.yaml")
	one := func(title string) string {
		return "  - {title: " + title + ", blueprint_map: {nodes: [{id: a, type: template, title: A, config: {text: hi}}]}, triggers: [{triggerType: api}]}\n"
	}
	seeds := []string{"Goes", "Moves", "Stays"}
	var p *process
	start := func() (titles map[string]int, ids map[string]string) {
		text := "blueprints:\n"
		for _, title := range seeds {
			text += one(title)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		p = startServer(t, "--db", filepath.Join(folder, "my.db"), "--seed", path)
		titles, ids = map[string]int{}, map[string]string{}
		for _, b := range at(p.query("blueprint.list", object{}), "data").([]any) {
			title := at(b, "title").(string)
			titles[title]++
			ids[title] = at(b, "id").(string)
		}
		return titles, ids
	}
	_, ids := start()
	p.mutate("blueprint.delete", object{"id": ids["Goes"]})
	p.mutate("blueprint.update", object{"id": ids["Moves"], "title": "Moved"})
	mine := p.mutate("blueprint.create", object{"title": "Later", "blueprint_map": object{"nodes": []any{}, "edges": []any{}}})
	p.mutate("blueprint.delete", object{"id": at(mine, "id")})
	p.stop()
	seeds = append(seeds, "Later")
	for range 2 {
		titles, again := start()
		if titles["Goes"] != 0 || titles["Moves"] != 0 || titles["Moved"] != 1 || titles["Stays"] != 1 || titles["Later"] != 1 || again["Stays"] != ids["Stays"] {
			t.Errorf("there are %v", titles)
		}
		p.stop()
	}
	for _, test := range []struct {
		done seeded
		want string
	}{
		{seeded{left: 1, gone: 2}, "; 1 of them were there and were left alone; 2 that people have deleted here stay so"},
		{seeded{}, "0 blueprints"},
	} {
		if got := test.done.table("s.yaml"); !strings.HasSuffix(got, test.want) {
			t.Errorf("said %q", got)
		}
	}
}

// TestSeedLeavesConnectionsDeleted: neither is a connection made again, unless a
// blueprint that is new needs it.
func TestSeedLeavesConnectionsDeleted(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "s.yaml")
	text := "users: [{email: ada@example.org, apiKey: " + testKey + "}]\norganizations: [{name: Team, members: [{email: ada@example.org, role: owner}]}]\nconnections:\n" +
		"  - {name: own, type: http, config: {auth: {type: bearer, token: x}, hosts: [a.example]}}\n" +
		"  - {name: ours, type: http, organization: Team, config: {auth: {type: bearer, token: x}, hosts: [a.example]}}\n" +
		"  - {name: tools, type: mcp-server, config: {url: 'https://a.example/', auth: {type: oauth2, connectionId: {$connection: service}}}}\n" +
		"  - {name: kept, type: http, config: {auth: {type: bearer, token: x}, hosts: [a.example]}}\nblueprints:\n" +
		"  - {title: Old, blueprint_map: {nodes: [{id: a, type: http-request, title: A, config: {url: 'https://a.example', connectionId: {$connection: own}}}]}}\n"
	text = strings.Replace(text, "  - {name: tools", "  - {name: service, type: oauth2, config: {flow: client_credentials, tokenUrl: 'https://a.example/t', clientId: c, clientSecret: s}}\n  - {name: tools", 1)
	var p *process
	start := func() map[string]string {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		p = startServer(t, "--db", filepath.Join(folder, "my.db"), "--seed", path)
		ids := map[string]string{}
		for _, c := range p.query("connection.list", object{}).([]any) {
			ids[at(c, "name").(string)] = at(c, "id").(string)
		}
		return ids
	}
	ids := start()
	if len(ids) != 5 {
		t.Fatalf("there are %v", ids)
	}
	for _, name := range []string{"own", "ours", "tools", "service"} {
		p.mutate("connection.delete", object{"id": ids[name]})
	}
	mine := p.mutate("connection.create", object{"name": "later", "type": "slack", "config": object{"botToken": "x"}})
	p.mutate("connection.delete", object{"id": at(mine, "id")})
	p.stop()
	text = strings.Replace(text, "  - {name: kept", "  - {name: later, type: slack, config: {botToken: x}}\n  - {name: kept", 1)
	if again := start(); len(again) != 2 || again["kept"] != ids["kept"] || again["later"] == "" {
		t.Errorf("there are %v", again)
	}
	p.stop()
	text += "  - {title: New, blueprint_map: {nodes: [{id: a, type: http-request, title: A, config: {url: 'https://a.example', connectionId: {$connection: own}}}]}}\n"
	again := start()
	if len(again) != 3 || again["own"] == "" || again["own"] == ids["own"] {
		t.Errorf("with one that names it there are %v", again)
	}
	for _, b := range at(p.query("blueprint.list", object{}), "data").([]any) {
		if at(b, "title") == "New" && !strings.Contains(encoded(t, b), again["own"]) {
			t.Errorf("it names %s", encoded(t, b))
		}
	}
	p.stop()
}

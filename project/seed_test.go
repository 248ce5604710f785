package project_test

import (
	_ "embed"
	"slices"
	"strings"
	"testing"

	"blueprintd/project"
)

// wholeSeed is a seed file with everything that a seed can have.
//
//go:embed testdata/whole.seed.yaml
var wholeSeed string

func seedLookup(name string) (string, bool) {
	value, known := map[string]string{"WHO": "ada", "SHOP_TOKEN": "canary-of-the-shop", "HOOK": "secret-of-hook", "EMPTY": ""}[name]
	return value, known
}

// seedCases change the whole seed and say what a reader says of it; "" = nothing.
func seedCases() []seedCase {
	return []seedCase{
		{"whole", "", "", ""},
		{"no object", wholeSeed, "[]", "seed.yaml:1:1: must be an object"},
		{"unknown member", "blueprints:", "blueprint:", "unknown field in a seed file"},
		{"no email", "email: ada@example.org, name: Ada", "name: Ada", "email: required"},
		{"bad email", "email: grace@example.org, name", "email: grace, name", "seed.yaml:3:13: users[1].email: is not an email address"},
		{"twice", "email: grace@example.org, name", "email: ADA@example.org, name", "is a duplicate"},
		{"short key", `"key-of-${WHO}"`, "short", "8 or more printable"},
		{"short password", "correct horse battery", "short", "at least"},
		{"not set", "${SHOP_TOKEN}", "${SHOP}", "connections[0].config.auth.token: the environment variable SHOP is not set"},
		{"bad role", "role: member", "role: boss", `must be "owner"`},
		{"no owner", "role: owner", "role: admin", "must have a member with the role owner"},
		{"unknown organization", "organization: Team\n    status", "organization: Tea\n    status", `no organization "Tea"`},
		{"bad connection", "hosts: [shop.example]", "hosts: 5", "connections[0].config"},
		{"unknown connection", "$connection: shop", "$connection: shops", `no connection "shops"`},
		{"bad node", "text: hi", "text: '{{'", "blueprints[1].blueprint_map.nodes[0].config.text"},
		{"bad cron", "0 * * * *", "0 * *", "seed.yaml:18:"},
		{"bad status", "status: published", "status: live", "blueprints[0].status"},
		{"same title", "title: Mine\n    owner: grace@example.org", "title: Orders\n    organization: Team", "the title of another blueprint"},
		{"unknown owner", "owner: grace@example.org", "owner: grac@example.org", `seed.yaml:20:12: blueprints[1].owner: unknown user; list all users under users; did you mean "grace@example.org"?`},
		{"unknown member of a team", "{email: grace@example.org, role: member}", "{email: zoe@example.org, role: member}", "seed.yaml:6:75: organizations[0].members[1].email: unknown user"},
		{"member twice", "{email: grace@example.org, role: member}", "{email: Ada@example.org, role: member}", "members[1].email: is a duplicate"},
		{"owner outside", "title: Orders\n    organization", "title: Orders\n    owner: eve@example.org\n    organization", "is not a member of Team"},
		{"same title of the owner", "title: Mine\n    owner: grace@example.org", "title: Mine\n    owner: ada@example.org\n    blueprint_map: {nodes: []}\n  - title: Mine", "the title of another blueprint"},
		{"place of a connection", "$connection: shop", "$connection: shops", `seed.yaml:15:133: blueprints[0].blueprint_map.nodes[0].config.connectionId.$connection: the seed file has no connection "shops"; did you mean "shop"?`},
		{"connection of another", "organization: Team, config", "owner: grace@example.org, config", `belongs to another user`},
		{"connection of a team without them", "title: Mine\n    owner: grace@example.org\n    visibility: public\n    blueprint_map: {nodes: [{id: a, type: template, title: A, config: {text: hi}}]}",
			"title: Mine\n    owner: eve@example.org\n    blueprint_map: {nodes: [{id: a, type: http-request, title: A, config: {url: 'https://shop.example', connectionId: {$connection: shop}}}]}", "of which eve@example.org is not a member"},
		{"connection for a title", "title: Mine", "title: {$connection: shop}", "blueprints[1].title: must be a string"},
		{"connection for a text", "method: GET", "method: {$connection: shop}", "config.method"},
		{"connection named later", "connections:", "connections:\n  - {name: tools, type: mcp-server, config: {url: 'https://tools.example/', auth: {type: oauth2, connectionId: {$connection: later}}}}", `no connection "later"`},
		{"connection of a connection", "blueprints:", "  - {name: service, type: oauth2, config: {flow: client_credentials, tokenUrl: 'https://in.example/t', clientId: c, clientSecret: s}}\n  - {name: tools, type: mcp-server, config: {url: 'https://tools.example/', auth: {type: oauth2, connectionId: {$connection: service}}}}\nblueprints:", ""},
		{"empty secret of the environment", "${HOOK}", "${EMPTY}", "triggers[0].config.secret: the environment variable EMPTY is set, but empty"},
		{"empty secret", `"${HOOK}"`, `""`, "triggers[0].config.secret: must not be empty"},
		{"user without a name", "{email: grace@example.org, name: Grace}", "{email: grace@example.org}", ""},
		{"empty owner", "owner: grace@example.org", "owner: ''", "owner: is not an email address"},
		{"lists of nothing", "users:", "xusers:", "unknown field"},
		{"unknown type", "type: http,", "type: htp,", "connections[0]"},
		{"no yaml", "users:", "users: [", ":"},
	}
}

type seedCase struct{ name, from, to, want string }

func (c seedCase) text(t *testing.T) string {
	if c.from == "" {
		return wholeSeed
	}
	text := strings.Replace(wholeSeed, c.from, c.to, 1)
	if text == wholeSeed {
		t.Fatal("nothing was changed, want another text than the whole seed")
	}
	return text
}

func TestSeedFiles(t *testing.T) {
	for _, test := range seedCases() {
		t.Run(test.name, func(t *testing.T) {
			text := test.text(t)
			_, document, issues, err := project.ReadSeed("seed.yaml", []byte(text), seedLookup)
			var said []string
			if err != nil {
				said = append(said, err.Error())
			}
			for _, issue := range issues {
				if issue.Severity != "warning" {
					said = append(said, document.Point(issue))
				}
			}
			all := strings.Join(said, "\n")
			if test.want == "" && all != "" || !strings.Contains(all, test.want) {
				t.Errorf("said %q, want %q", all, test.want)
			}
			if strings.Contains(all, "canary") {
				t.Errorf("a secret is revealed: %s, want no \"canary\"", all)
			}
		})
	}
}

func FuzzSeed(f *testing.F) {
	f.Add([]byte(wholeSeed))
	f.Add([]byte(`{"users": [{"email": "a@b", "apiKey": "${WHO}${WHO}"}], "blueprints": [{"title": "x", "blueprint_map": {"nodes": []}, "triggers": [{"triggerType": "slack", "config": null}]}]}`))
	f.Add([]byte(`connections: [{name: x, type: smtp, config: {$connection: x}}]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, document, issues, err := project.ReadSeed("seed.yaml", data, seedLookup)
		if err != nil {
			return
		}
		for _, issue := range issues {
			if text := document.Point(issue); !strings.HasPrefix(text, "seed.yaml:") || slices.Contains(issue.Path, any(nil)) {
				t.Errorf("points at %q", text)
			}
		}
	})
}

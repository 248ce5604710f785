package triggers

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"blueprintd/blueprint"
)

func TestCheck(t *testing.T) {
	cases := []struct {
		kind   blueprint.TriggerType
		config string
		want   string // issues as text, "" for none
	}{
		{"manual", `{}`, ""},
		{"manual", `{"anything": [1]}`, ""},
		{"email", `{}`, ""},
		{"email", `{"allowFrom": ["ada@example.org", "@example.org"], "attachments": "ignore", "address": "x"}`, ""},
		{"email", `{"allowFrom": "ada@example.org"}`, "allowFrom: must be a list of addresses and @domains"},
		{"email", `{"allowFrom": ["example.org", 1, "a@", "a b@c"]}`, "allowFrom[0]: write @example.org for a domain, ada@example.org for an address"},
		{"email", `{"requireAuth": true}`, ""},
		{"email", `{"requireAuth": "yes"}`, "requireAuth: must be true or false"},
		{"email", `{"attachments": "keep"}`, "attachments: must be one of store, ignore"},
		{"webhook", `{}`, ""},
		{"webhook", `{"secret": null, "respond": null, "mine": {}}`, ""},
		{"webhook", `{"secret": "s", "respond": "wait"}`, ""},
		{"webhook", `{"respond": "accept"}`, ""},
		{"webhook", `{"secret": ""}`, "secret: must not be empty"},
		{"webhook", `{"secret": " \t\n"}`, "secret: must not be empty"},
		{"webhook", `{"secret": "\u00a0"}`, "secret: must not be empty"},
		{"webhook", `{"secret": 7}`, "secret: must be a string"},
		{"webhook", `{"secret": false, "respond": "later"}`, "secret: must be a string; respond: must be one of accept, wait"},
		{"webhook", `{"secret": "` + strings.Repeat("x", 1001) + `"}`, "secret: is too long"},
		{"webhook", `{"preset": "github", "secret": "s"}`, ""},
		{"webhook", `{"preset": null}`, ""},
		{"webhook", `{"preset": "github"}`, "secret: required with a preset: what the sender signs with"},
		{"webhook", `{"preset": "stripe", "secret": null}`, "secret: required with a preset"},
		{"webhook", `{"preset": "GitHub", "secret": "s"}`, "preset: must be one of github, slack, standard, stripe"},
		{"webhook", `{"preset": 1, "secret": "s"}`, "preset: must be a string"},
		{"webhook", `{"secret": "s", "previousSecret": "p", "previousSecretUntil": "2026-03-02T09:00:00Z"}`, ""},
		{"webhook", `{"secret": "s", "previousSecretUntil": "2026-03-02T09:00:00.5+02:00"}`, ""},
		{"webhook", `{"secret": "s", "previousSecret": "p"}`, "previousSecretUntil: required with previousSecret: the time until which that is valid"},
		{"webhook", `{"previousSecret": "p", "previousSecretUntil": "2026-03-02T09:00:00Z"}`, "secret: required with previousSecret"},
		{"webhook", `{"secret": "s", "previousSecret": "", "previousSecretUntil": "tomorrow"}`, "previousSecret: must not be empty; leave it out for none; previousSecretUntil: must be a time such as"},
		{"slack", `{}`, ""},
		{"slack", `{"previousSigningSecret": "p", "previousSigningSecretUntil": "2026-03-02T09:00:00Z"}`, "signingSecret: required with previousSigningSecret"},
		{"slack", `{"signingSecret": "s", "previousSigningSecret": "p", "previousSigningSecretUntil": "2026-03-02T09:00:00Z"}`, ""},
		{"slack", `{"signingSecret": "s", "previousSigningSecret": "p"}`, "previousSigningSecretUntil: required"},
		{"slack", `{"signingSecret": "s", "channel": "#general"}`, "channel: must be the id of a channel, such as C0123456789; a name needs connectionId"},
		{"slack", `{"signingSecret": "s", "channel": "2026"}`, "channel: must be the id of a channel"},
		{"slack", `{"signingSecret": "s", "channel": "#general", "connectionId": "11111111-1111-4111-8111-111111111111"}`, ""},
		{"slack", `{"signingSecret": "s", "channel": "a b", "connectionId": "x"}`, "connectionId: must be a UUID; channel: must be the id of a channel, such as C0123456789, or its name"},
		{"slack", `{"signingSecret": "s", "channel": ""}`, "channel: must be the id"},
		{"slack", `{"signingSecret": null}`, ""},
		{"slack", `{"signingSecret": " "}`, "signingSecret: must not be empty"},
		{"slack", `{"signingSecret": ""}`, "signingSecret: must not be empty"},
		{"webhook", `{"preset": "github", "secret": ""}`, "secret: required"},
		{"slack", `{"signingSecret": "s", "channel": "C1", "eventType": "message"}`, ""},
		{"slack", `{"signingSecret": "s", "channel": 1}`, "channel: must be a string"},
		{"event", `{}`, ""},
		{"event", `{"event": null}`, ""},
		{"event", `{"event": ""}`, "event: must be execution.completed"},
		{"event", `{"event": "*"}`, "event: must be execution.completed"},
		{"event", `{"event": "custom.order.paid"}`, ""},
		{"event", `{"event": "custom.x", "blueprintId": "11111111-1111-4111-8111-111111111111"}`, ""},
		{"event", `{"event": "execution.completed"}`, ""},
		{"event", `{"event": "trigger.missed"}`, ""},
		{"event", `{"event": "custom."}`, "event: must be execution.completed, execution.failed, "},
		{"event", `{"event": "custom.a b"}`, "event: must be execution.completed, execution.failed, "},
		{"event", `{"event": "custom.é"}`, "event: must be execution.completed, execution.failed, "},
		{"event", `{"event": "Custom.x"}`, "event: must be execution.completed, execution.failed, "},
		{"event", `{"event": "execution.started"}`, "event: must be execution.completed, execution.failed, "},
		{"event", `{"event": "custom.` + strings.Repeat("x", 200) + `"}`, "event: is too long"},
		{"event", `{"event": ["custom.x"]}`, "event: must be a string"},
		{"event", `{"event": "custom.x", "blueprintId": "x"}`, "blueprintId: must be a UUID"},
		{"api", `{}`, ""},
		{"event", `{"event": "custom.x", "breaker": false}`, ""},
		{"scheduled", `{"cron": "* * * * *", "breaker": "no"}`, "breaker: must be true or false"},
		{"webhook", `{"record": true}`, ""},
		{"manual", `{"record": "yes"}`, "record: must be true or false"},
		{"manual", `{"breaker": 0}`, "breaker: must be true or false"},
		{"api", `{"label": "Orders", "inputSchema": {"type": "object"}}`, ""},
		{"api", `{"inputSchema": true}`, ""},
		{"api", `{"label": "a\u009bb"}`, "label: must be one line without control or invisible characters"},
		{"api", `{"label": 1}`, "label: must be a string"},
		{"api", `{"inputSchema": "x"}`, "inputSchema: must be a JSON Schema (an object)"},
		{"api", `{"inputSchema": {"type": "objekt"}}`, "inputSchema"},
		{"api", `{"inputSchema": {"$ref": "https://example.org/schema"}}`, "inputSchema"},
		{"scheduled", `{}`, "cron: required"},
		{"scheduled", `{"cron": null}`, "cron: required"},
		{"scheduled", `{"cron": 5}`, "cron: must be a string"},
		{"scheduled", `{"cron": ""}`, "cron: is empty"},
		{"scheduled", `{"cron": "0 9 * * 1-5"}`, ""},
		{"scheduled", `{"cron": "@daily", "timezone": "Europe/Berlin", "catchUp": "none", "note": 1}`, ""},
		{"scheduled", `{"cron": "* * * * *", "timezone": null, "catchUp": null}`, ""},
		{"scheduled", `{"cron": "* * * * *", "timezone": ""}`, ""},
		{"scheduled", `{"cron": "70/5 * * * *"}`, "cron: minute: "},
		{"scheduled", `{"cron": "* * * * * *"}`, "cron: has six fields, needs 5"},
		{"scheduled", `{"cron": "* * * * *", "timezone": "Berlin"}`, "timezone: "},
		{"scheduled", `{"cron": "* * * * *", "timezone": 1}`, "timezone: must be a string"},
		{"scheduled", `{"cron": "* * * * *", "catchUp": "some"}`, "catchUp: must be one of latest, all, none"},
		{"scheduled", `{"cron": "* * * * *", "catchUp": true}`, "catchUp: must be a string"},
		{"webhook", `{"secrt": "typo"}`, `secrt: unknown; did you mean "secret"?`},
		{"webhook", `{"Secret": "s"}`, `Secret: unknown; did you mean "secret"?`},
		{"webhook", `{"secert": "s"}`, `secert: unknown; did you mean "secret"?`},
		{"webhook", `{"sceret_": "s"}`, `sceret_: unknown; did you mean "secret"?`},
		{"webhook", `{"previousSecrets": "s", "secrt": null}`, `previousSecrets: unknown; did you mean "previousSecret"?`},
		{"webhook", `{"secret": "s", "previousSecretUtnil": "x"}`, `previousSecretUtnil: unknown; did you mean "previousSecretUntil"?`},
		{"webhook", `{"": 1, "é": 1, "channel": 1, "cron": 1, "respnod": "wait"}`, ""},
		{"webhook", `{"signingSecret": "s"}`, `signingSecret: unknown; the key of a webhook trigger is "secret"`},
		{"webhook", `{"sender": "us"}`, `sender: unknown; a webhook trigger takes none`},
		{"slack", `{"signingsecret": "s"}`, `signingsecret: unknown; did you mean "signingSecret"?`},
		{"scheduled", `{"corn": "* * * * *"}`, `cron: required`},
		{"scheduled", `{"cron": "* * * * *", "catchup": "all"}`, ""},
		{"email", `{"allowedFrom": []}`, `allowedFrom: unknown; did you mean "allowFrom"?`},
		{"api", `{"table": 1, "concurency": {"limit": 1}}`, ""},
		{"manual", `{"braker": false, "breakers": true, "secrt": 1}`, ""},
		{"fax", `{}`, "is not a config of a known trigger type"},
	}
	for _, c := range cases {
		t.Run(fmt.Sprint(c.kind, " ", c.config), func(t *testing.T) {
			value, err := blueprint.Decode([]byte(c.config))
			if err != nil {
				t.Fatal(c.config, err)
			}
			config := value.(map[string]any)
			got := ""
			if issues := Check(c.kind, config); len(issues) > 0 {
				got = blueprint.InvalidInput(issues).Message
			}
			if c.want == "" && got != "" || !strings.HasPrefix(got, c.want) {
				t.Errorf("%s %s: %q, want %q", c.kind, c.config, got, c.want)
			}
		})
	}
}

// A key that is meant to guard a trigger and is not known is refused, in whatever
// way it is written; the message names the right one, or says that there is none.
func TestGuardingKeys(t *testing.T) {
	spellings := func(word string) []string {
		return []string{word, strings.ToUpper(word), "my" + strings.ToUpper(word[:1]) + word[1:], "my_" + word + "_2"}
	}
	right := map[blueprint.TriggerType]map[string]string{
		"webhook": {"secret": "secret", "token": "secret", "hmac": "secret", "signature": "secret", "password": "secret", "auth": "secret", "verify": "secret"},
		"slack": {"secret": "signingSecret", "token": "signingSecret", "hmac": "signingSecret", "signature": "signingSecret", "password": "signingSecret", "auth": "signingSecret",
			"verify": "signingSecret", "filter": "channel", "allow": "channel"},
		"email": {"sender": "allowFrom", "from": "allowFrom", "allow": "allowFrom", "domain": "allowFrom", "filter": "allowFrom", "auth": "requireAuth", "verify": "requireAuth", "signature": "requireAuth"},
		"event": {"filter": "blueprintId", "from": "blueprintId"}, "scheduled": {}, "manual": {}, "api": {},
	}
	for kind, keys := range right {
		t.Run(fmt.Sprint(kind), func(t *testing.T) {
			for _, word := range []string{"secret", "token", "hmac", "signature", "password", "sender", "from", "allow", "domain", "filter", "auth", "verify"} {
				want := "takes none"
				if key := keys[word]; key != "" {
					want = `"` + key + `"`
				}
				for _, name := range spellings(word) {
					if name == "secret" && kind == "webhook" {
						continue
					}
					config := map[string]any{name: "x"}
					if kind == "scheduled" {
						config["cron"] = "@daily"
					}
					if kind == "slack" {
						config["signingSecret"] = "s"
					}
					if _, issues := Settle(kind, nil, config); len(issues) != 1 || issues[0].Path[0] != name || !strings.Contains(issues[0].Message, want) {
						t.Errorf("%s %s: %v, want %s", kind, name, issues, want)
					}
					if said := Warnings(kind, config); said != nil {
						t.Errorf("%s %s: also warned of: %v, want nil", kind, name, said)
					}
				}
			}
		})
	}
}

func TestSettle(t *testing.T) {
	for _, c := range []struct {
		kind           blueprint.TriggerType
		before, change string
		want           string // the config, or issues behind a !
		warnings       string
	}{
		{"slack", "", `{"signing_secret": "s", "event_type": "message", "connection_id": null}`, `{"connectionId":null,"eventType":"message","signingSecret":"s"}`, ""},
		{"email", "", `{"allow_from": ["@example.org"], "require_auth": true}`, `{"allowFrom":["@example.org"],"requireAuth":true}`, ""},
		{"email", "", `{"allow_from": ["example.org"]}`, "!allow_from[0]: write", ""},
		{"scheduled", "", `{"cron": "@daily", "tz": "Europe/Zurich", "catch_up": "none"}`, `{"catchUp":"none","cron":"@daily","timezone":"Europe/Zurich"}`, ""},
		{"scheduled", "", `{"cron": "@daily", "time_zone": "Europe/Zurich"}`, `{"cron":"@daily","timezone":"Europe/Zurich"}`, ""},
		{"scheduled", "", `{"cron": "@daily", "timeZone": "Nowhere"}`, "!timeZone: ", ""},
		{"scheduled", "", `{"cron": "@daily", "tz": "UTC", "timezone": "UTC"}`, "!tz: is another spelling of timezone", ""},
		{"scheduled", "", `{"cron": "@daily", "tz": "UTC", "time_zone": "UTC"}`, "!tz: is another spelling of time_zone", ""},
		{"scheduled", `{"cron":"@daily","timezone":"UTC"}`, `{"tz": null}`, `{"cron":"@daily"}`, ""},
		{"slack", "", `{"signing_secret": "s", "signingSecret": null}`, "!signing_secret: is another spelling", ""},
		{"slack", `{"signingSecret":"s"}`, `{"signing_secret": null, "channel": "C1"}`, `{"channel":"C1","signingSecret":"s"}`, ""},
		{"slack", `{"signingSecret":"s"}`, `{"signing_secret": "t"}`, `{"signingSecret":"t"}`, ""},
		{"webhook", "", `{"secret": ""}`, "!secret: must not be empty", ""},
		{"webhook", `{"secret":"s"}`, `{"secret": ""}`, `{}`, ""},
		{"slack", `{"signingSecret":"s"}`, `{"signing_secret": ""}`, `{}`, ""},
		{"webhook", "", `{"note": 1, "respnod": "wait"}`, `{"note":1,"respnod":"wait"}`,
			`note: unknown key, kept without effect; known keys: secret, previousSecret, previousSecretUntil, respond, preset, form, thanks, label, concurrency, breaker, record; respnod: unknown key, kept without effect; did you mean "respond"?`},
		{"event", "", `{"event_type": "execution.failed"}`, `{"event_type":"execution.failed"}`, `event_type: unknown key, kept without effect; did you mean "event"?`},
		{"manual", "", `null`, `{}`, ""},
	} {
		t.Run(c.before+" "+c.change, func(t *testing.T) {
			read := func(text string) (config map[string]any) {
				if text != "" {
					value, err := blueprint.Decode([]byte(text))
					if err != nil {
						t.Fatal(err)
					}
					config, _ = value.(map[string]any)
				}
				return config
			}
			config, issues := Settle(c.kind, read(c.before), read(c.change))
			if part, refused := strings.CutPrefix(c.want, "!"); refused {
				if len(issues) == 0 || !strings.HasPrefix(blueprint.InvalidInput(issues).Message, part) {
					t.Errorf("%s %s: %v, want %s", c.kind, c.change, issues, part)
				}
				return
			}
			text, _ := blueprint.Encode(config)
			said := ""
			if list := Warnings(c.kind, config); list != nil {
				said = blueprint.InvalidInput(list).Message
			}
			if len(issues) > 0 || string(text) != c.want || said != c.warnings {
				t.Errorf("%s %s: %s, %v, warnings %s; want none, %v and %v", c.kind, c.change, text, issues, said, c.want, c.warnings)
			}
		})
	}
}

func TestPreview(t *testing.T) {
	at := func(text string) time.Time {
		instant, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return instant
	}
	cases := []struct {
		cron, zone string
		count      int
		now        string
		want       string // the ticks, or part of the error
	}{
		{"30 9 * * mon-fri", "", 3, "2026-03-06T09:30:00Z", "2026-03-09T09:30:00.000Z 2026-03-10T09:30:00.000Z 2026-03-11T09:30:00.000Z"},
		{"30 2 * * *", "Europe/Berlin", 3, "2026-03-28T00:00:00Z", "2026-03-28T01:30:00.000Z 2026-03-29T01:00:00.000Z 2026-03-30T00:30:00.000Z"},
		{"30 2 * * *", "Europe/Berlin", 2, "2026-10-24T12:00:00Z", "2026-10-25T00:30:00.000Z 2026-10-26T01:30:00.000Z"},
		{"@yearly", "UTC", 1, "2026-01-01T00:00:00Z", "2027-01-01T00:00:00.000Z"},
		{"* * * * *", "", 0, "2026-01-01T00:00:00Z", "!count: must be"},
		{"* * * * *", "", 101, "2026-01-01T00:00:00Z", "!count: must be"},
		{"x", "Nowhere/At_All", 5, "2026-01-01T00:00:00Z", "!timezone: "},
		{"0 0 30 2 *", "", 5, "2026-01-01T00:00:00Z", "!cron: "},
	}
	for _, c := range cases {
		t.Run(fmt.Sprint(c.cron, " ", c.count), func(t *testing.T) {
			got, err := preview(c.cron, c.zone, c.count, at(c.now))
			if part, bad := strings.CutPrefix(c.want, "!"); bad {
				if blueprint.CodeOf(err) != blueprint.CodeBadRequest || !strings.Contains(err.Error(), part) {
					t.Errorf("%q %s: %v, want %v and %q in it", c.cron, c.zone, err, blueprint.CodeBadRequest, part)
				}
			} else if err != nil || strings.Join(got, " ") != c.want {
				t.Errorf("%q %s: %v %v, want %v", c.cron, c.zone, got, err, c.want)
			}
		})
	}
	if got, _ := preview("* * * * *", "", 100, begin); len(got) != 100 {
		t.Errorf("%d ticks, want 100", len(got))
	}
}

// TestConfigSchemas holds the schemas against the keys that a check knows.
func TestConfigSchemas(t *testing.T) {
	for _, kind := range ConfigSchemas() {
		want := slices.Sorted(slices.Values(blueprint.TriggerConfigKeys(kind.Type)))
		if got := slices.Sorted(maps.Keys(kind.Schema["properties"].(map[string]any))); !slices.Equal(got, want) {
			t.Errorf("%s: the schema has %q, a check knows %q", kind.Type, got, want)
		}
	}
}

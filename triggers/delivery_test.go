package triggers

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
)

func TestRotate(t *testing.T) {
	day := "2026-03-03T09:00:00.000Z"
	for _, c := range []struct {
		name         string
		kind         blueprint.TriggerType
		config       map[string]any
		secret, keep string
		want         map[string]any // SECRET stands for one that was made up
		until, fault string
	}{
		{"a day", "webhook", map[string]any{"secret": "old", "respond": "wait"}, "new", "", map[string]any{"secret": "new", "respond": "wait", "previousSecret": "old", "previousSecretUntil": day}, day, ""},
		{"at once", "webhook", map[string]any{"secret": "old", "previousSecret": "older", "previousSecretUntil": day}, "new", "0s", map[string]any{"secret": "new"}, "", ""},
		{"days", "webhook", map[string]any{"secret": "old", "previousSecret": "older", "previousSecretUntil": day}, "new", "30d",
			map[string]any{"secret": "new", "previousSecret": "old", "previousSecretUntil": "2026-04-01T09:00:00.000Z"}, "2026-04-01T09:00:00.000Z", ""},
		{"minutes", "slack", map[string]any{"signingSecret": "old", "channel": "C1"}, "new", "90m",
			map[string]any{"signingSecret": "new", "channel": "C1", "previousSigningSecret": "old", "previousSigningSecretUntil": "2026-03-02T10:30:00.000Z"}, "2026-03-02T10:30:00.000Z", ""},
		{"the first", "webhook", map[string]any{}, "", "24h", map[string]any{"secret": "SECRET"}, "", ""},
		{"made up for Standard Webhooks", "webhook", map[string]any{"preset": "standard", "secret": "old"}, "", "0s", map[string]any{"preset": "standard", "secret": "SECRET"}, "", ""},
		{"the same", "webhook", map[string]any{"secret": "old"}, "old", "", nil, "", "secret: must differ"},
		{"blank", "slack", map[string]any{"signingSecret": "old"}, " ", "", nil, "", "secret: must not be empty"},
		{"too long a secret", "webhook", nil, strings.Repeat("x", 1001), "", nil, "", "secret: is too long"},
		{"too long a time", "webhook", map[string]any{"secret": "old"}, "new", "31d", nil, "", "keepPreviousFor: must be"},
		{"too long a time in hours", "webhook", map[string]any{"secret": "old"}, "new", "721h", nil, "", "keepPreviousFor: must be"},
		{"backwards", "webhook", map[string]any{"secret": "old"}, "new", "-1s", nil, "", "keepPreviousFor: must be"},
		{"fewer than no days", "webhook", map[string]any{"secret": "old"}, "new", "-1d", nil, "", "keepPreviousFor: must be"},
		{"nonsense", "webhook", map[string]any{"secret": "old"}, "new", "soon", nil, "", "keepPreviousFor: must be"},
		{"without a unit", "webhook", map[string]any{"secret": "old"}, "new", "1", nil, "", "keepPreviousFor: must be"},
		{"another type", "api", map[string]any{"secret": "old"}, "new", "", nil, "", "trigger t is of type api"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newService(newMemory(), clock.NewVirtual(begin))
			trigger := blueprint.Trigger{ID: "t", Type: c.kind, Config: c.config}
			config, made, until, err := s.Rotate(&trigger, c.secret, c.keep)
			if c.fault != "" {
				if blueprint.CodeOf(err) != blueprint.CodeBadRequest || !strings.HasPrefix(err.Error(), c.fault) || strings.Contains(err.Error(), "old") {
					t.Errorf("%v, want %v, %q at the start and no \"old\"", err, blueprint.CodeBadRequest, c.fault)
				}
				return
			}
			if c.secret == "" {
				c.want["secret"] = made
				form := map[any]string{nil: `^[A-Za-z0-9_-]{43}$`, "standard": `^whsec_[A-Za-z0-9+/]{32}$`}[c.config["preset"]]
				if !regexp.MustCompile(form).MatchString(made) {
					t.Errorf("%q", made)
				}
			} else if made != c.secret {
				t.Errorf("%q, want %v", made, c.secret)
			}
			if err != nil || !blueprint.Equal(config, c.want) || until.String() != c.until {
				t.Errorf("%v %v %v, want %v and %v", config, until, err, c.want, c.until)
			}
		})
	}
}

// The previous secret is valid until its end, and the sender can see which of the two
// secrets it used.
func TestRotatedSecretDies(t *testing.T) {
	m := newMemory()
	v := clock.NewVirtual(begin)
	s := newService(m, v)
	id := m.trigger(blueprint.TriggerWebhook, map[string]any{"secret": "old"}, begin)
	config, made, _, err := s.Rotate(&m.bindings[id].Trigger, "", "1h")
	if err != nil {
		t.Fatal(err)
	}
	m.change(id, func(b *blueprint.Binding) { b.Trigger.Config = config })
	for _, step := range []struct {
		after  time.Duration
		secret string
		status int
	}{{0, "old", 202}, {0, made, 202}, {time.Hour - time.Millisecond, "old", 202}, {time.Hour, "old", 401}, {time.Hour, made, 202}} {
		if err := v.Advance(t.Context(), begin.Add(step.after)); err != nil {
			t.Fatal(err)
		}
		if w := deliver(s, id, delivery{body: "{}", headers: []string{"X-Signature: " + hexMAC(step.secret, "{}")}}); w.Code != step.status {
			t.Errorf("after %s: %d %s, want %v", step.after, w.Code, w.Body, step.status)
		}
	}
}

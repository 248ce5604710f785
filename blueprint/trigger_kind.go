package blueprint

import (
	"slices"
	"strings"
)

// TriggerType is what starts a run.
type TriggerType string

// The trigger types.
const (
	TriggerManual    TriggerType = "manual"
	TriggerScheduled TriggerType = "scheduled"
	TriggerWebhook   TriggerType = "webhook"
	TriggerEmail     TriggerType = "email"
	TriggerSlack     TriggerType = "slack"
	TriggerEvent     TriggerType = "event"
	TriggerAPI       TriggerType = "api"
)

// Source is where a firing came from.
type Source string

// The sources of firings.
const (
	SourceSchedule   Source = "schedule"
	SourceWebhook    Source = "webhook"
	SourceAPI        Source = "api"
	SourceManual     Source = "manual"
	SourceEmail      Source = "email"
	SourceSlack      Source = "slack"
	SourceEvent      Source = "event"
	SourceRedelivery Source = "redelivery"
)

// Sources returns all sources, in the order in which documentation lists them.
func Sources() []Source {
	return []Source{SourceSchedule, SourceWebhook, SourceAPI, SourceManual, SourceEmail, SourceSlack, SourceEvent, SourceRedelivery}
}

// TriggerKind holds what every package needs to know of a trigger type: what is
// stored, redacted and addressed. Package triggers adds to each kind the struct of
// its config, its rules and its documentation.
type TriggerKind struct {
	Type   TriggerType
	Source Source // of its regular firings

	// Path is its route on the server, with {triggerId} for the id; "" without one.
	Path string
	// Mailbox reports that it has a mail address, which the server chooses and
	// shows as config.address.
	Mailbox bool

	// Keys are the config keys that it has besides those of every trigger. A value
	// under any other key may be a secret.
	Keys []string
	// Secrets are those of Keys by which its senders prove who they are; empty when
	// none do.
	Secrets TriggerSecrets
	// Open reports whether a config lets strangers start runs, who need to know
	// nothing but the address; nil is never.
	Open func(config map[string]any) bool
}

// TriggerSecrets are config keys: of the secret, of the one before it, and of the
// time until which that is valid.
type TriggerSecrets struct{ Secret, Previous, Until string }

// triggerKinds are all kinds, in the order in which documentation lists them.
var triggerKinds = []TriggerKind{
	{Type: TriggerManual, Source: SourceManual},
	{Type: TriggerScheduled, Source: SourceSchedule, Keys: []string{"cron", "timezone", "catchUp"}},
	{
		Type: TriggerWebhook, Source: SourceWebhook, Path: "/webhooks/blueprint/{triggerId}",
		Keys:    []string{"secret", "previousSecret", "previousSecretUntil", "respond", "preset"},
		Secrets: TriggerSecrets{"secret", "previousSecret", "previousSecretUntil"},
		Open:    func(config map[string]any) bool { return config["secret"] == nil },
	},
	{
		// Mail is anybody's unless its sender must be on a list and prove it.
		Type: TriggerEmail, Source: SourceEmail, Mailbox: true, Keys: []string{"allowFrom", "attachments", "requireAuth", "address"},
		Open: func(config map[string]any) bool { return config["requireAuth"] != true || config["allowFrom"] == nil },
	},
	{
		Type: TriggerSlack, Source: SourceSlack, Path: "/webhooks/slack/{triggerId}",
		Keys:    []string{"signingSecret", "previousSigningSecret", "previousSigningSecretUntil", "eventType", "connectionId", "channel"},
		Secrets: TriggerSecrets{"signingSecret", "previousSigningSecret", "previousSigningSecretUntil"},
	},
	{Type: TriggerEvent, Source: SourceEvent, Keys: []string{"event", "blueprintId"}},
	{Type: TriggerAPI, Source: SourceAPI, Path: "/v1/triggers/{triggerId}/fire", Keys: []string{"label", "inputSchema"}},
}

// TriggerKinds returns all kinds, in the order in which documentation lists them.
func TriggerKinds() []TriggerKind { return slices.Clone(triggerKinds) }

// TriggerTypes returns the types of all kinds as text.
func TriggerTypes() []string {
	types := make([]string, len(triggerKinds))
	for i, kind := range triggerKinds {
		types[i] = string(kind.Type)
	}
	return types
}

// KindOf returns the kind of a trigger type; the zero kind, whose Type is "", when
// there is no such type.
func KindOf(of TriggerType) TriggerKind {
	for _, kind := range triggerKinds {
		if kind.Type == of {
			return kind
		}
	}
	return TriggerKind{}
}

// PathTo returns the path of the trigger with an id, "" when the kind has none.
func (k TriggerKind) PathTo(id string) string { return strings.Replace(k.Path, "{triggerId}", id, 1) }

// IsSigned reports whether senders prove who they are with a secret of the config.
func (k TriggerKind) IsSigned() bool { return k.Secrets.Secret != "" }

// Address returns where the trigger is reached from outside: its URL on host, or its
// mail address; "" when it has neither.
func (t *Trigger) Address(host string) string {
	kind := KindOf(t.Type)
	if kind.Path != "" {
		return host + kind.PathTo(t.ID)
	}
	if !kind.Mailbox {
		return ""
	}
	address, _ := t.Config["address"].(string)
	return address
}

// IsOpen reports whether strangers can start runs, who need to know nothing but the
// address.
func (t *Trigger) IsOpen() bool {
	kind := KindOf(t.Type)
	return kind.Open != nil && kind.Open(t.Config)
}

// SecretTriggerConfig are the config keys that only managers may read.
var SecretTriggerConfig = secretTriggerConfig()

func secretTriggerConfig() (keys []string) {
	var previous []string
	for _, kind := range triggerKinds {
		if kind.IsSigned() {
			keys, previous = append(keys, kind.Secrets.Secret), append(previous, kind.Secrets.Previous)
		}
	}
	return append(keys, previous...)
}

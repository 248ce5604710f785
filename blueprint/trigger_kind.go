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

// Source is the origin of a firing.
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

// TriggerKind defines a trigger type for all packages. Package triggers adds the config,
// its rules and its documentation.
type TriggerKind struct {
	Type   TriggerType
	Source Source // of its regular firings

	// Path is its route on the server, with {triggerId} for the id; "" without one.
	Path string
	// Mailbox reports that it has a mail address, config.address, which the server
	// chooses.
	Mailbox bool

	// Keys are its config keys besides common ones. Other keys may hold secrets.
	Keys []string
	// Secrets are the Keys that authenticate senders; may be empty.
	Secrets TriggerSecrets
	// Open reports whether anyone who knows the address can start runs; nil = never.
	Open func(config map[string]any) bool
}

// TriggerSecrets are the config keys of the secrets and of the end of the previous one.
type TriggerSecrets struct{ Secret, Previous, Until string }

// triggerKinds are in the order of the documentation.
var triggerKinds = []TriggerKind{
	{Type: TriggerManual, Source: SourceManual},
	{Type: TriggerScheduled, Source: SourceSchedule, Keys: []string{"cron", "timezone", "catchUp"}},
	{
		Type: TriggerWebhook, Source: SourceWebhook, Path: "/webhooks/blueprint/{triggerId}",
		Keys:    []string{"secret", "previousSecret", "previousSecretUntil", "respond", "preset", "form", "thanks"},
		Secrets: TriggerSecrets{"secret", "previousSecret", "previousSecretUntil"},
		Open:    func(config map[string]any) bool { return config["secret"] == nil },
	},
	{
		// Anyone can send mail unless senders are listed and authenticated.
		Type: TriggerEmail, Source: SourceEmail, Mailbox: true, Keys: []string{"allowFrom", "attachments", "requireAuth", "address"},
		Open: func(config map[string]any) bool { return config["requireAuth"] != true || config["allowFrom"] == nil },
	},
	{
		Type: TriggerSlack, Source: SourceSlack, Path: "/webhooks/slack/{triggerId}",
		Keys:    []string{"signingSecret", "previousSigningSecret", "previousSigningSecretUntil", "eventType", "connectionId", "channel"},
		Secrets: TriggerSecrets{"signingSecret", "previousSigningSecret", "previousSigningSecretUntil"},
	},
	{Type: TriggerEvent, Source: SourceEvent, Keys: []string{"event", "blueprintId"}},
	{Type: TriggerAPI, Source: SourceAPI, Path: "/v1/triggers/{triggerId}/fire", Keys: []string{"inputSchema"}},
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

// KindOf returns the kind of a trigger type, the zero kind for an unknown one.
func KindOf(of TriggerType) TriggerKind {
	for _, kind := range triggerKinds {
		if kind.Type == of {
			return kind
		}
	}
	return TriggerKind{}
}

// PathTo returns the path of a trigger, "" without one.
func (k TriggerKind) PathTo(id string) string { return strings.Replace(k.Path, "{triggerId}", id, 1) }

// IsSigned reports whether the type has a secret that authenticates senders.
func (k TriggerKind) IsSigned() bool { return k.Secrets.Secret != "" }

// Address returns the URL of the trigger on host, or its mail address, or "".
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

// IsOpen reports whether anyone who knows the address can start runs.
func (t *Trigger) IsOpen() bool {
	kind := KindOf(t.Type)
	return kind.Open != nil && kind.Open(t.Config)
}

// SecretTriggerConfig are the secret config keys of all types.
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

package blueprint

import "strings"

// Event is delivered to the triggers of the organization that subscribe to its name.
type Event struct {
	Name           string // such as "custom.order-paid"
	OrganizationID string
	BlueprintID    string // of the run that published it
	ExecutionID    string
	// Key is the same for every attempt to publish the event, so that a trigger starts
	// at most one run for it.
	Key string
	// Data is a plain JSON value, or a json.Marshaler that computes it when needed.
	Data any
	// Hidden are secrets in Data, which runs with the event mask.
	Hidden []string
	Depth  int // events that led to the run that published it
	// Root is the key of the first of these events; "" = this one is the first.
	Root string
	At   Time
}

// OutboxEvent is an event that has not been delivered to all subscribed triggers.
type OutboxEvent struct {
	Event
	Seq int64 // ascending in the order of events
}

// The events of the service, each published in the transaction of its cause.
const (
	EventExecutionCompleted = "execution.completed"
	EventExecutionFailed    = "execution.failed"
	EventExecutionPaused    = "execution.paused"
	EventBlueprintCreated   = "blueprint.created"
	EventBlueprintUpdated   = "blueprint.updated"
	EventBlueprintPublished = "blueprint.published"
	EventTriggerMissed      = "trigger.missed" // a due tick started no run
)

// ServiceEvents lists the events of the service in the order of the documentation.
var ServiceEvents = []string{
	EventExecutionCompleted, EventExecutionFailed, EventExecutionPaused, EventBlueprintCreated, EventBlueprintUpdated, EventBlueprintPublished, EventTriggerMissed,
}

// customEvents is the prefix of events that blueprints publish.
const customEvents = "custom."

// MaxEventName is the maximum length of an event's name in bytes.
const MaxEventName = 200

// MaxEventDepth is the maximum length of a chain of events.
const MaxEventDepth = 16

// MaxEventRuns is how many runs an event may cause, directly and by further events.
const MaxEventRuns = 1000

// IsCustomEvent reports whether a blueprint may publish an event of this name: custom.
// followed by letters, digits, "_", "." and "-".
func IsCustomEvent(name string) bool {
	rest, custom := strings.CutPrefix(name, customEvents)
	return custom && rest != "" && len(name) <= MaxEventName && !strings.ContainsFunc(rest, func(c rune) bool {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		return !letter && !strings.ContainsRune("_.-", c)
	})
}

// AnyEvent is the stored name of a subscription to all events but custom ones.
const AnyEvent = "*"

// ListensTo returns the subscription of an event trigger: AnyEvent if its config names
// no event, "" for a trigger of another type.
func (t *Trigger) ListensTo() string {
	switch event, named := t.Config["event"].(string); {
	case t.Type != TriggerEvent:
		return ""
	case named:
		return event
	case t.Config["event"] == nil:
		return AnyEvent
	}
	return ""
}

// MatchesEvent reports whether an event trigger listens to an event of that name.
func (t *Trigger) MatchesEvent(name string) bool {
	to := t.ListensTo()
	return to == name || to == AnyEvent && !IsCustomEvent(name)
}

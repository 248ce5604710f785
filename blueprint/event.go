package blueprint

import "strings"

// Event is something that happened, for the triggers that listen to its name
// within the organization.
type Event struct {
	Name           string // such as "custom.order-paid"
	OrganizationID string
	BlueprintID    string // of the run that raised it
	ExecutionID    string
	// Key is the same for every attempt to raise this event, so that a trigger
	// starts at most one run for it.
	Key string
	// Data is a plain JSON value; where an event is raised together with what
	// made it true, also a json.Marshaler that works it out once it is needed.
	Data any
	// Hidden are secrets that Data may hold: a run that is given it masks them
	// wherever it is shown.
	Hidden []string
	Depth  int // how many events led to the run that raised it
	// Root is the key of the first of these events; "" when there is none, and
	// this one is the first.
	Root string
	At   Time
}

// OutboxEvent is an event that waits until every trigger that listens to it has
// been told.
type OutboxEvent struct {
	Event
	Seq int64 // its place: later ones have higher numbers while it is there
}

// The events that the service itself raises, each in the transaction that
// makes it true.
const (
	EventExecutionCompleted = "execution.completed"
	EventExecutionFailed    = "execution.failed"
	EventExecutionPaused    = "execution.paused"
	EventBlueprintCreated   = "blueprint.created"
	EventBlueprintUpdated   = "blueprint.updated"
	EventBlueprintPublished = "blueprint.published"
	EventTriggerMissed      = "trigger.missed" // a tick was due, and no run was started for it
)

// ServiceEvents lists them, in the order in which people are told of them.
var ServiceEvents = []string{
	EventExecutionCompleted, EventExecutionFailed, EventExecutionPaused, EventBlueprintCreated, EventBlueprintUpdated, EventBlueprintPublished, EventTriggerMissed,
}

// customEvents begins the name of every event that blueprints raise.
const customEvents = "custom."

// MaxEventName is the length of an event's name in bytes.
const MaxEventName = 200

// MaxEventDepth is how many events may lead to a run, one caused by the other.
const MaxEventDepth = 16

// MaxEventRuns is how many runs one event may lead to, together with the events
// that these runs cause, and so on.
const MaxEventRuns = 1000

// IsCustomEvent reports whether a name is one that a blueprint may raise: custom.
// and then letters, digits, "_", "." and "-".
func IsCustomEvent(name string) bool {
	rest, custom := strings.CutPrefix(name, customEvents)
	return custom && rest != "" && len(name) <= MaxEventName && !strings.ContainsFunc(rest, func(c rune) bool {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		return !letter && !strings.ContainsRune("_.-", c)
	})
}

// AnyEvent stands for every event but custom ones, where a name is stored.
const AnyEvent = "*"

// ListensTo returns the event that an event trigger listens to: AnyEvent when its
// config names none, "" for a trigger of another type.
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

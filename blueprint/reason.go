package blueprint

import (
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"
)

// ReasonCode is the code of a Reason.
type ReasonCode string

// The reasons by decision, with their parameters.
const (
	ReasonOnTime         ReasonCode = "on_time"
	ReasonCaughtUp       ReasonCode = "caught_up" // lateMs
	ReasonSigned         ReasonCode = "signed"
	ReasonSignedPrevious ReasonCode = "signed_previous" // with the secret before this one
	ReasonUnsigned       ReasonCode = "unsigned"        // the trigger has no secret
	ReasonCalled         ReasonCode = "called"
	ReasonManual         ReasonCode = "by_hand"
	ReasonEvent          ReasonCode = "heard" // event
	ReasonMail           ReasonCode = "mail"  // from

	ReasonDuplicate     ReasonCode = "duplicate"      // executionId, firingId
	ReasonDuplicateTick ReasonCode = "duplicate_tick" // executionId

	ReasonLimit         ReasonCode = "limit"             // limit, running, executionId: the oldest unfinished run, "" = not shown
	ReasonMissed        ReasonCode = "missed"            // count, first, last: not caught up
	ReasonCoalesced     ReasonCode = "stands_in"         // count, first, last, tick: the one that runs instead
	ReasonCoalescedLost ReasonCode = "stand_in_lost"     // count, first, last, tick, decision, code, params: why the tick did not run
	ReasonEventType     ReasonCode = "filter_event_type" // got, wanted
	ReasonChannel       ReasonCode = "filter_channel"    // got, name, wanted
	ReasonOfBlueprint   ReasonCode = "filter_blueprint"  // got, wanted
	ReasonAllowFrom     ReasonCode = "filter_allow_from" // address, "" = the mail has none
	ReasonRequireAuth   ReasonCode = "filter_auth"       // repeated: a header; results
	ReasonSlackCheck    ReasonCode = "slack_check"
	ReasonSlackLimited  ReasonCode = "slack_limited"
	ReasonSlackOther    ReasonCode = "slack_other" // type
	ReasonOwnRun        ReasonCode = "own_run"

	ReasonBreaker        ReasonCode = "breaker" // failures, executionId, retries: a row that records that the breaker paused the trigger
	ReasonInactive       ReasonCode = "off"     // the trigger is not active
	ReasonTripped        ReasonCode = "tripped" // failures, executionId, retries: paused by the breaker before
	ReasonLostAccess     ReasonCode = "lost_access"
	ReasonOtherAddress   ReasonCode = "other_address" // type, triggerId
	ReasonTooLarge       ReasonCode = "too_large"     // message
	ReasonMailTooLarge   ReasonCode = "mail_too_large"
	ReasonKeyReused      ReasonCode = "key_reused"
	ReasonSchemaUnusable ReasonCode = "schema_unusable"
	ReasonInput          ReasonCode = "input" // violates config.inputSchema
	ReasonSecretUnusable ReasonCode = "secret_unusable"
	ReasonPresetUnknown  ReasonCode = "preset_unknown"
	ReasonSignature      ReasonCode = "signature"
	ReasonBody           ReasonCode = "body"        // not a body that the endpoint accepts
	ReasonEventDepth     ReasonCode = "chain"       // depth
	ReasonEventRuns      ReasonCode = "led_to_many" // event
	ReasonNoConnection   ReasonCode = "no_connection"
	ReasonQueueFull      ReasonCode = "queue_full"
	ReasonMany           ReasonCode = "many"    // count; code and params of the last
	ReasonMessage        ReasonCode = "message" // any other; message
)

// Reason is why a firing was decided as it was. String formats it.
type Reason struct {
	Code ReasonCode
	// Params are plain JSON values: strings, json.Number, bool and objects of them.
	// Any reason may also have "again", the redelivered firing, and "letIn" if the
	// delivery switched its trigger on.
	Params map[string]any
}

// NewReason returns a reason; params are alternating names and values.
func NewReason(code ReasonCode, params ...any) Reason {
	r := Reason{Code: code}
	for i := 0; i+1 < len(params); i += 2 {
		r = r.With(params[i].(string), params[i+1])
	}
	return r
}

// MessageReason returns a reason whose sentence is message.
func MessageReason(code ReasonCode, message string) Reason {
	return NewReason(code, "message", Shorten(message, maxReason))
}

// With returns the reason with a further parameter.
func (r Reason) With(name string, value any) Reason {
	params := make(map[string]any, len(r.Params)+1)
	maps.Copy(params, r.Params)
	switch number := value.(type) {
	case int:
		value = json.Number(strconv.Itoa(number))
	case int64:
		value = json.Number(strconv.FormatInt(number, 10))
	case Time:
		value = number.String()
	}
	params[name] = value
	return Reason{r.Code, params}
}

// WithInner returns the reason with another one as a parameter.
func (r Reason) WithInner(inner Reason) Reason {
	r = r.With("code", string(inner.Code))
	if len(inner.Params) > 0 {
		r = r.With("params", inner.Params)
	}
	return r
}

// Inner returns the reason of WithInner.
func (r Reason) Inner() Reason {
	params, _ := r.Params["params"].(map[string]any)
	return Reason{ReasonCode(r.Text("code")), params}
}

// Text returns a string parameter, "" for other types.
func (r Reason) Text(name string) string {
	text, _ := r.Params[name].(string)
	return text
}

// Int returns an integer parameter, 0 for other types.
func (r Reason) Int(name string) int {
	number, _ := r.Params[name].(json.Number)
	n, _ := strconv.Atoi(number.String())
	return n
}

// At returns a time parameter, 0 for other types.
func (r Reason) At(name string) Time {
	at, err := time.Parse(time.RFC3339, r.Text(name))
	if err != nil {
		return 0
	}
	return TimeOf(at)
}

// maxReason bounds the sentence of a reason, in bytes.
const maxReason = 300

// String returns the sentence of the reason, at most maxReason bytes.
func (r Reason) String() string {
	text := r.sentence()
	if r.Params["letIn"] == true {
		text = "accepted after a pause of " + InWords(BreakerPause) + ": " + text
	}
	if again := r.Text("again"); again != "" {
		if text != "" {
			text = ": " + text
		}
		text = "firing " + again + " again" + text
	}
	return Shorten(text, maxReason)
}

// sentences are those of codes without parameters.
var sentences = map[ReasonCode]string{
	ReasonOnTime: "on time", ReasonSigned: "the signature is valid", ReasonSignedPrevious: "the signature is valid (previous secret)",
	ReasonUnsigned: "the trigger has no secret, so the signature was not checked", ReasonCalled: "called through the API", ReasonManual: "fired manually",
	ReasonSlackCheck:   "answered the URL verification of Slack",
	ReasonSlackLimited: "Slack is rate-limiting this app (app_rate_limited): events of that minute are lost",
	ReasonOwnRun:       "a blueprint does not receive events of its own executions", ReasonInactive: "the trigger is not active",
	ReasonLostAccess: "the trigger's creator can no longer manage the blueprint",
}

func (r Reason) sentence() string {
	if text := sentences[r.Code]; text != "" {
		return text
	}
	switch r.Code {
	case ReasonCaughtUp:
		return "caught up " + InWords(time.Duration(r.Int("lateMs"))*time.Millisecond) + " after it was due"
	case ReasonEvent:
		return "received event " + r.Text("event")
	case ReasonMail:
		return "a mail from " + r.Text("from")
	case ReasonDuplicate:
		return "this key started " + r.Text("executionId") + " before, with firing " + r.Text("firingId")
	case ReasonDuplicateTick:
		return "this tick started " + r.Text("executionId") + " before"
	case ReasonLimit:
		full := ConcurrencyLimitError{Limit: r.Int("limit"), Running: r.Int("running"), Oldest: r.Text("executionId")}
		return full.sentence()
	case ReasonMissed:
		return r.missed() + `; catchUp is "none"`
	case ReasonCoalesced:
		return r.missed() + "; the tick of " + r.Text("tick") + " runs instead"
	case ReasonCoalescedLost:
		return fmt.Sprintf("%s; the tick of %s that should run instead was %s: %s", r.missed(), r.Text("tick"), r.Text("decision"), r.Inner())
	case ReasonEventType:
		return fmt.Sprintf("the event has type %q; the trigger listens to %q", r.Text("got"), r.Text("wanted"))
	case ReasonChannel:
		switch got, name := r.Text("got"), r.Text("name"); {
		case got == "":
			return fmt.Sprintf("the event has no channel; the trigger listens to %q", r.Text("wanted"))
		case r.Params["name"] != nil:
			return fmt.Sprintf("the event is from channel %q, named %q; the trigger listens to %q", got, name, r.Text("wanted"))
		default:
			return fmt.Sprintf("the event is from channel %q; the trigger listens to %q", got, r.Text("wanted"))
		}
	case ReasonOfBlueprint:
		return "the event is from blueprint " + r.Text("got") + "; the trigger listens to " + r.Text("wanted")
	case ReasonAllowFrom:
		if address := r.Text("address"); address != "" {
			return "allowFrom: " + address + " is not on the list"
		}
		return "allowFrom: the mail has no sender"
	case ReasonRequireAuth:
		if header := r.Text("repeated"); header != "" {
			return "requireAuth: the mail has the header " + header + " several times, so its sender is ambiguous"
		}
		return "requireAuth: the domain of the sender does not authenticate the mail (" + r.Text("results") + ")"
	case ReasonSlackOther:
		return fmt.Sprintf("deliveries of type %q are not events", r.Text("type"))
	case ReasonBreaker:
		cure := "; fix the cause, then activate it with isActive: true (config.breaker: false disables the breaker)"
		if r.Params["retries"] == true {
			cure = "; fix the cause; isActive: true activates it at once"
		}
		return "the server paused the trigger: " + r.trip().String() + cure
	case ReasonTripped:
		return "the server paused the trigger: " + r.trip().String()
	case ReasonOtherAddress:
		text := "the trigger is of type " + r.Text("type")
		if address := r.Address(); address != "" {
			return text + "; its address is " + address
		}
		return text + " and has no such address"
	case ReasonEventDepth:
		return fmt.Sprintf("stopped: a chain of %d events (the maximum is %d), probably blueprints that start each other", r.Int("depth"), MaxEventDepth)
	case ReasonEventRuns:
		return fmt.Sprintf("the event %s led to %d runs, directly and through further events, which is the maximum; later refusals for this trigger are not recorded", r.Text("event"), MaxEventRuns)
	case ReasonMany:
		return fmt.Sprintf("%d more deliveries started no run and have no rows of their own; the last: %s", r.Int("count"), r.Inner())
	}
	return r.Text("message")
}

// missed describes the missed ticks.
func (r Reason) missed() string {
	if r.Int("count") == 1 {
		return "the tick of " + r.Text("first") + " was missed"
	}
	return fmt.Sprintf("%d ticks from %s to %s were missed", r.Int("count"), r.Text("first"), r.Text("last"))
}

// Address returns the right address for ReasonOtherAddress; "" without one.
func (r Reason) Address() string {
	kind := KindOf(TriggerType(r.Text("type")))
	if !kind.IsSigned() {
		return ""
	}
	return kind.PathTo(r.Text("triggerId"))
}

func (r Reason) trip() *Trip {
	return &Trip{Failures: r.Int("failures"), ExecutionID: r.Text("executionId"), Retries: r.Params["retries"] == true}
}

// Trip is why the breaker switched a trigger off.
type Trip struct {
	Failures    int    // consecutive failed runs
	ExecutionID string // the last of them
	Retries     bool   // a delivery after BreakerPause switches it on again
}

// Because returns the reason of a trip.
func (p *Trip) Because(code ReasonCode) Reason {
	r := NewReason(code, "failures", p.Failures, "executionId", p.ExecutionID)
	if p.Retries {
		r = r.With("retries", true)
	}
	return r
}

// Short describes the failures.
func (p *Trip) Short() string {
	return fmt.Sprintf("%d runs in a row failed, the last of them %s", p.Failures, p.ExecutionID)
}

// String describes the failures and whether the trigger is switched on again; "" for nil.
func (p *Trip) String() string {
	switch {
	case p == nil:
		return ""
	case p.Retries:
		return p.Short() + "; a delivery after " + InWords(BreakerPause) + " tries again (to prevent such pauses, set a secret, requireAuth with allowFrom, or breaker: false)"
	}
	return p.Short()
}

// InWords formats a duration to the second, such as "2 h 30 min".
func InWords(d time.Duration) string {
	seconds := int(d.Abs().Round(time.Second) / time.Second)
	h, m, s := seconds/3600, seconds/60%60, seconds%60
	switch {
	case h == 0 && m == 0:
		return Counted(s, "second")
	case h == 0 && s == 0:
		return Counted(m, "minute")
	case h == 0:
		return fmt.Sprintf("%d min %d s", m, s)
	case m == 0 && s == 0 && h%24 == 0:
		return Counted(h/24, "day")
	case h >= 24:
		return fmt.Sprintf("%s %d h", Counted(h/24, "day"), h%24)
	case m == 0 && s == 0:
		return Counted(h, "hour")
	}
	return fmt.Sprintf("%d h %d min", h, m)
}

// WithArticle returns the word after "a" or "an".
func WithArticle(word string) string {
	if word != "" && strings.Contains("aeiou", word[:1]) {
		return "an " + word
	}
	return "a " + word
}

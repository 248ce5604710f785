package explain

import (
	"bytes"
	"cmp"
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	hashing "hash"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/triggers/signature"
)

// advice determines what to do about a firing. The reason in the row takes precedence over
// the current state of the trigger.
type advice struct {
	story  *blueprint.FiringStory
	causes []cause
	words  phrase
}

// again returns how to redeliver the firing.
func (a *advice) again() string {
	return a.on() + `blueprintTriggers.redeliver {firingId: "` + a.story.Firing.ID + `"}`
}

// fire returns how to run the body manually.
func (a *advice) fire() string { return a.on() + "blueprintTriggers.fire with its body runs it" }

// on is a prefix for advice that requires an active trigger.
func (a *advice) on() string {
	if a.story.Trigger.IsActive {
		return ""
	}
	return "switch the trigger on (isActive: true), then "
}

// next returns the advice, "" for none.
func (a *advice) next() string {
	firing := &a.story.Firing
	if firing.Why.Code == blueprint.ReasonBreaker {
		return whenTripped(&a.story.Trigger, firing.Why.Text("executionId"))
	}
	if done := a.ranAgain(); done != "" {
		return done
	}
	first := firing.RedeliveryOf()
	switch {
	case firing.Decision == blueprint.DecisionStarted:
		return a.ofRun()
	case firing.Decision == blueprint.DecisionDuplicate:
		return "nothing: a sender that repeats a delivery gets this response; blueprintTriggers.redeliver runs it again anyway"
	case firing.Decision == blueprint.DecisionCoalesced:
		return `nothing: a later tick covers it; config.catchUp "all" runs each missed tick`
	case first != "":
		return "call blueprintTriggers.explain for firing " + first + ", which has the delivery"
	case firing.Decision == blueprint.DecisionSkipped:
		return a.ofSkipped()
	case len(a.causes) > 0:
		return a.causes[0].next(a)
	}
	return a.ofRefused()
}

// ranAgain returns advice about a successful or running redelivery, "" if there is none.
func (a *advice) ranAgain() string {
	if run := a.story.Run; a.story.Firing.Decision == blueprint.DecisionStarted && (run == nil || run.Status != blueprint.StatusFailed) {
		return ""
	}
	for _, again := range a.story.Redeliveries {
		if again.Decision != blueprint.DecisionStarted {
			continue
		}
		switch again.Status {
		case blueprint.StatusCompleted, blueprint.StatusNotFound:
			return "done: firing " + again.FiringID + " ran it again (completed)"
		case blueprint.StatusPaused:
			return "firing " + again.FiringID + " runs it again, and is paused: execution.resume answers that run"
		case blueprint.StatusRunning:
			return "nothing: firing " + again.FiringID + " runs it again (not ended yet)"
		}
	}
	return ""
}

// ofRun returns advice about a started run.
func (a *advice) ofRun() string {
	run := a.story.Run
	switch {
	case run == nil:
		return ""
	case run.Displaced:
		return "nothing: a newer run replaced it, as config.concurrency says"
	case run.Status == blueprint.StatusFailed:
		return "execution.retry continues where the run failed; blueprintTriggers.redeliver runs the same input again from the beginning"
	}
	if _, next := a.words.blocked(a.story); next != "" {
		return next
	}
	if run.Status == blueprint.StatusPaused {
		return "execution.resume answers the run"
	}
	return ""
}

// whenTripped returns advice about a trigger that the breaker paused.
func whenTripped(trigger *blueprint.Trigger, last string) string {
	text := "fix the cause"
	if last != "" {
		text += " (last: " + last + ")"
	}
	if !trigger.IsActive {
		text += ", activate it with isActive: true"
	}
	return text + `, then blueprintTriggers.redeliver {triggerId: "` + trigger.ID + `", executionStatus: "failed", from: TIME} runs what failed since TIME`
}

// notReceived reports whether a mail was refused before it was received.
func notReceived(firing *blueprint.Firing) bool {
	d := firing.Delivery
	return d != nil && firing.Decision == blueprint.DecisionRefused && firing.Source == blueprint.SourceEmail && (d.Facts["received"] == false || d.Size == 0)
}

// filters maps the reasons of filters to their config keys.
var filters = map[blueprint.ReasonCode]string{
	blueprint.ReasonEventType: "eventType", blueprint.ReasonChannel: "channel", blueprint.ReasonOfBlueprint: "blueprintId",
	blueprint.ReasonAllowFrom: "allowFrom", blueprint.ReasonRequireAuth: "requireAuth",
}

// ofSkipped returns advice about a firing that a filter, limit or catch-up rule skipped.
func (a *advice) ofSkipped() string {
	why := a.story.Firing.Why
	if key := filters[why.Code]; key != "" {
		return "nothing: config." + key + " filters it out (after a change, " + a.again() + " evaluates it again)"
	}
	switch why.Code {
	case blueprint.ReasonLimit:
		busy := why.Text("executionId")
		busy = cmp.Or(busy, "a run of the trigger")
		return a.again() + " runs this one when " + busy + " has ended"
	case blueprint.ReasonMissed:
		return `config.catchUp "latest" or "all" runs missed ticks; ` + a.again() + " runs this one"
	case blueprint.ReasonSlackCheck:
		return "nothing: that was Slack's check of the address, and it was answered"
	case blueprint.ReasonSlackLimited:
		return "those events are lost; let the app subscribe to fewer"
	case blueprint.ReasonSlackOther:
		return "nothing: it is not an event"
	case blueprint.ReasonOwnRun:
		return "nothing: otherwise it would start itself endlessly"
	}
	return "once the filter is changed, " + a.again() + " evaluates it again"
}

const endChain = "find the blueprints that start each other and end the chain (config.blueprintId, or a condition)"

// refusedAdvice is the advice for reasons of refusal. It replaces AGAIN with how to
// redeliver the firing and SECRET with the config key of the secret.
var refusedAdvice = map[blueprint.ReasonCode]string{
	blueprint.ReasonKeyReused:      "have the caller use a new Idempotency-Key for each call; AGAIN runs this one anyway",
	blueprint.ReasonSchemaUnusable: "fix config.inputSchema; then AGAIN runs this one",
	blueprint.ReasonInput:          "have the caller send what config.inputSchema requires; or change that, then AGAIN evaluates this one again",
	blueprint.ReasonSecretUnusable: "set config.SECRET; then AGAIN evaluates this one again",
	blueprint.ReasonPresetUnknown:  "set another config.preset; then AGAIN evaluates this one again",
	blueprint.ReasonBody:           "fix that at the sender and have it sent again: unchanged, it is refused each time (blueprintTriggers.fire runs any input)",
	blueprint.ReasonEventDepth:     endChain + "; AGAIN runs this one",
	blueprint.ReasonEventRuns:      endChain,
	blueprint.ReasonMany:           "see the rows before it for the reason",
	blueprint.ReasonNoConnection:   "set config.connectionId, or use the channel's id in config.channel; then AGAIN evaluates this one again",
	blueprint.ReasonQueueFull:      "AGAIN runs this one when others have ended; a higher config.concurrency.limit lets more run at once",
}

// ofRefused returns advice about a refused firing.
func (a *advice) ofRefused() string {
	firing := &a.story.Firing
	why, d := firing.Why, firing.Delivery
	kept := firing.Source == blueprint.SourceSchedule && firing.DueAt != 0 || d != nil && d.IsComplete()
	inactive, lost := why.Code == blueprint.ReasonInactive || why.Code == blueprint.ReasonTripped, why.Code == blueprint.ReasonLostAccess
	const access = "give the trigger's creator access to the blueprint again, or have a user who can manage it create the trigger again"
	if notReceived(firing) {
		answer, ask := "with 550", a.on()+"ask for it again"
		switch {
		case why.Code == blueprint.ReasonMailTooLarge:
			answer, ask = "as too large", "ask for a smaller one"
		case lost:
			ask = access + ", then ask for it again"
		case !inactive:
			answer = "at once"
		}
		return "the mail was refused " + answer + "; " + ask
	}
	switch why.Code {
	case blueprint.ReasonOtherAddress:
		if address := why.Address(); address != "" {
			return "have the sender post to " + address
		}
		return "have the sender post to the address of a trigger that has one: a trigger of this type has none"
	case blueprint.ReasonTooLarge:
		return "have the sender send less, or start the server with a larger --max-body; then have it sent again, because the body was not kept"
	}
	switch {
	case !kept && lost:
		return access + "; then have the sender send it again"
	case lost:
		return access + "; then " + a.again() + " runs this one"
	case !kept && inactive && (firing.Source == blueprint.SourceManual || firing.Source == blueprint.SourceAPI):
		return a.on() + "fire it again"
	case !kept && inactive:
		return a.on() + "have the sender send it again"
	case inactive && a.story.Trigger.IsActive:
		return "the trigger is active now: " + a.again() + " runs this one"
	case inactive:
		return a.again() + " runs this one"
	}
	if text := refusedAdvice[why.Code]; text != "" {
		return strings.NewReplacer("AGAIN", a.again(), "SECRET", blueprint.KindOf(a.story.Trigger.Type).Secrets.Secret).Replace(text)
	}
	switch {
	case firing.Source == blueprint.SourceSchedule && firing.DueAt != 0:
		return "once the cause is fixed, " + a.again() + " runs this tick"
	case !kept:
		return "have the sender send it again, or run any input with blueprintTriggers.fire"
	}
	return "once its cause is fixed, " + a.again() + " evaluates it again; blueprintTriggers.fire runs any input"
}

// probe searches for the cause of a wrong signature.
type probe struct {
	before string    // what the scheme signs before the body
	body   []byte    // as received
	macs   []sentMAC // as received
	keys   []trialKey
}

// trialKey is a key to try, with the mistake that produces it.
type trialKey struct {
	words string // the cause if this key matches
	key   []byte
	fix   fix
}

// fits reports whether a digest is that of a text under the key.
func (k *trialKey) fits(sum, text []byte) bool {
	made := hmac.New(hashOf(len(sum)), k.key)
	made.Write(text)
	return hmac.Equal(made.Sum(nil), sum)
}

// keysOf returns the key that a scheme derives from a secret, followed by wrong ones.
func keysOf(s *signature.Scheme, secret string) []trialKey {
	key := []byte(secret)
	if s.Key != nil {
		key = s.Key(secret)
	}
	out := []trialKey{{"the secret", key, fixNothing}}
	add := func(words string, key []byte, fix fix) {
		if len(key) > 0 {
			out = append(out, trialKey{words, key, fix})
		}
	}
	add("the sender uses the text of the secret as the key, which is its decoded base64", []byte(secret), fixSender)
	add("the secret in the config has surrounding blanks and the sender's has not: remove them", []byte(strings.TrimSpace(secret)), fixConfig)
	add("the sender's secret ends in a line break: remove it there", []byte(secret+"\n"), fixSender)
	add("the sender's secret ends in a line break: remove it there", []byte(secret+"\r\n"), fixSender)
	add("the sender's secret ends in a blank: remove it there", []byte(secret+" "), fixSender)
	add("the sender signs with the secret without the letters whsec_", []byte(strings.TrimPrefix(secret, "whsec_")), fixEither)
	add("the sender signs with the decoded base64 after whsec_, but the text itself is the key", signature.StandardKey(secret), fixSender)
	if key, err := hex.DecodeString(secret); err == nil {
		add("the sender decodes the secret from hexadecimal, but its text is the key", key, fixSender)
	}
	if key, err := base64.StdEncoding.DecodeString(secret); err == nil {
		add("the sender decodes the secret from base64, but its text is the key", key, fixSender)
	}
	return out
}

// variant is a body as the sender may have signed it.
type variant struct {
	words string
	body  []byte
}

// variantsOf returns common modifications of a body.
func variantsOf(body []byte) []variant {
	var out []variant
	add := func(words string, changed []byte) {
		if !bytes.Equal(changed, body) {
			out = append(out, variant{words, changed})
		}
	}
	add("the body without its last line break: sign the bytes that are sent", bytes.TrimRight(body, "\r\n"))
	add("the body with a line break at its end: sign the bytes that are sent", append(bytes.Clone(body), '\n'))
	add("the body with other line breaks: something changed them in transit", bytes.ReplaceAll(body, []byte("\r\n"), []byte("\n")))
	add("the body with other line breaks: something changed them in transit", bytes.ReplaceAll(body, []byte("\n"), []byte("\r\n")))
	add("the body without blanks around it: sign the bytes that are sent", bytes.TrimSpace(body))
	add("the body without the byte order mark before it", bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")))
	add("an empty body: the sender signed before it had one", nil)
	const rewritten = ": the sender signed other bytes than it sent, or something rewrote the JSON in transit"
	var compact, wide bytes.Buffer
	if json.Compact(&compact, body) != nil {
		return out
	}
	add("the same JSON without blanks"+rewritten, compact.Bytes())
	for _, indent := range []string{"  ", "    ", "\t"} {
		if wide.Reset(); json.Indent(&wide, compact.Bytes(), "", indent) == nil {
			add("the same JSON with line breaks and indents"+rewritten, bytes.Clone(wide.Bytes()))
		}
	}
	add("the same JSON with a blank after each comma and colon"+rewritten, spacedJSON(compact.Bytes()))
	if value, err := blueprint.Decode(body); err == nil {
		if sorted, err := blueprint.Encode(value); err == nil {
			add("the same JSON with its keys in order"+rewritten, sorted)
			add("the same JSON with its keys in order and blanks"+rewritten, spacedJSON(sorted))
		}
	}
	return out
}

// spacedJSON inserts a blank after each comma and colon outside of strings.
func spacedJSON(compact []byte) []byte {
	out := make([]byte, 0, len(compact)+len(compact)/8)
	text, escaped := false, false
	for _, c := range compact {
		out = append(out, c)
		switch {
		case escaped:
			escaped = false
		case text && c == '\\':
			escaped = true
		case c == '"':
			text = !text
		case !text && (c == ',' || c == ':'):
			out = append(out, ' ')
		}
	}
	return out
}

// hashOf returns the hash of a digest by its length in bytes, nil if it is unknown.
func hashOf(length int) func() hashing.Hash {
	switch length {
	case sha1.Size:
		return sha1.New
	case sha256.Size:
		return sha256.New
	case sha512.Size384:
		return sha512.New384
	case sha512.Size:
		return sha512.New
	}
	return nil
}

func hashName(length int) string {
	return map[int]string{sha1.Size: "HMAC-SHA1", sha256.Size: "HMAC-SHA256", sha512.Size384: "HMAC-SHA384", sha512.Size: "HMAC-SHA512"}[length]
}

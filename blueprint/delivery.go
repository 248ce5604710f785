package blueprint

import "fmt"

// Delivery is what came with a firing, as it came. It is stored in the same
// transaction as the decision about it, before anybody is told of that, and so
// that the same can be decided anew.
type Delivery struct {
	// From is the network address of the sender, "" when there is none.
	From string `json:"from,omitempty"`
	// Header has the headers, names in lower case, without what could let
	// somebody else in: authorization and cookies.
	Header map[string][]string `json:"header,omitempty"`
	// Proof has the headers that show who the sender is, such as signatures:
	// they are needed to decide anew, and nobody is shown them.
	Proof map[string][]string `json:"proof,omitempty"`
	// Hidden are secrets that the body may hold; they are never shown.
	Hidden []string `json:"hidden,omitempty"`
	// Size is how many bytes the body had, as far as it was read.
	Size int64 `json:"size"`
	// Facts are what was found out on the way to the decision: plain JSON
	// values under names, never a secret. They are shown.
	Facts map[string]any `json:"facts,omitempty"`
	// Body is the body, byte for byte; nil although Size is not 0 when it was
	// not kept.
	Body []byte `json:"-"`
	// Sealed is all of it as the store keeps it, encrypted; the store fills it in.
	Sealed []byte `json:"-"`
}

// Kept tells whether the whole body is there.
func (d *Delivery) Kept() bool { return int64(len(d.Body)) == d.Size }

// Note keeps something that was found out.
func (d *Delivery) Note(name string, value any) {
	if d.Facts == nil {
		d.Facts = map[string]any{}
	}
	d.Facts[name] = value
}

// File is something that came with a firing and that its run may name, such as
// an attachment of a mail. Its bytes are part of the firing's delivery.
type File struct {
	ID          string // opaque and not to be guessed
	Part        int    // which part of the delivery's body it is, counted from 0 as the body is read
	Name        string
	ContentType string
	Size        int64 // bytes, decoded
}

// OnLimit says what becomes of a firing while as many runs of its trigger as
// its limit allows have not ended.
type OnLimit string

// The rules of OnLimit.
const (
	LimitQueue  OnLimit = "queue"          // the run waits until another has ended
	LimitSkip   OnLimit = "skip"           // none is started
	LimitCancel OnLimit = "cancel-running" // the oldest are cancelled to make room
)

// ConcurrencyGroup limits how many runs of one trigger are unfinished at once,
// waiting and paused ones included.
type ConcurrencyGroup struct {
	Key     string  `json:"key"` // the trigger
	Limit   int     `json:"limit"`
	OnLimit OnLimit `json:"onLimit"`
}

// ConcurrencyLimitError is returned when no run was started because the concurrency
// group is full and its rule is LimitSkip.
type ConcurrencyLimitError struct {
	Limit   int
	Running int    // how many of its runs have not ended
	Oldest  string // the oldest of these; "" = not known
}

// Error says so, without the run.
func (e *ConcurrencyLimitError) Error() string {
	short := *e
	short.Oldest = ""
	return short.sentence()
}

func (e *ConcurrencyLimitError) sentence() string {
	runs := "runs have"
	if e.Running == 1 {
		runs = "run has"
	}
	text := fmt.Sprintf("config.concurrency.limit is %d, and %d %s not ended", e.Limit, e.Running, runs)
	if e.Oldest != "" {
		text += ": " + e.Oldest
	}
	return text
}

// Reason says so with the run, for a reader who may know of it.
func (e *ConcurrencyLimitError) Reason() Reason {
	return Because(ReasonLimit, "limit", e.Limit, "running", e.Running, "executionId", e.Oldest)
}

// Displaced is the reason for cancelling a run in favour of a newer one of its
// concurrency group.
const Displaced = "a newer run of its trigger took its place"

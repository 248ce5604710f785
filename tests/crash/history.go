package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"
)

// book is the shared record of all clients.
type book struct {
	scene      string
	out        io.Writer
	clockSteps bool     // the server's clock may step back: times prove no order
	stop       func()   // called at the first violation, the last that is recorded; nil = continue
	signs      []string // only at one of these invariants; none = at any

	mu         sync.Mutex
	runs       map[string]*run
	open       []*run // not known to have ended, and not waiting for a user who never answers
	closed     []*run // the others
	deliveries map[string]*delivery
	keys       []string    // of deliveries, for repeating some
	firings    []*delivery // that started a run, as acknowledged
	counts     counts
	outages    []outage
	violations []violation
	stopped    bool

	kinds map[string]int // how many violations there are of a format
}

// delivery is a request to a trigger. It has an id, except for some webhooks.
type delivery struct {
	shape     *shape
	trigger   string
	id        string
	mode      string // "", "wait" or "api"
	input     object
	execution string // as first acknowledged
	firing    string // the same

	// For a source.
	source   *source
	body     []byte   // as sent
	files    [][]byte // attachments
	wrong    bool     // has a wrong signature
	oldest   int      // the number of the oldest secret that signed it
	filtered bool     // the trigger filters it out
	refused  int      // number of 401 responses, or 409 for another body
	repeats  int      // number of responses that report a duplicate
	taken    int      // number of times a letter was accepted
	skips    []string // firings of responses that report a skip
}

// counts are the figures of a report.
type counts struct {
	Requests       int `json:"requests"`
	Lost           int `json:"requestsWithoutAnswer"`
	Acknowledged   int `json:"acknowledged"`
	Completed      int `json:"completed"`
	Failed         int `json:"failed"`
	Duplicates     int `json:"duplicateDeliveries"`
	Answers        int `json:"answersOfPeople"`
	UnknownOutcome int `json:"unknownOutcomes"`
	Cancelled      int `json:"cancelled"`
	Retried        int `json:"retried"`
	Refused        int `json:"refused503"`
	Ticks          int `json:"ticks"`

	Logged    int `json:"logged"`
	Executed  int `json:"executed"`
	Fired     int `json:"fired"`
	Delivered int `json:"delivered"`
	Waited    int `json:"waited"`
	Updates   int `json:"updates"`
	Streams   int `json:"streams"`
	Events    int `json:"events"`
	Intruders int `json:"secondServersRefused"`

	Items   int `json:"items"`
	Scripts int `json:"scripts"`
	SubRuns int `json:"subRuns"`
	Heard   int `json:"eventsHeard"`

	Signed      int `json:"signedDeliveries"`
	OldSecrets  int `json:"signedWithSecretBefore"`
	Wrong       int `json:"signedWrongly"`
	Rotations   int `json:"secretsReplaced"`
	Slack       int `json:"slackEvents"`
	Skipped     int `json:"leftOutByFilter"`
	Letters     int `json:"letters"`
	Cut         int `json:"lettersCutOff"`
	Files       int `json:"attachmentsRead"`
	Told        int `json:"endsHeard"`
	Changes     int `json:"changesHeard"`
	Redelivered int `json:"redelivered"`
	Limited     int `json:"runsUnderLimit"`
	Met         int `json:"limitMet"`
	Displaced   int `json:"runsDisplaced"`
	Explained   int `json:"explained"`
	Conflicts   int `json:"keysWithOtherBody"`

	Guarded   int `json:"callsWithToken"`
	Landed    int `json:"callsRedirected"`
	Metered   int `json:"callsWithOAuth"`
	Tokens    int `json:"oauthTokens"`
	Questions int `json:"questionsToModel"`
	Tools     int `json:"toolCalls"`
	Mails     int `json:"mails"`
	Posts     int `json:"posts"`

	LinkLooks   int `json:"connectionsListed"`
	LinkTests   int `json:"connectionsTested"`
	LinkChanges int `json:"connectionsChanged"`
	Searched    int `json:"searchedForSecrets"`

	Deeds         int `json:"changesAcknowledged"`
	DeedsSignedIn int `json:"changesAcknowledgedToSessions"`
	Lines         int `json:"linesOfAudit"`
	LinesMade     int `json:"linesOfUnacknowledged"`
	LinesMissed   int `json:"linesLostBeforeKill"`
	HourEnds      int `json:"runsCountedByHour"`
	HourScopes    int `json:"countedByHour"`
	SignIns       int `json:"signIns"`
	Sessions      int `json:"sessionsThatWorked"`
	SignOuts      int `json:"sessionsEnded"`
	Turned        int `json:"endedSessionsRefused"`
	Passwords     int `json:"passwordsChanged"`
	SetUps        int `json:"linksUsed"`
	UsedLinks     int `json:"usedLinksRefused"`
	OldPasswords  int `json:"oldPasswordsRefused"`
}

// outage is the time from the order to kill until the next process is ready.
type outage struct {
	from, to time.Time
	asked    bool // stopped, not killed
}

// violation is an invariant that did not hold.
type violation struct {
	Invariant string `json:"invariant"`
	Scene     string `json:"scene"`
	Run       string `json:"run,omitempty"`
	Text      string `json:"text"`
}

// newBook returns an empty book, which prints violations to out as they are found.
func newBook(scene string, out io.Writer) *book {
	return &book{scene: scene, out: out, kinds: map[string]int{}, runs: map[string]*run{}, deliveries: map[string]*delivery{}}
}

func (b *book) count(change func(*counts)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change(&b.counts)
}

func (v violation) String() string {
	return strings.Join(strings.Fields(v.Invariant+" "+v.Scene+": "+v.Run+" "+v.Text), " ")
}

// mostViolations limits the reported violations of each kind, so that a frequent one
// does not hide a rare one.
const mostViolations = 5

func (b *book) violated(invariant, run, format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.kinds[format]++; b.kinds[format] > mostViolations || b.stopped {
		return
	}
	v := violation{invariant, b.scene, run, fmt.Sprintf(format, args...)}
	b.violations = append(b.violations, v)
	fmt.Fprintln(b.out, "VIOLATED", v)
	if b.stop != nil && (len(b.signs) == 0 || slices.Contains(b.signs, invariant)) {
		b.stopped = true
		b.stop()
	}
}

// knows returns the run with an id. acked is how it was acknowledged, "" if it was only
// observed.
func (b *book) knows(id, acked string, s *shape) *run {
	b.mu.Lock()
	r := b.runs[id]
	earlier := r != nil
	if r == nil {
		r = &run{id: id, shape: s, acked: acked, done: map[string]finished{}, retries: map[string]int{}, answered: map[string]bool{}}
		b.runs[id] = r
		b.open = append(b.open, r)
		if acked != "" {
			b.counts.Acknowledged++
		}
	}
	b.mu.Unlock()
	if earlier && acked != "" {
		b.acknowledged(r, acked)
	}
	return r
}

// acknowledged records how a run was acknowledged that had been observed before.
func (b *book) acknowledged(r *run, acked string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.acked == "" {
		r.acked = acked
		b.count(func(c *counts) { c.Acknowledged++ })
	}
}

// some takes up to n random open runs.
func (b *book) some(random *rand.Rand, n int) []*run {
	b.mu.Lock()
	defer b.mu.Unlock()
	var taken []*run
	for range min(n, len(b.open)) {
		taken = append(taken, b.open[random.IntN(len(b.open))])
	}
	return taken
}

// close moves a run out of the open ones.
func (b *book) close(r *run) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, other := range b.open {
		if other == r {
			b.open[i] = b.open[len(b.open)-1]
			b.open = b.open[:len(b.open)-1]
			b.closed = append(b.closed, r)
			return
		}
	}
}

// past returns a random run that is no longer open, nil if there is none.
func (b *book) past(random *rand.Rand) *run {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.closed) == 0 {
		return nil
	}
	return b.closed[random.IntN(len(b.closed))]
}

// atLeast records the edition that was published before the run began.
func (r *run) atLeast(edition int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.least = edition
}

// run returns the run with an id, or nil.
func (b *book) run(id string) *run {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.runs[id]
}

func (b *book) all() []*run {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := make([]*run, 0, len(b.runs))
	for _, r := range b.runs {
		all = append(all, r)
	}
	return all
}

func (b *book) opened() []*run {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]*run(nil), b.open...)
}

// delivered records the acknowledgement of a delivery, which must equal all earlier ones.
// firing is "" if the response does not contain it.
func (b *book) delivered(d *delivery, execution, firing string) {
	b.mu.Lock()
	first, told := d.execution, d.firing
	if first == "" {
		d.execution = execution
	}
	if told == "" && firing != "" {
		if d.firing = firing; d.source == nil || d.source.shape.name != crowded {
			b.firings = append(b.firings, d)
		}
	}
	b.mu.Unlock()
	if first != "" && first != execution || told != "" && firing != "" && told != firing {
		b.violated("I7", execution, "delivery %s of trigger %s was first acknowledged as %s of firing %s, then with firing %s", d.id, d.trigger, first, told, firing)
	}
}

// openOf returns how many runs of a shape are open.
func (b *book) openOf(s *shape) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := 0
	for _, r := range b.open {
		if r.shape == s {
			n++
		}
	}
	return n
}

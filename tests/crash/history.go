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

// history is the shared record of all clients.
type history struct {
	scenario           string
	out                io.Writer
	clockSteps         bool     // the server's clock may step back: times prove no order
	stop               func()   // called at the first violation, the last that is recorded; nil = continue
	expectedInvariants []string // only at one of these invariants; none = at any

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
	source         *source
	body           []byte   // as sent
	files          [][]byte // attachments
	wrongSignature bool     // has a wrong signature
	oldest         int      // the number of the oldest secret that signed it
	filtered       bool     // the trigger filters it out
	refused        int      // number of 401 responses, or 409 for another body
	repeats        int      // number of responses that report a duplicate
	accepted       int      // number of times an email was accepted
	skippedFirings []string // firings of responses that report a skip
}

// counts are the figures of a report.
type counts struct {
	Requests       int `json:"requests"`
	Lost           int `json:"requestsWithoutAnswer"`
	Acknowledged   int `json:"acknowledged"`
	Completed      int `json:"completed"`
	Failed         int `json:"failed"`
	Duplicates     int `json:"duplicateDeliveries"`
	Answers        int `json:"answersOfUsers"`
	UnknownOutcome int `json:"unknownOutcomes"`
	Cancelled      int `json:"cancelled"`
	Retried        int `json:"retried"`
	Refused        int `json:"refused503"`
	Ticks          int `json:"ticks"`

	Logged        int `json:"logged"`
	Executed      int `json:"executed"`
	Fired         int `json:"fired"`
	Delivered     int `json:"delivered"`
	AnsweredAtEnd int `json:"waited"`
	Updates       int `json:"updates"`
	Streams       int `json:"streams"`
	Events        int `json:"events"`
	SecondServers int `json:"secondServersRefused"`

	Items        int `json:"items"`
	Scripts      int `json:"scripts"`
	SubRuns      int `json:"subRuns"`
	CustomEvents int `json:"customEvents"`

	Signed          int `json:"signedDeliveries"`
	PreviousSecrets int `json:"signedWithPreviousSecret"`
	WrongSignatures int `json:"wrongSignatures"`
	Rotations       int `json:"secretsRotated"`
	Slack           int `json:"slackEvents"`
	Filtered        int `json:"filtered"`
	Emails          int `json:"emails"`
	EmailsCutOff    int `json:"emailsCutOff"`
	Attachments     int `json:"attachmentsRead"`
	EndEvents       int `json:"endEvents"`
	ChangeEvents    int `json:"changeEvents"`
	Redelivered     int `json:"redelivered"`
	Limited         int `json:"runsUnderLimit"`
	LimitReached    int `json:"limitMet"`
	Displaced       int `json:"runsDisplaced"`
	Explained       int `json:"explained"`
	Conflicts       int `json:"keysWithOtherBody"`

	TokenCalls int `json:"callsWithToken"`
	Redirected int `json:"callsRedirected"`
	OAuthCalls int `json:"callsWithOAuth"`
	Tokens     int `json:"oauthTokens"`
	Questions  int `json:"questionsToModel"`
	Tools      int `json:"toolCalls"`
	Mails      int `json:"mails"`
	Posts      int `json:"posts"`

	ConnectionLists   int `json:"connectionsListed"`
	ConnectionTests   int `json:"connectionsTested"`
	ConnectionChanges int `json:"connectionsChanged"`
	Searched          int `json:"searchedForSecrets"`

	AuditedChanges   int `json:"changesAcknowledged"`
	DashboardChanges int `json:"changesAcknowledgedToSessions"`
	Lines            int `json:"auditLines"`
	LinesMade        int `json:"linesOfUnacknowledged"`
	LinesMissed      int `json:"linesLostBeforeKill"`
	HourEnds         int `json:"runsCountedByHour"`
	HourScopes       int `json:"countedByHour"`
	SignIns          int `json:"signIns"`
	Sessions         int `json:"sessionsThatWorked"`
	SignOuts         int `json:"sessionsEnded"`
	SessionsRefused  int `json:"endedSessionsRefused"`
	Passwords        int `json:"passwordsChanged"`
	SetUps           int `json:"linksUsed"`
	UsedLinks        int `json:"usedLinksRefused"`
	OldPasswords     int `json:"oldPasswordsRefused"`
}

// outage is the time from the order to kill until the next process is ready.
type outage struct {
	from, to time.Time
	asked    bool // stopped, not killed
}

// violation is an invariant that did not hold.
type violation struct {
	Invariant string `json:"invariant"`
	Scenario  string `json:"scenario"`
	Run       string `json:"run,omitempty"`
	Text      string `json:"text"`
}

// newHistory returns an empty history, which prints violations to out as they are found.
func newHistory(scenario string, out io.Writer) *history {
	return &history{scenario: scenario, out: out, kinds: map[string]int{}, runs: map[string]*run{}, deliveries: map[string]*delivery{}}
}

func (h *history) count(change func(*counts)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	change(&h.counts)
}

func (v violation) String() string {
	return strings.Join(strings.Fields(v.Invariant+" "+v.Scenario+": "+v.Run+" "+v.Text), " ")
}

// maxViolations limits the reported violations of each kind, so that a frequent one
// does not hide a rare one.
const maxViolations = 5

func (h *history) violated(invariant, run, format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.kinds[format]++; h.kinds[format] > maxViolations || h.stopped {
		return
	}
	v := violation{invariant, h.scenario, run, fmt.Sprintf(format, args...)}
	h.violations = append(h.violations, v)
	fmt.Fprintln(h.out, "VIOLATED", v)
	if h.stop != nil && (len(h.expectedInvariants) == 0 || slices.Contains(h.expectedInvariants, invariant)) {
		h.stopped = true
		h.stop()
	}
}

// addRun returns the run with an id. acked is how it was acknowledged, "" if it was only
// observed.
func (h *history) addRun(id, acked string, s *shape) *run {
	h.mu.Lock()
	r := h.runs[id]
	earlier := r != nil
	if r == nil {
		r = &run{id: id, shape: s, acknowledgedAs: acked, done: map[string]finished{}, retries: map[string]int{}, answered: map[string]bool{}}
		h.runs[id] = r
		h.open = append(h.open, r)
		if acked != "" {
			h.counts.Acknowledged++
		}
	}
	h.mu.Unlock()
	if earlier && acked != "" {
		h.acknowledged(r, acked)
	}
	return r
}

// acknowledged records how a run was acknowledged that had been observed before.
func (h *history) acknowledged(r *run, acked string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.acknowledgedAs == "" {
		r.acknowledgedAs = acked
		h.count(func(c *counts) { c.Acknowledged++ })
	}
}

// someOpen takes up to n random open runs.
func (h *history) someOpen(random *rand.Rand, n int) []*run {
	h.mu.Lock()
	defer h.mu.Unlock()
	var list []*run
	for range min(n, len(h.open)) {
		list = append(list, h.open[random.IntN(len(h.open))])
	}
	return list
}

// close moves a run out of the open ones.
func (h *history) close(r *run) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, other := range h.open {
		if other == r {
			h.open[i] = h.open[len(h.open)-1]
			h.open = h.open[:len(h.open)-1]
			h.closed = append(h.closed, r)
			return
		}
	}
}

// randomClosed returns a random run that is no longer open, nil if there is none.
func (h *history) randomClosed(random *rand.Rand) *run {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.closed) == 0 {
		return nil
	}
	return h.closed[random.IntN(len(h.closed))]
}

// atLeast records the edition that was published before the run began.
func (r *run) atLeast(edition int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.minEdition = edition
}

// run returns the run with an id, or nil.
func (h *history) run(id string) *run {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.runs[id]
}

func (h *history) all() []*run {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := make([]*run, 0, len(h.runs))
	for _, r := range h.runs {
		all = append(all, r)
	}
	return all
}

func (h *history) openRuns() []*run {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]*run(nil), h.open...)
}

// delivered records the acknowledgement of a delivery, which must equal all earlier ones.
// firing is "" if the response does not contain it.
func (h *history) delivered(d *delivery, execution, firing string) {
	h.mu.Lock()
	first, firstFiring := d.execution, d.firing
	if first == "" {
		d.execution = execution
	}
	if firstFiring == "" && firing != "" {
		if d.firing = firing; d.source == nil || d.source.shape.name != replacing {
			h.firings = append(h.firings, d)
		}
	}
	h.mu.Unlock()
	if first != "" && first != execution || firstFiring != "" && firing != "" && firstFiring != firing {
		h.violated("I7", execution, "delivery %s of trigger %s was first acknowledged as %s of firing %s, then with firing %s", d.id, d.trigger, first, firstFiring, firing)
	}
}

// openOf returns how many runs of a shape are open.
func (h *history) openOf(s *shape) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := 0
	for _, r := range h.open {
		if r.shape == s {
			n++
		}
	}
	return n
}

package blueprint

import (
	"fmt"
	"strconv"
	"strings"
)

// Status is the state of an execution. Completed and failed are final.
type Status string

// The states of an execution; StatusNotFound is only ever an answer.
const (
	StatusRunning   Status = "running"
	StatusCompleted Status = "completed"
	StatusFailed    Status = "failed"
	StatusPaused    Status = "paused"
	StatusNotFound  Status = "not_found"
)

// Terminal reports whether the status is final.
func (s Status) Terminal() bool { return s == StatusCompleted || s == StatusFailed }

// StepStatus is the state of one node's run.
type StepStatus string

// The states of a step.
const (
	StepPending   StepStatus = "pending"
	StepRunning   StepStatus = "running"
	StepCompleted StepStatus = "completed"
	StepFailed    StepStatus = "failed"
	StepSkipped   StepStatus = "skipped"
	StepPaused    StepStatus = "paused"
)

// Step is the run of one node as clients see it. NodeID is the node's address.
// Attempt counts from 1; 0 while the node has not begun.
type Step struct {
	NodeID     string     `json:"nodeId"`
	NodeType   string     `json:"nodeType"`
	Title      string     `json:"title"`
	Status     StepStatus `json:"status"`
	StartTime  Time       `json:"startTime"`
	EndTime    Time       `json:"endTime"`
	DurationMs *int64     `json:"durationMs"`
	Attempt    int        `json:"attempt"`
	Input      any        `json:"input"`
	Output     any        `json:"output"`
	Error      *StepError `json:"error,omitempty"`
	TokensUsed *int64     `json:"tokensUsed,omitempty"`
	// Masked says that a credential which a service repeated was replaced in
	// the output or the error.
	Masked bool `json:"masked,omitempty"`
}

// StepError says why a node failed. Code is for programs: lower case with
// underscores, as in "unknown_name" or "timeout".
type StepError struct {
	Message string `json:"message"`
	Code    string `json:"code,omitempty"`
	Hint    string `json:"hint,omitempty"`
	// Grant is what a step with CodeNeedsGrant lacks.
	Grant *MissingGrant `json:"grant,omitempty"`
	// Exchange is the last call that the node made, masked; nil when it sent
	// nothing.
	Exchange *StepExchange `json:"exchange,omitempty"`
}

// StepExchange is what a node that failed sent last, and what came back.
type StepExchange struct {
	Request  StepRequest   `json:"request"`
	Response *StepResponse `json:"response,omitempty"` // nil when none came
}

// StepRequest is an HTTP request, with the names of its headers in lower case,
// or the envelope of a mail. A body is "" when there is none, and a value when it
// is JSON; of a longer one the first 16 KiB are kept.
type StepRequest struct {
	Method  string            `json:"method,omitempty"`
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitzero"`
	Body    any               `json:"body,omitempty"`

	Host    string `json:"host,omitempty"` // of the SMTP server
	Port    int64  `json:"port,omitempty"`
	From    string `json:"from,omitempty"`
	To      string `json:"to,omitempty"` // with commas between
	Subject string `json:"subject,omitempty"`
}

// StepResponse is the answer to an HTTP request, or the reply of an SMTP server.
type StepResponse struct {
	Status  int               `json:"status,omitempty"`
	Headers map[string]string `json:"headers,omitzero"`
	Body    any               `json:"body,omitempty"`

	Code    int    `json:"code,omitempty"` // of SMTP
	Message string `json:"message,omitempty"`
}

// LogEntry is one line of a run's log. NodeID is nil for the run as a whole.
type LogEntry struct {
	Timestamp Time    `json:"timestamp"`
	Level     string  `json:"level"` // debug, info, warn or error
	NodeID    *string `json:"nodeId"`
	Message   string  `json:"message"`
	Data      any     `json:"data,omitempty"`
}

// AwaitKind says what a paused run waits for.
type AwaitKind string

// What a paused run may wait for.
const (
	AwaitHuman          AwaitKind = "human"           // an answer of a free form or a schema
	AwaitApproval       AwaitKind = "approval"        // yes or no
	AwaitOAuth          AwaitKind = "oauth"           // a sign-in at URL
	AwaitUnknownOutcome AwaitKind = "unknown-outcome" // a decision about a step that a crash cut off
	AwaitBudget         AwaitKind = "budget"          // more tokens or calls
)

// SignInPromptForOthers is the prompt of a sign-in for every reader but the user who must
// sign in.
const SignInPromptForOthers = "the user the run acts for must sign in"

// AwaitingInput describes the input that a paused run waits for.
type AwaitingInput struct {
	NodeID      string    `json:"nodeId"`
	Kind        AwaitKind `json:"kind"`
	Prompt      string    `json:"prompt"`
	Schema      any       `json:"schema,omitempty"`
	Options     []string  `json:"options,omitempty"`
	URL         string    `json:"url,omitempty"`
	RequestedAt Time      `json:"requestedAt"`
	ExpiresAt   Time      `json:"expiresAt,omitempty"`
}

// ExecutionStatus is the status record of a run, what getExecutionStatus
// answers.
type ExecutionStatus struct {
	ID             string           `json:"id"`
	Status         Status           `json:"status"`
	Progress       int              `json:"progress"`
	StartTime      Time             `json:"startTime"`
	EndTime        Time             `json:"endTime"`
	TotalSteps     int              `json:"totalSteps"`
	CompletedSteps int              `json:"completedSteps"`
	FailedSteps    int              `json:"failedSteps"`
	Steps          []Step           `json:"steps"`
	Logs           []LogEntry       `json:"logs"`
	CurrentStep    *string          `json:"currentStep"`
	AwaitingInput  *AwaitingInput   `json:"awaitingInput"`
	AwaitingInputs []*AwaitingInput `json:"awaitingInputs,omitempty"`
}

// NotFoundStatus is the status record of an id that no run has.
func NotFoundStatus(id string) *ExecutionStatus {
	return &ExecutionStatus{ID: id, Status: StatusNotFound, Steps: []Step{}, Logs: []LogEntry{}}
}

// Telemetry is what a run's nodes really did, as its log record tells it.
type Telemetry struct {
	TotalTokensUsed               int64        `json:"totalTokensUsed"`
	UsedMCPServers                bool         `json:"usedMcpServers"`
	MCPServerCount                int          `json:"mcpServerCount"`
	MCPServerNames                []string     `json:"mcpServerNames"`
	ReachedOutForData             bool         `json:"reachedOutForData"`
	ExternalDataSourcesCount      int          `json:"externalDataSourcesCount"`
	DataSourcesSummary            []DataSource `json:"dataSourcesSummary"`
	RequiredLogin                 bool         `json:"requiredLogin"`
	OAuthFlowsTriggered           bool         `json:"oauthFlowsTriggered"`
	AuthenticationMethodsUsed     []string     `json:"authenticationMethodsUsed"`
	PrimaryAIProviderConnectionID string       `json:"primaryAiProviderConnectionId"`
	AIProvidersUsedCount          int          `json:"aiProvidersUsedCount"`
	HasErrors                     bool         `json:"hasErrors"`
	ErrorCount                    int          `json:"errorCount"`
	CriticalErrors                bool         `json:"criticalErrors"`
	ErrorSummary                  string       `json:"errorSummary"`
}

// NewTelemetry is the telemetry of a run that did nothing; its lists are empty,
// not null.
func NewTelemetry() Telemetry {
	return Telemetry{MCPServerNames: []string{}, DataSourcesSummary: []DataSource{}, AuthenticationMethodsUsed: []string{}}
}

// DataSource sums up what a run asked of one host: how many calls, and the
// distinct HTTP statuses that came back, ascending.
type DataSource struct {
	Host     string `json:"host"`
	Calls    int    `json:"calls"`
	Statuses []int  `json:"statuses"`
}

// Execution is the whole record of a run: its log record (the answer of
// getExecutionLogs is made from it) and its status record.
type Execution struct {
	ExecutionStatus
	LogID             string // ULID; the id of the log record
	BlueprintID       string
	BlueprintVersion  string
	OrganizationID    string
	UserID            string // whose authority the run has
	PrivateTo         string // the only user who may see its data; "" = everybody who may see the run
	TriggerID         string // "" unless a trigger started it
	FiringID          string
	ParentExecutionID string
	RetryOf           string // the execution that this one retries
	CreatedAt         Time
	UpdatedAt         Time
	InputVariables    map[string]any
	InputData         any
	Output            any
	Outputs           map[string]any // by node id
	Failure           *RunError      // why a failed run failed
	DataSize          int            // about how many bytes of JSON its inputs and outputs take
	Telemetry         Telemetry
}

// FailureText says why a run failed and in which node; its status when it did not.
func (x *Execution) FailureText() string {
	switch {
	case x.Failure == nil:
		return string(x.Status)
	case x.Failure.NodeID == "":
		return x.Failure.Message
	}
	return fmt.Sprintf("node %q: %s", x.Failure.NodeID, x.Failure.Message)
}

// Ending is what came of a run: how it stands, its output, and why it failed.
type Ending struct {
	Status  Status
	Output  any // null for one that has not completed
	Failure *RunError
}

// RunError is result.error: which node stopped the run, and why. NodeID is ""
// when it was no node's doing, as with a cancelled run.
type RunError struct {
	NodeID  string `json:"nodeId"`
	Message string `json:"message"`
	Code    string `json:"code,omitempty"`
	Hint    string `json:"hint,omitempty"`
	// Grant is what a run that failed with CodeNeedsGrant lacks.
	Grant *MissingGrant `json:"grant,omitempty"`
	// Displaced says that the run was cancelled to make room for a newer one of its
	// trigger.
	Displaced bool `json:"-"`
}

// RunHour is what ended in one hour.
type RunHour struct {
	Hour int64 // hours since 1970
	RunSums
}

// RunSums are how many runs ended and how long they took, in milliseconds.
type RunSums struct {
	Completed, Failed int64
	Duration          int64 // of all together
	Slowest           int64
}

// Add adds others to these.
func (s *RunSums) Add(other RunSums) {
	s.Completed += other.Completed
	s.Failed += other.Failed
	s.Duration += other.Duration
	s.Slowest = max(s.Slowest, other.Slowest)
}

// HoursFilter chooses runs for statistics: those of a blueprint, of an
// organization, or when both are "" of all organizations of the user.
type HoursFilter struct {
	BlueprintID    string
	OrganizationID string
	From, To       int64 // hours since 1970; To is not included
}

// RunHours is what RunHour counts, and what has not ended.
type RunHours struct {
	Hours           []RunHour // in their order; those in which nothing ended are left out
	Running, Paused int       // now
}

// Recording is a run with all that others need to have it before them, without
// its secrets.
type Recording struct {
	*Execution
	// Recorded tells whether Exchanges were kept; see StartRequest.
	Recorded  bool
	Exchanges []Exchange
	// Trigger is what the run knows of its trigger, nil without one.
	Trigger *TriggerContext
	// Map is what ran when that is not the stored map of its version.
	Map any
	// Connections are those that its nodes opened, in the order of the steps.
	Connections []UsedConnection
	// Handles are the handles at which nodes went on, by address, of those that
	// chose one.
	Handles map[string]string
}

// UsedConnection is a connection that a run opened.
type UsedConnection struct {
	ID   string
	Type ConnectionType
}

// ImportedRun is a run that another server had, with its blueprint. Row has all
// but the log id, the organization and the user, which are those of who imports.
type ImportedRun struct {
	Blueprint NewBlueprint
	Row       ExecutionRow
}

// ListedRun is a run in a list, without what its nodes did.
type ListedRun struct {
	ExecutionID       string       `json:"executionId"`
	LogID             string       `json:"logId"`
	BlueprintID       string       `json:"blueprintId"`
	BlueprintTitle    string       `json:"blueprintTitle"`
	BlueprintVersion  string       `json:"blueprintVersion"`
	OrganizationID    string       `json:"organizationId"`
	UserID            string       `json:"userId"`
	UserName          string       `json:"userName"`
	TriggerID         *string      `json:"triggerId"`
	TriggerType       *TriggerType `json:"triggerType"`
	ParentExecutionID *string      `json:"parentExecutionId"`
	Status            Status       `json:"status"`
	StartTime         Time         `json:"startTime"`
	EndTime           Time         `json:"endTime"`
	DurationMs        *int64       `json:"durationMs"` // nil until it has ended
	CreatedAt         Time         `json:"createdAt"`
	Error             *string      `json:"error"`    // the errorSummary of its log record
	Awaiting          *AwaitKind   `json:"awaiting"` // what a paused one waits for first
	// Stored is what Error and Awaiting are made from; its record is nil when
	// that is too large for a list.
	Stored *StoredExecution `json:"-"`
}

// RunFilter chooses runs for a list. Empty fields choose all.
type RunFilter struct {
	BlueprintID    string
	OrganizationID string
	TriggerID      string
	// ParentExecutionID chooses the runs that this one started.
	ParentExecutionID string
	Status            Status
	From, To          Time   // of their creation; To is not included
	Search            string // an id or its beginning
	Limit             int
	After             RunPosition // where the page before ended
}

// RunPage is one page of a list of runs, newest first.
type RunPage struct {
	Runs []ListedRun
	Next RunPosition // where to go on; zero = there is no more
	// SearchedUntil is how far back a page was looked for that is not full
	// though there may be more; zero when that is not so.
	SearchedUntil Time
}

// RunPosition is a place in the order of all runs: by creation, then by the
// order in which they were written. Zero is before the newest.
type RunPosition struct {
	At  Time
	Seq int64
}

// String writes a position for ParseRunPosition; "" for zero.
func (p RunPosition) String() string {
	if p == (RunPosition{}) {
		return ""
	}
	return strconv.FormatInt(int64(p.At), 36) + "." + strconv.FormatInt(p.Seq, 36)
}

// Before reports whether a position is further back than another, neither of them
// zero.
func (p RunPosition) Before(other RunPosition) bool {
	return p.At < other.At || p.At == other.At && p.Seq < other.Seq
}

// ParseRunPosition reads what String writes.
func ParseRunPosition(text string) (p RunPosition, ok bool) {
	at, seq, found := strings.Cut(text, ".")
	when, err := strconv.ParseInt(at, 36, 64)
	place, failed := strconv.ParseInt(seq, 36, 64)
	p = RunPosition{Time(when), place}
	return p, found && err == nil && failed == nil && p.String() == text
}

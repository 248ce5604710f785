package blueprint

import (
	"fmt"
	"strconv"
	"strings"
)

// Status is the state of an execution. Completed and failed are final.
type Status string

// The states of an execution; StatusNotFound only occurs in API responses.
const (
	StatusRunning   Status = "running"
	StatusCompleted Status = "completed"
	StatusFailed    Status = "failed"
	StatusPaused    Status = "paused"
	StatusNotFound  Status = "not_found"
)

// Terminal reports whether the status is final.
func (s Status) Terminal() bool { return s == StatusCompleted || s == StatusFailed }

// StepStatus is the state of a step.
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

// Step is the run of a node as clients see it. NodeID is the node's address. Attempt
// counts from 1; 0 = not started.
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
	// Masked reports that a credential was masked in the output or the error.
	Masked bool `json:"masked,omitempty"`
}

// StepError is why a node failed. Code is in snake case, as in "unknown_name".
type StepError struct {
	Message string `json:"message"`
	Code    string `json:"code,omitempty"`
	Hint    string `json:"hint,omitempty"`
	// Grant is what is missing if the code is needs_grant.
	Grant *MissingGrant `json:"grant,omitempty"`
	// Exchange is the last request of the node, masked; nil without one.
	Exchange *StepExchange `json:"exchange,omitempty"`
}

// StepExchange is the last request of a failed node and its response.
type StepExchange struct {
	Request  StepRequest   `json:"request"`
	Response *StepResponse `json:"response,omitempty"` // nil without one
}

// StepRequest is an HTTP request with lower-case header names, or the envelope of a
// mail. Body is a JSON value or the first 16 KiB as text; "" if empty.
type StepRequest struct {
	Method  string            `json:"method,omitempty"`
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitzero"`
	Body    any               `json:"body,omitempty"`

	Host    string `json:"host,omitempty"` // of the SMTP server
	Port    int64  `json:"port,omitempty"`
	From    string `json:"from,omitempty"`
	To      string `json:"to,omitempty"` // separated by commas
	Subject string `json:"subject,omitempty"`
}

// StepResponse is the response to an HTTP request, or the reply of an SMTP server.
type StepResponse struct {
	Status  int               `json:"status,omitempty"`
	Headers map[string]string `json:"headers,omitzero"`
	Body    any               `json:"body,omitempty"`

	Code    int    `json:"code,omitempty"` // of SMTP
	Message string `json:"message,omitempty"`
}

// LogEntry is an entry of a run's log. NodeID is nil for the run itself.
type LogEntry struct {
	Timestamp Time    `json:"timestamp"`
	Level     string  `json:"level"` // debug, info, warn or error
	NodeID    *string `json:"nodeId"`
	Message   string  `json:"message"`
	Data      any     `json:"data,omitempty"`
}

// AwaitKind is what a paused run waits for.
type AwaitKind string

// The kinds of input.
const (
	AwaitHuman          AwaitKind = "human"           // an answer, perhaps with a schema
	AwaitApproval       AwaitKind = "approval"        // yes or no
	AwaitOAuth          AwaitKind = "oauth"           // a sign-in at URL
	AwaitUnknownOutcome AwaitKind = "unknown-outcome" // a decision about a step that a crash interrupted
	AwaitBudget         AwaitKind = "budget"          // more tokens or calls
)

// SignInPromptForOthers is the prompt of a sign-in for all but the user who signs in.
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
	// LinkExpiresAt is when approval links to the question expire.
	LinkExpiresAt Time `json:"-"`
}

// MayAnswer reports whether a user may answer a question of a run of principal.
func (k AwaitKind) MayAnswer(userID, principalID string, canManage bool) bool {
	switch k {
	case AwaitHuman:
		return canManage || userID == principalID
	case AwaitOAuth:
		return userID == principalID
	}
	return canManage
}

// ByLink reports whether approval links exist for questions of this kind.
func (k AwaitKind) ByLink() bool { return k == AwaitHuman || k == AwaitApproval }

// ExecutionStatus is the result of getExecutionStatus.
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

// Telemetry summarizes what a run's nodes did.
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

// NewTelemetry returns a Telemetry whose lists are not null.
func NewTelemetry() Telemetry {
	return Telemetry{MCPServerNames: []string{}, DataSourcesSummary: []DataSource{}, AuthenticationMethodsUsed: []string{}}
}

// DataSource summarizes a run's requests to a host. Statuses are distinct and ascending.
type DataSource struct {
	Host     string `json:"host"`
	Calls    int    `json:"calls"`
	Statuses []int  `json:"statuses"`
}

// Execution is the complete record of a run.
type Execution struct {
	ExecutionStatus
	LogID             string // ULID; the id of the log record
	BlueprintID       string
	BlueprintVersion  string
	OrganizationID    string
	UserID            string // the principal
	PrivateTo         string // the only user who may see its data; "" = all who may see the run
	TriggerID         string // "" unless a trigger started it
	FiringID          string
	ParentExecutionID string
	RetryOf           string // the execution that this one retries
	RetryFrom         string // the node that the retry began at; "" = what had not completed
	InputEdited       bool   // the input of that node was edited
	OtherNodes        bool   // its nodes are not those of the version
	CreatedAt         Time
	UpdatedAt         Time
	InputVariables    map[string]any
	InputData         any
	Output            any
	Outputs           map[string]any // by node id
	Failure           *RunError      // of a failed run
	DataSize          int            // approximate size of its inputs and outputs as JSON
	Telemetry         Telemetry
}

// FailureText returns the failed node and its error, or the status.
func (x *Execution) FailureText() string {
	switch {
	case x.Failure == nil:
		return string(x.Status)
	case x.Failure.NodeID == "":
		return x.Failure.Message
	}
	return fmt.Sprintf("node %q: %s", x.Failure.NodeID, x.Failure.Message)
}

// Ending is the result of a run.
type Ending struct {
	Status  Status
	Output  any // nil unless completed
	Failure *RunError
}

// RunError is result.error: why the run failed, and the node, "" for causes outside nodes.
type RunError struct {
	NodeID  string `json:"nodeId"`
	Message string `json:"message"`
	Code    string `json:"code,omitempty"`
	Hint    string `json:"hint,omitempty"`
	// Grant is what is missing if the code is needs_grant.
	Grant *MissingGrant `json:"grant,omitempty"`
	// Displaced reports that the run was cancelled for a newer one of its trigger.
	Displaced bool `json:"-"`
}

// RunHour counts the runs that ended in an hour.
type RunHour struct {
	Hour int64 // hours since 1970
	RunSums
}

// RunSums are counts and durations, in milliseconds, of ended runs.
type RunSums struct {
	Completed, Failed int64
	Duration          int64 // total
	Slowest           int64
}

func (s *RunSums) Add(other RunSums) {
	s.Completed += other.Completed
	s.Failed += other.Failed
	s.Duration += other.Duration
	s.Slowest = max(s.Slowest, other.Slowest)
}

// HoursFilter selects the runs of a blueprint, of an organization, or, if both are "",
// of all organizations of the user.
type HoursFilter struct {
	BlueprintID    string
	OrganizationID string
	From, To       int64 // hours since 1970; To is not included
}

// RunHours are statistics of runs.
type RunHours struct {
	Hours           []RunHour // ascending, without empty hours
	Running, Paused int       // now
}

// Recording is a run with what is needed to inspect and repeat it, without secrets.
type Recording struct {
	*Execution
	// Recorded reports whether Exchanges were recorded; see StartRequest.
	Recorded  bool
	Exchanges []Exchange
	// Trigger is nil without a trigger.
	Trigger *TriggerContext
	// Map is the map of an ad-hoc run, else nil.
	Map any
	// Connections were opened by nodes, in the order of the steps.
	Connections []UsedConnection
	// Handles are the handles that nodes chose, by address.
	Handles map[string]string
	// EditedNodes are the addresses of nodes and items whose input was edited in a fork, in
	// order. Their input does not follow from the input data.
	EditedNodes []string
}

// UsedConnection is a connection that a run opened.
type UsedConnection struct {
	ID   string
	Type ConnectionType
}

// ImportedRun is a run of another server with its blueprint. Row lacks the log id, the
// organization and the user, which are those of the import.
type ImportedRun struct {
	Blueprint NewBlueprint
	Row       ExecutionRow
}

// ListedRun is a run in a list, without its steps.
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
	RetryOf           *string      `json:"retryOf"`
	Status            Status       `json:"status"`
	StartTime         Time         `json:"startTime"`
	EndTime           Time         `json:"endTime"`
	DurationMs        *int64       `json:"durationMs"` // nil until it has ended
	CreatedAt         Time         `json:"createdAt"`
	Error             *string      `json:"error"`    // its errorSummary
	Awaiting          *AwaitKind   `json:"awaiting"` // of a paused run
	// Stored is the source of Error and Awaiting, without a record that is too large.
	Stored *StoredExecution `json:"-"`
}

// RunFilter selects runs. Empty fields match all.
type RunFilter struct {
	BlueprintID       string
	OrganizationID    string
	TriggerID         string
	ParentExecutionID string // the run that started them
	RetryOf           string // the run that they retry
	Status            Status
	From, To          Time   // of their creation; To is not included
	Search            string // an id or its prefix
	Limit             int
	After             RunPosition // Next of the previous page
}

// RunPage is one page of a list of runs, newest first.
type RunPage struct {
	Runs []ListedRun
	Next RunPosition // zero = no more
	// SearchedUntil is how far back the search went if the page is incomplete although
	// there may be more; else zero.
	SearchedUntil Time
}

// RunPosition is a position in the order of all runs: by creation, then by insertion.
// Zero is before the newest.
type RunPosition struct {
	At  Time
	Seq int64
}

// String encodes the position for ParseRunPosition; "" for zero.
func (p RunPosition) String() string {
	if p == (RunPosition{}) {
		return ""
	}
	return strconv.FormatInt(int64(p.At), 36) + "." + strconv.FormatInt(p.Seq, 36)
}

// Before reports whether p is older than other; neither may be zero.
func (p RunPosition) Before(other RunPosition) bool {
	return p.At < other.At || p.At == other.At && p.Seq < other.Seq
}

// ParseRunPosition parses the result of String.
func ParseRunPosition(text string) (p RunPosition, ok bool) {
	at, seq, found := strings.Cut(text, ".")
	when, err := strconv.ParseInt(at, 36, 64)
	place, failed := strconv.ParseInt(seq, 36, 64)
	p = RunPosition{Time(when), place}
	return p, found && err == nil && failed == nil && p.String() == text
}

// ResumeAnswer is a user's answer to a paused run.
type ResumeAnswer struct {
	ExecutionID string
	NodeID      string // "" = the first in map order that awaits input
	Input       any
	UserID      string
	CanManage   bool // of the run's blueprint
	// Link is the approval link that the answer was given with; nil for none.
	Link *LinkUse
}

// LinkUse is the use of an approval link. A link that a node made permits the answer; for
// one that a user made, the rights of that user do.
type LinkUse struct {
	ID       string // of the link, which does not reveal it
	ByNode   bool   // a node made it
	Question QuestionID
}

// QuestionID identifies one of the questions that a node has asked.
type QuestionID struct {
	At      Time `json:"at"`
	Attempt int  `json:"attempt"`
}

// Question is a question of a run, whether or not it is open.
type Question struct {
	State QuestionState
	Title string // of the node that asks
	// Input and ID are set if it is open. Secrets are redacted.
	Input *AwaitingInput
	ID    QuestionID
	// PrincipalID is that of the run.
	PrincipalID    string
	PrivateTo      string // the only user who may see the data of the run; "" = all who may see the run
	OrganizationID string
}

// MayShare reports whether a user may make an approval link to an open question, which shows
// it: they must be allowed to answer it, and to see it.
func (q *Question) MayShare(userID string, canManage bool) bool {
	return !q.IsHidden(userID) && q.Input.Kind.MayAnswer(userID, q.PrincipalID, canManage)
}

// IsHidden reports whether a user may not see an open question, because its run is private to
// another one. Approvals are for managers, who see them.
func (q *Question) IsHidden(userID string) bool {
	return q.Input.Kind == AwaitHuman && q.PrivateTo != "" && q.PrivateTo != userID
}

// QuestionState is the state of a question.
type QuestionState string

// The states of questions.
const (
	QuestionPending  QuestionState = "pending" // not asked yet
	QuestionOpen     QuestionState = "open"
	QuestionAnswered QuestionState = "answered"
	QuestionExpired  QuestionState = "expired" // not answered in time
	QuestionClosed   QuestionState = "closed"  // skipped, or the run ended before
)

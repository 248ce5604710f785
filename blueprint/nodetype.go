package blueprint

import (
	"context"
	"time"
)

// NodeType is an entry of the catalogue. It is immutable and safe for concurrent use.
type NodeType struct {
	Type        string // kebab-case
	Title       string
	Description string
	// Category is "flow", "data", "people", "services" or "events". Order is the position
	// of the type in lists.
	Category string
	Order    int
	// Schema is the JSON Schema of config, as a plain JSON value.
	Schema map[string]any
	// Handles are the sourceHandles that the type may choose besides "main".
	Handles []string
	Effect  Effect
	// Quick reports that Run only computes, briefly and without waiting.
	Quick bool
	// PassesInput reports that the output is the input.
	PassesInput bool
	// Waits is what the node waits for: "time", a "person", its own "runs", or "".
	Waits string
	// Connections are the types for connectionId, the usual one first; nil = none.
	Connections []ConnectionType
	// AnsweredBy is the source of the result when a run is repeated elsewhere.
	AnsweredBy Answerer
	// Stub is a JSON object with which a stub of a test lets a node of the type succeed:
	// {"status", "body"} in place of the service, or {"output"} in place of the node where
	// no single response satisfies the protocol; "" = any response.
	Stub string
	// StubStatus returns the status of a response with which a node of a config succeeds;
	// nil or 0 = any.
	StubStatus func(config map[string]any) int
	// Example is a valid config.
	Example map[string]any
	// Starter is the config of a new node.
	Starter map[string]any
	// Output is a JSON Schema of the output as far as it is known; may be nil.
	Output map[string]any
	// Verbatim reports which values below config are not templates: expressions, source
	// code, JSON Schemas. The path is relative to config.
	Verbatim func(path []any) bool
	// Expressions lists config keys with expressions, such as "cases[].when".
	Expressions []string
	// References returns what verbatim keys refer to, except for malformed ones; nil for
	// types without such keys.
	References func(config map[string]any) []Reference
	// Body returns the blueprint_map that the node runs for each item, from its
	// unresolved config, and its path below config, nil for a generated one. May be nil.
	Body func(config map[string]any) (body map[string]any, path []any)
	// Check returns the issues of a config with unresolved templates; paths start at
	// config. It does no I/O.
	Check func(config map[string]any) []Issue
	// Run does the node's work. Its error becomes the step's and, depending on OnError,
	// the run's. A *Failure has more details.
	Run func(ctx context.Context, task *Task) (Result, error)
	// Answer converts the answer to an Await into the node's result; nil for types that
	// never await. The task is that of Run. An *Error with CodeBadRequest rejects the
	// answer and leaves the run paused; its issue paths start with "input". Any other
	// error is the node's failure. Answer has no side effects and also checks answers.
	Answer func(task *Task, answer any) (Result, error)
	// Expired returns the node's result, or its failure, when the Await expires; nil for
	// types that never await.
	Expired func(task *Task) (Result, error)
}

// Answerer is the source of a node's result in a repeated run.
type Answerer string

// The answerers.
const (
	AnsweredByItself   Answerer = ""         // it runs
	AnsweredByCassette Answerer = "cassette" // its recorded exchanges
	AnsweredByStub     Answerer = "stub"     // its result depends on people, other runs or subscribers, which are not recorded
)

// Asks reports whether the node asks a person, so that it has an approval link.
func (k *NodeType) Asks() bool { return k.Waits == "person" }

// NeedsStub reports whether a repeated node of the type needs a stub; recorded reports
// whether there is a cassette.
func (k *NodeType) NeedsStub(recorded bool) bool {
	return k.AnsweredBy == AnsweredByStub || k.AnsweredBy == AnsweredByCassette && !recorded
}

// Task is the input of a node, and its interface to the run.
type Task struct {
	ExecutionID string
	BlueprintID string
	// OrganizationID is that of the blueprint; "" outside a server.
	OrganizationID string
	Address        string // the node's address, unique in the run
	Attempt        int    // from 1
	Config         map[string]any
	Input          any
	InputData      any
	Inputs         []NodeOutput // the taken predecessors, in the order of the edges
	Sequential     bool         // the map has no edges
	Now            time.Time
	// IdempotencyKey is the same for every attempt of this node in this run.
	IdempotencyKey string
	// Evaluate evaluates an expression in the node's scope.
	Evaluate func(source string) (any, error)
	// Scope collects the variables and earlier nodes in the node's scope, for scripts.
	// Nil = an empty scope.
	Scope func() NodeScope
	// Log adds an entry to the run's log. Level is debug, info, warn or error.
	Log func(level, message string, data any)
	// Connect opens a connection that the run's principal may use and records it. Errors
	// are *Failure (such as connection_unavailable) or *Pause (for a sign-in), which
	// the node returns unchanged.
	Connect func(ctx context.Context, connectionID string) (*OpenConnection, error)
	// Budget is called before each call of a language model with an estimate of its
	// tokens, and may wait for other calls. Errors are those of ctx, a *Failure
	// (budget_exceeded) or a *Pause, to which the node adds its State. Spend reports
	// the tokens used, even if the node fails later.
	Budget func(ctx context.Context, estimate int64) error
	Spend  func(tokens int64)
	// Emit publishes an event, once per IdempotencyKey, and returns how many triggers it
	// started. Nil without triggers.
	Emit      func(ctx context.Context, event string, data any) (delivered int, err error)
	Authority Authority
	// Seed seeds the random numbers of scripts; 0 = random.
	Seed uint64
	// State is that of the previous Pause; nil at first.
	State any
}

// NodeScope is the scope of a script. The values are shared and immutable.
type NodeScope struct {
	// Variables include those that nodes set; may be nil.
	Variables map[string]any
	// Nodes holds {"output": value} for each node that led to this one.
	Nodes map[string]any
	// Denied are the secret variables that the run must not use. They are not in
	// Variables, and using one must be an error.
	Denied []string
	// Missing is the grant that would allow them; nil if the principal may not use them.
	Missing *MissingGrant
}

// NodeOutput is the output of a predecessor.
type NodeOutput struct {
	NodeID string
	Output any
}

// Result is the result of a node.
type Result struct {
	// Output is a plain JSON value. With PassInput it is the input instead.
	Output    any
	PassInput bool
	// Handle is the chosen sourceHandle besides the default; "" = none.
	Handle string
	// Variables become run variables for downstream nodes. Unless nil, they must be the
	// members of Output.
	Variables map[string]any
	// Wait completes the node at a later time with its input as output.
	Wait *Wait
	// Await pauses the run for an answer; see NodeType.Answer.
	Await *Await
	// Respond is the response to a waiting webhook request.
	Respond *Response
	// Stop ends the run.
	Stop *Stop
	// Each runs the node's sub-graph once per item; the output is the list of their outputs.
	Each *Each
	// Run starts another blueprint with the run's principal; the output is that of the sub-run.
	Run *SubRun
	// Calls are the outbound requests, also when Run fails.
	Calls []Call
	// Tokens is the number of language model tokens used.
	Tokens     int64
	MCPServers []MCPServer
}

// MCPServer is an MCP server by its own name. Address, which is not shown, is unique.
type MCPServer struct{ Name, Address string }

// Wait is a pause of a node; see Result.
type Wait struct{ Until time.Time }

// Await is a request for input from a person.
type Await struct {
	Kind    AwaitKind
	Prompt  string
	Schema  any // JSON Schema of the answer, or nil
	Options []string
	URL     string // to visit, if any
	// Expires is the time limit for the answer; 0 = none.
	Expires time.Duration
	// LinkExpires is how long approval links to it are valid; 0 = DefaultLinkLife or, if it
	// is set, Expires.
	LinkExpires time.Duration
	// OnExpire is what happens after Expires: "fail", "continue", "approve" or "reject".
	OnExpire string
}

// DefaultLinkLife is how long an approval link is valid after its question was asked, unless
// the question expires or its node says otherwise.
const DefaultLinkLife = 7 * 24 * time.Hour

// Response is an HTTP response. Body is a plain JSON value; a string is sent as it is.
type Response struct {
	Status  int               `json:"status"`
	Headers map[string]string `json:"headers,omitempty"`
	Body    any               `json:"body"`
}

// Each is an iteration over items.
type Each struct {
	Items       []any
	Concurrency int // maximum of simultaneous items; 0 = 1
}

// SubRun is a run that a node starts.
type SubRun struct {
	BlueprintID string         `json:"blueprintId"`
	Variables   map[string]any `json:"variables,omitempty"`
	InputData   any            `json:"inputData"`
}

// Stop ends a run: completed, or failed with Message and Code ("" = "stopped").
type Stop struct {
	Failed  bool
	Message string
	Code    string
	// Item limits the stop to the current item of an enclosing for-each node.
	Item bool
}

// Call is an outbound HTTP request and its status; 0 = no answer.
type Call struct {
	Host   string
	Status int
}

// Failure is the error of a node with details for the engine.
type Failure struct {
	Message string
	Code    string
	// Permanent failures are not retried, such as an invalid config.
	Permanent bool
	// RetryAfter is the delay that the service requested; 0 = none.
	RetryAfter time.Duration
	// NotSent reports that nothing was sent: even a node with effect "once" may be retried.
	NotSent bool
	// Hint is what to do; Grant is the missing grant for CodeNeedsGrant.
	Hint  string
	Grant *MissingGrant
}

func (f *Failure) Error() string { return f.Message }

// Catalogue is the set of node types by name. It is immutable.
type Catalogue map[string]*NodeType

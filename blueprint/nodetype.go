package blueprint

import (
	"context"
	"time"
)

// NodeType is one entry of the catalogue: what a node of this type is and
// does. A NodeType is immutable and may run in many goroutines at once.
type NodeType struct {
	Type        string // kebab-case
	Title       string
	Description string
	// Category says what the type is for: "flow", "data", "people", "services" or
	// "events". Order is its place among all types where people choose one.
	Category string
	Order    int
	// Schema is the JSON Schema of config, as a plain JSON value.
	Schema map[string]any
	// Handles are the sourceHandles that the type may choose besides "main".
	Handles []string
	Effect  Effect
	// Quick says that Run only computes, and that in a moment: it waits for
	// nothing and nobody.
	Quick bool
	// PassesInput says that the output is the input.
	PassesInput bool
	// Waits says what a node of the type spends its time waiting for: "time", a
	// "person", "runs" of its own, or "" for one that works.
	Waits string
	// Connections are the types of connection that connectionId may name, the usual
	// one first; nil for types that need none.
	Connections []ConnectionType
	// AnsweredBy is what gives the outcome when a run is repeated away from its
	// server.
	AnsweredBy Answerer
	// Example is a config that works.
	Example map[string]any
	// Starter is the config of a new node.
	Starter map[string]any
	// Output is a JSON Schema of what is known of the output before a run; nil
	// when that is nothing.
	Output map[string]any
	// Untouched says which values below config are kept as they are when
	// templates are resolved: expressions, source code, JSON Schemas. The path
	// is relative to config.
	Verbatim func(path []any) bool
	// Expressions lists the config keys whose strings are expressions; a key
	// of an array's elements is written as in "cases[].when".
	Expressions []string
	// References lists what these expressions refer to, and what other keys that
	// are kept from the templates use of variables; of malformed ones nothing.
	// Nil for types that have none.
	References func(config map[string]any) []Reference
	// Body gives the blueprint_map that the node runs for each item, from its
	// config as it was written, and the path below config where it stands, nil
	// when nobody wrote it. Nil for types that run none.
	Body func(config map[string]any) (body map[string]any, path []any)
	// Check tells what is wrong with a config that may still hold templates;
	// paths start at config. It asks nothing of the outside.
	Check func(config map[string]any) []Issue
	// Run does the node's work. An error is the user's: it becomes the step's
	// error, and by OnError the run's. A *Failure tells more than a plain error.
	Run func(ctx context.Context, task *Task) (Result, error)
	// Answer turns what somebody answered to the Await of Run into the node's
	// result; nil for types that never await. The task is as it was for Run. An
	// *Error with CodeBadRequest refuses the answer and leaves the run paused;
	// its issues' paths start with "input", where the answer stands in a
	// request. Any other error is the node's failure. Nothing is settled here,
	// so it may also be asked just to check an answer.
	Answer func(task *Task, answer any) (Result, error)
	// Expired gives the node's result when nobody answered in time, or its
	// failure; nil for types that never await.
	Expired func(task *Task) (Result, error)
}

// Answerer gives the outcome of a node where a run is repeated without the
// services, people and runs that it had.
type Answerer string

// The answerers.
const (
	AnsweredByItself   Answerer = ""         // it only computes
	AnsweredByCassette Answerer = "cassette" // the recording of what it exchanged with other services
	AnsweredByStub     Answerer = "stub"     // its outcome depends on people, other runs or listeners, which no recording of requests tells
)

// NeedsStub reports whether a node of the type can be repeated only with a stub;
// recorded says whether there is a cassette.
func (k *NodeType) NeedsStub(recorded bool) bool {
	return k.AnsweredBy == AnsweredByStub || k.AnsweredBy == AnsweredByCassette && !recorded
}

// Task is what a run hands to a node, and all that a node may ask of it.
type Task struct {
	ExecutionID string
	BlueprintID string
	// OrganizationID is what the blueprint belongs to; "" where there is none.
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
	// Evaluate computes an expression of config over the node's scope.
	Evaluate func(source string) (any, error)
	// Scope gives all that the node's scope holds of variables and of earlier
	// nodes, for types that hand it to code. It is collected when it is asked
	// for. Nil stands for an empty scope.
	Scope func() NodeScope
	// Log adds a line to the run's log. Level is debug, info, warn or error.
	Log func(level, message string, data any)
	// Connect opens a connection that the run's principal may use. Errors are
	// *Failure (code connection_unavailable: there is none that the principal
	// may use) or *Pause (somebody must sign in first); a node returns either as
	// it is. What it opens is noted in the run's record.
	Connect func(ctx context.Context, connectionID string) (*OpenConnection, error)
	// Budget is asked before each call to a language model, with an estimate of the
	// tokens that it takes, and may wait for other calls. Its errors are a
	// *Failure (budget_exceeded) or a *Pause, which a node returns, the latter
	// with its State, and those of ctx. Spend tells what the call took; it counts
	// at once, also when the node fails later.
	Budget func(ctx context.Context, estimate int64) error
	Spend  func(tokens int64)
	// Emit raises an event, once for each IdempotencyKey, and tells how many
	// triggers it started. Nil where there are none.
	Emit func(ctx context.Context, event string, data any) (delivered int, err error)
	// Authority is under whose rights the run uses resources.
	Authority Authority
	// Seed is what the chance of code follows from; 0 = it is chance.
	Seed uint64
	// State is that of the Pause with which the node paused; nil at first.
	State any
}

// NodeScope is what code in a node may see of its run. The values are shared:
// nobody may change them.
type NodeScope struct {
	// Variables are the run's, with those that nodes wrote; nil for none.
	Variables map[string]any
	// Nodes holds {"output": value} for each node that led to this one.
	Nodes map[string]any
	// Denied names the secret variables that the run's principal may not use.
	// They are not among Variables, and using one must be an error.
	Denied []string
	// Missing is the grant for lack of which they are denied; nil when the principal
	// itself may not use them.
	Missing *MissingGrant
}

// NodeOutput is what one predecessor gave.
type NodeOutput struct {
	NodeID string
	Output any
}

// Result is what a node gives back.
type Result struct {
	// Output is the node's output, a plain JSON value. With PassInput it is
	// ignored: the output is the input, unchanged.
	Output    any
	PassInput bool
	// Handle is the sourceHandle that the node chose; "" chooses none besides
	// the default.
	Handle string
	// Variables become run variables for everything downstream. Nil gives none;
	// else they must be the members of Output.
	Variables map[string]any
	// Wait lets the run go on after an instant; the input is passed on then.
	Wait *Wait
	// Await pauses the run for an answer, which the type's Answer turns into a
	// result.
	Await *Await
	// Respond is what a waiting webhook caller is answered.
	Respond *Response
	// Stop ends the run.
	Stop *Stop
	// Each lets the node's sub-graph run once for each item; its output is then
	// that of the items, in their order.
	Each *Each
	// Run starts another blueprint under the run's principal and lets the node
	// wait for it; the node's output is then that run's.
	Run *SubRun
	// Calls are the outbound requests that were made, also when Run fails.
	Calls []Call
	// Tokens counts the language model tokens that were used.
	Tokens int64
	// MCPServers are the MCP servers that were asked.
	MCPServers []MCPServer
}

// MCPServer is an MCP server by the name that it gives itself. Address tells
// servers of one name apart; it is not shown.
type MCPServer struct{ Name, Address string }

// Wait is a pause until an instant, after which the node completes with its
// input as output.
type Wait struct{ Until time.Time }

// Await asks somebody for input.
type Await struct {
	Kind    AwaitKind
	Prompt  string
	Schema  any // JSON Schema of the answer, or nil
	Options []string
	URL     string // what to visit, when that is asked for
	// Expires is how long the answer may take; 0 = for ever.
	Expires time.Duration
	// OnExpire is what happens then: "fail", "continue", "approve" or "reject".
	OnExpire string
}

// Response is an HTTP answer. Body is a plain JSON value; a string stands for
// itself.
type Response struct {
	Status  int               `json:"status"`
	Headers map[string]string `json:"headers,omitempty"`
	Body    any               `json:"body"`
}

// Each is what a node goes over.
type Each struct {
	Items       []any
	Concurrency int // items at work at once; 0 = 1
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
	// Item limits it to the item of a for-each node that the node belongs to,
	// if it belongs to one.
	Item bool
}

// Call is one outbound HTTP request and its status; 0 when none came back.
type Call struct {
	Host   string
	Status int
}

// Failure is a node's failure with what the engine needs to know of it.
type Failure struct {
	Message string
	Code    string
	// Permanent failures are not retried: a bad config, an unknown name.
	Permanent bool
	// RetryAfter is how long the other side asked us to wait; 0 = it did not.
	RetryAfter time.Duration
	// NotSent tells that nothing left this machine, so that even a node with
	// effect "once" may try again.
	NotSent bool
	// Hint says what to do about it, and Grant what CodeNeedsGrant lacks.
	Hint  string
	Grant *MissingGrant
}

// Error returns the message.
func (f *Failure) Error() string { return f.Message }

// Catalogue is the set of node types by name. It is built once and only read.
type Catalogue map[string]*NodeType

package blueprint

import (
	"context"
	"net/http"
	"regexp"
	"strconv"
)

// Connection is what people see of a connection: how to reach another service,
// and with which credentials. It belongs to an organization, or, when
// OrganizationID is nil, to who made it.
type Connection struct {
	ID             string         `json:"id"`
	Name           string         `json:"name"`
	Type           ConnectionType `json:"type"`
	Config         map[string]any `json:"config"` // secrets are null
	OrganizationID *string        `json:"organizationId"`
	CreatedBy      string         `json:"createdBy"`
	// ConfiguredBy is the one user who answers for all of the config; "" when it
	// is the work of several.
	ConfiguredBy string `json:"-"`
	// Named says that all who read what a node reports of it may know its name.
	NameVisible bool `json:"-"`
	CreatedAt   Time `json:"createdAt"`
	UpdatedAt   Time `json:"updatedAt"`
}

// NewConnection is what a connection is made from.
type NewConnection struct {
	Name   string
	Type   ConnectionType
	Config map[string]any
	// OrganizationID is what it belongs to; "" = the caller.
	OrganizationID string
}

// ConnectionUse asks for a connection on behalf of a node: the run's principal
// must be allowed to use it, and a sign-in that it needs is for this run.
type ConnectionUse struct {
	ConnectionID string
	UserID       string // the run's principal
	// Versions are those of the authority under which it is used; none outside a run.
	Versions    []VersionRef
	ExecutionID string
	Address     string // of the node
	// Learn is told of each secret that comes up later, such as a token that
	// was renewed; it may be nil. Open does not call it.
	OnSecret func(secret string)
}

// Authority returns under whose rights the connection is used.
func (u ConnectionUse) Authority() Authority { return Authority{u.UserID, u.Versions} }

// Text returns what a message calls the connection, which its readers may not be
// allowed to use: NameConnections puts the name into the messages of those who are.
func (c *Connection) Text() string { return connectionCalled(c.ID, c.Name, c.NameVisible) }

// Text is that of Connection, or has the name where all readers may know it.
func (c *OpenConnection) Text() string {
	return connectionCalled(c.ID, c.Name, !c.Personal)
}

func connectionCalled(id, name string, named bool) string {
	if named {
		return "connection " + strconv.Quote(name)
	}
	return "connection (" + id + ")"
}

var connectionText = regexp.MustCompile(`connection \(([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\)`)

// NameConnections returns a message with the names of its connections, as far as
// name gives them.
func NameConnections(message string, name func(id string) string) string {
	return connectionText.ReplaceAllStringFunc(message, func(found string) string {
		if known := name(connectionText.FindStringSubmatch(found)[1]); known != "" {
			return "connection " + strconv.Quote(known)
		}
		return found
	})
}

// OpenConnection is a connection as a node uses it. It is valid for one attempt
// of a node and safe for concurrent use.
type OpenConnection struct {
	ID   string
	Name string
	// Personal says that some readers of what a node reports may not know the name.
	Personal bool
	Type     ConnectionType
	// Config is all of it, with its secrets in the clear.
	Config map[string]any
	// Secrets are the values that nobody may see, in steps, logs or results.
	Secrets []string
	// Hosts are where the credentials may go: "host", "host:port" or
	// "*.domain"; a host without a port means any port of it.
	Hosts []string
	// Auth is how it proves who we are: "oauth2", "api_key", "bearer", "basic",
	// or "" when it does not.
	Auth string
	// SignIn tells that it stands for a person who signed in (the
	// authorization code flow).
	SignIn bool
	// Authorize adds the credentials to one request, just before it is sent; a
	// request to a host that is not among Hosts is a *Failure with the code
	// host_not_allowed, and nothing is added. It is called for each hop of a
	// redirect by the guarded client. Nil when there is nothing to add.
	Authorize func(ctx context.Context, request *http.Request) error
	// Renew gets other credentials after a service refused the present ones with
	// 401, and Authorize adds those from then on; a node sends the request once
	// more. Errors are *Failure or *Pause. Nil when there are none to get.
	Renew func(ctx context.Context) error
}

// Pause is the error of a node that cannot go on before somebody did something:
// signed in, or raised a budget. The engine asks, and runs the node again after
// the answer.
type Pause struct {
	Await Await
	// State is given back as Task.State when the node runs again; nil keeps
	// none. It is a plain JSON value and may hold secrets.
	State any
}

// Error says what is asked.
func (p *Pause) Error() string { return p.Await.Prompt }

// SignIn is one way to a service that a person was sent on and has not come
// back from: the state in the address that they were given, and the run that
// waits for them.
type SignIn struct {
	StateHash    []byte // SHA-256 of the state, which itself is not kept
	Ticket       bool   // the address that a run asked a person to visit, from where they are sent on
	ConnectionID string
	UserID       string // who signs in
	Secret       []byte // what the way back needs; at most 16 KiB
	ExecutionID  string // the run that waits; "" = none
	Address      string // of the node in it
	// Versions are those that the user grants by signing in.
	Versions  []VersionRef
	CreatedAt Time // set by the store; of a ticket, when it was last asked for
	ExpiresAt Time // until then the state is good
}

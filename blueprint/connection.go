package blueprint

import (
	"context"
	"net/http"
	"regexp"
	"strconv"
)

// Connection is a connection to another service without its secrets. It belongs to an
// organization, or to its creator if OrganizationID is nil.
type Connection struct {
	ID             string         `json:"id"`
	Name           string         `json:"name"`
	Type           ConnectionType `json:"type"`
	Config         map[string]any `json:"config"` // secrets are null
	OrganizationID *string        `json:"organizationId"`
	CreatedBy      string         `json:"createdBy"`
	// ConfiguredBy is the user who wrote all of the config; "" = several users.
	ConfiguredBy string `json:"-"`
	// NameVisible reports that every reader of a node's results may know its name.
	NameVisible bool `json:"-"`
	CreatedAt   Time `json:"createdAt"`
	UpdatedAt   Time `json:"updatedAt"`
}

// NewConnection is a connection to create.
type NewConnection struct {
	Name   string
	Type   ConnectionType
	Config map[string]any
	// OrganizationID is the owner; "" = the caller.
	OrganizationID string
}

// ConnectionUse is a request of a node for a connection. The run's principal must be
// allowed to use it; a sign-in that it needs is for this run.
type ConnectionUse struct {
	ConnectionID string
	UserID       string // the run's principal
	// Versions are those of the run's authority; none outside a run.
	Versions    []VersionRef
	ExecutionID string
	Address     string // of the node
	// OnSecret is called for each new secret, such as a renewed token, but not by Open;
	// may be nil.
	OnSecret func(secret string)
}

func (u ConnectionUse) Authority() Authority { return Authority{u.UserID, u.Versions} }

// Text returns the name of the connection for messages, or its id if some readers must
// not see the name; NameConnections inserts the name for the others.
func (c *Connection) Text() string { return connectionCalled(c.ID, c.Name, c.NameVisible) }

// Text is like Connection.Text.
func (c *OpenConnection) Text() string {
	return connectionCalled(c.ID, c.Name, !c.Personal)
}

func connectionCalled(id, name string, nameVisible bool) string {
	if nameVisible {
		return "connection " + strconv.Quote(name)
	}
	return "connection (" + id + ")"
}

var connectionText = regexp.MustCompile(`connection \(([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\)`)

// NameConnections replaces the ids of connections in a message by their names, unless
// name returns "".
func NameConnections(message string, name func(id string) string) string {
	return connectionText.ReplaceAllStringFunc(message, func(found string) string {
		if known := name(connectionText.FindStringSubmatch(found)[1]); known != "" {
			return "connection " + strconv.Quote(known)
		}
		return found
	})
}

// OpenConnection is a connection for one attempt of a node. Safe for concurrent use.
type OpenConnection struct {
	ID   string
	Name string
	// Personal reports that some readers of the node's results may not know the name.
	Personal bool
	Type     ConnectionType
	// Config includes the secrets.
	Config map[string]any
	// Secrets must be masked in steps, logs and results.
	Secrets []string
	// Hosts may receive the credentials; see HostsCover.
	Hosts []string
	// AnyHost reports that the host of a request may receive them too, whichever it is, but
	// not the hosts that it redirects to.
	AnyHost bool
	// Auth is "oauth2", "api_key", "bearer", "basic", or "" without credentials.
	Auth string
	// SignIn reports that the credentials are those of a user who signed in (the
	// authorization code flow).
	SignIn bool
	// Authorize adds the credentials to a request. For a host that may not receive them it
	// adds nothing and returns a *Failure with code host_not_allowed. The outbound
	// client calls it for each hop. Nil if there are no credentials.
	Authorize func(ctx context.Context, request *http.Request) error
	// Sent records that credentials were sent other than by Authorize, as in an SMTP session.
	// The engine sets it; nil if nothing is recorded.
	Sent func()
	// Renew gets new credentials for Authorize after a service answered 401; the node
	// then repeats the request once. Errors are *Failure or *Pause. Nil if not renewable.
	Renew func(ctx context.Context) error
}

// Pause is the error of a node that needs a sign-in or a larger budget. The engine
// pauses the run and runs the node again after the answer.
type Pause struct {
	Await Await
	// State is Task.State of the next run of the node: plain JSON that may hold secrets.
	State any
}

func (p *Pause) Error() string { return p.Await.Prompt }

// SignIn is an OAuth sign-in in progress: the state of the authorization URL, and the
// run that waits for it.
type SignIn struct {
	StateHash    []byte // SHA-256 of the state, which is not stored
	Ticket       bool   // of the URL in the run's prompt, which redirects to the service
	ConnectionID string
	UserID       string // who signs in
	Secret       []byte // for the callback; at most 16 KiB
	ExecutionID  string // the run that waits; "" = none
	Address      string // of the node in it
	// Versions are granted by the sign-in.
	Versions  []VersionRef
	CreatedAt Time // set by the store; of a ticket, its last request
	ExpiresAt Time // end of validity
}

package nodes

import (
	"context"
	"errors"
	"fmt"

	"blueprintd/blueprint"
)

// checkConnectionID finds what is wrong with the id of a connection.
func checkConnectionID(id string, r *report) {
	if r.given("connectionId") && !r.open(id) && !blueprint.IsUUID(id) {
		r.issue("must be the id of a connection, a UUID", "connectionId")
	}
}

// connect opens a connection that must be of a type.
func connect(ctx context.Context, task *blueprint.Task, id string, kind blueprint.ConnectionType) (*blueprint.OpenConnection, error) {
	if task.Connect == nil {
		return nil, badConnection("connections are not available here")
	}
	open, err := task.Connect(ctx, id)
	var failure *blueprint.Failure
	switch {
	case errors.As(err, &failure):
		failed := *failure
		failed.NotSent = true
		return nil, &failed
	case err != nil:
		return nil, err
	case open.Type != kind:
		return nil, badConnection(fmt.Sprintf("the %s is of type %s; this needs one of type %s", open.Text(), open.Type, kind))
	}
	return open, nil
}

// badConnection is the failure of a node that cannot use its connection.
func badConnection(message string) *blueprint.Failure {
	return &blueprint.Failure{Code: codeConnection, Message: message, Permanent: true, NotSent: true}
}

package server

import (
	"context"

	"blueprintd/connections"
	"blueprintd/engine/nodes/mcp"
	"blueprintd/foundation/outbound"
)

// newConnections makes what opens connections for nodes. The engine, whose runs
// it wakes, is there before anybody can sign in.
func (s *Server) newConnections(way *outbound.Client) *connections.Service {
	return connections.New(connections.Options{
		Store: s.Store, HTTP: way, Clock: s.Options.Clock, IDs: s.IDs.Stream("connections"), APIHost: s.APIHost, Logger: s.Options.Logger,
		Resume: func(ctx context.Context, executionID, address string) error {
			return s.Engine.SignedIn(ctx, executionID, address)
		},
		Probe: mcp.New(way, s.Options.Version).Check, Instead: s.signInPage(),
	})
}

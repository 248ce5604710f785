package main

import (
	"context"

	"blueprintd/connections"
	"blueprintd/engine/nodes/mcp"
	"blueprintd/foundation/outbound"
)

// newConnections makes what opens connections for nodes. The engine, whose runs
// it wakes, is there before anybody can sign in.
func (s *server) newConnections(way *outbound.Client) *connections.Service {
	return connections.New(connections.Options{
		Store: s.store, HTTP: way, Clock: s.options.clock, IDs: s.ids.Stream("connections"), APIHost: s.apiHost, Logger: s.options.logger,
		Resume: func(ctx context.Context, executionID, address string) error {
			return s.engine.SignedIn(ctx, executionID, address)
		},
		Probe: mcp.New(way, s.options.version).Check, Instead: s.signInPage(),
	})
}

package rpc

import (
	"context"

	"blueprintd/blueprint"
	"blueprintd/rpc/trpc"
)

type signInAddress struct {
	URL string `json:"url"` // to visit in a browser, by the caller alone
}

// connectionSignIn gives the address where the caller signs in for a connection,
// without a run that waits for it.
func (s *Service) connectionSignIn(ctx context.Context, caller *trpc.Caller, in connectionID) (signInAddress, error) {
	if _, err := s.Store.Connection(ctx, caller.Principal, in.ID); err != nil {
		return signInAddress{}, err
	}
	if s.Connections == nil {
		return signInAddress{}, blueprint.Errorf(blueprint.CodeUnavailable, "this server cannot sign people in")
	}
	url, err := s.Connections.SignIn(ctx, caller.UserID, in.ID)
	if err != nil {
		return signInAddress{}, err
	}
	caller.Note("connection", in.ID, nil)
	return signInAddress{url}, nil
}

package server_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"blueprintd/rpc/trpc"
	"blueprintd/tests/servertest"
)

// TestAdvanceIsFinished advances the clock for a client that has already disconnected.
func TestAdvanceIsFinished(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon)
	gone, hangUp := context.WithCancel(t.Context())
	hangUp()
	request := httptest.NewRequestWithContext(gone, http.MethodPost, "/clock/advance", strings.NewReader(`{"by":"36h"}`))
	var owner trpc.Caller
	owner.UserID = s.Root.ID
	if err := s.ClockAdvance(httptest.NewRecorder(), request, &owner); err != nil {
		t.Fatal(err)
	}
	if now := at(s.Root.Send(t, http.MethodGet, "/clock", "").Value, "now"); now != "2030-05-03T00:00:00.000Z" {
		t.Errorf("the clock is at %v, want 2030-05-03T00:00:00.000Z", now)
	}
}

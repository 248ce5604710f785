package rpc

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
)

// Every procedure that shows a run hides data that belongs to another user.
func TestEveryAnswerHidesData(t *testing.T) {
	for user, want := range map[string]*blueprint.Execution{"ann": fullRun("ann"), "bob": hiddenRun()} {
		t.Run(user, func(t *testing.T) {
			runner := &accessRunner{privateTo: "ann"}
			s, caller := newAccess(&accessStore{}, runner), callerOf(user)
			status, err := s.executionStatus(t.Context(), caller, executionID{"e"})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&want.ExecutionStatus, status); diff != "" {
				t.Errorf("status (-want +got):\n%s", diff)
			}
			record, err := s.executionRecord(t.Context(), caller, executionID{"e"})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(singleRecord{s.logRecord(want), want.InputData}, record, cmp.AllowUnexported(singleRecord{})); diff != "" {
				t.Errorf("record (-want +got):\n%s", diff)
			}
			var sent []*blueprint.ExecutionStatus
			err = s.executionSubscribe(t.Context(), caller, executionID{"e"}, func(status *blueprint.ExecutionStatus) error {
				sent = append(sent, status)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]*blueprint.ExecutionStatus{&want.ExecutionStatus}, sent); diff != "" {
				t.Errorf("subscription (-want +got):\n%s", diff)
			}
			traffic, err := s.executionExchanges(t.Context(), caller, executionID{"e"})
			if err != nil {
				t.Fatal(err)
			}
			wanted := exchanges{true, []blueprint.Exchange{}}
			if user == "ann" {
				wanted.Exchanges = []blueprint.Exchange{{NodeID: hush}}
			}
			if diff := cmp.Diff(wanted, traffic); diff != "" {
				t.Errorf("exchanges (-want +got):\n%s", diff)
			}
			page, err := s.logPage(t.Context(), caller.Principal, []*blueprint.StoredExecution{{}, {}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(logPage{[]logRecord{s.logRecord(want), s.logRecord(want)}, 2}, page); diff != "" {
				t.Errorf("page (-want +got):\n%s", diff)
			}
			if left := maxPage - want.DataSize; runner.room != left {
				t.Errorf("the last run of the page had room for %d bytes, want %d", runner.room, left)
			}
			run := &blueprint.FiringRun{ExecutionID: "e", Status: blueprint.StatusRunning}
			if err := s.lookUp(t.Context(), caller.Principal, run); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&blueprint.FiringRun{ExecutionID: "e", Status: want.Status, Error: want.Failure.Message, Displaced: want.Failure.Displaced}, run); diff != "" {
				t.Errorf("run of a firing (-want +got):\n%s", diff)
			}
		})
	}
}

func (r *accessRunner) Watch(string) (<-chan struct{}, func()) { return nil, func() {} }

// A damaged run does not hide others, and no other error is taken for damage.
func TestUnreadableRuns(t *testing.T) {
	broken, forbidden := errors.New("checksum differs"), blueprint.Errorf(blueprint.CodeForbidden, "not yours")
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for name, test := range map[string]struct {
		ctx  context.Context
		err  error
		want error // of a page
		look error // of the run of a firing
	}{
		"damaged":             {t.Context(), broken, nil, nil},
		"damaged, or left":    {gone, broken, broken, broken},
		"refused":             {t.Context(), forbidden, forbidden, forbidden},
		"unknown in between":  {t.Context(), blueprint.Errorf(blueprint.CodeNotFound, "gone"), nil, nil},
		"unknown by the list": {t.Context(), nil, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s, principal := newAccess(&accessStore{}, &accessRunner{viewErr: test.err}), blueprint.Principal{UserID: "ann"}
			stored := []*blueprint.StoredExecution{{Row: blueprint.ExecutionRow{ID: "e", Status: blueprint.StatusFailed}}}
			page, err := s.logPage(test.ctx, principal, stored, nil)
			if !errors.Is(err, test.want) {
				t.Errorf("page: got the error %v, want %v", err, test.want)
			}
			if removed := blueprint.CodeOf(test.err) == blueprint.CodeNotFound; removed && len(page.Logs) != 0 {
				t.Errorf("page: got %+v, want no removed run", page.Logs)
			} else if !removed && test.want == nil && (len(page.Logs) != 1 || page.Logs[0].Status != blueprint.StatusFailed) {
				t.Errorf("page: got %+v, want the failed run", page.Logs)
			}
			run := &blueprint.FiringRun{ExecutionID: "e", Status: blueprint.StatusPaused}
			if err := s.lookUp(test.ctx, principal, run); !errors.Is(err, test.look) {
				t.Errorf("run of a firing: got the error %v, want %v", err, test.look)
			}
			if test.err != nil && run.Status != blueprint.StatusPaused {
				t.Errorf("run of a firing: got the status %s, want that of the row", run.Status)
			}
			if _, err := s.logPage(test.ctx, principal, nil, forbidden); !errors.Is(err, forbidden) {
				t.Errorf("page of a list that was refused: got %v, want %v", err, forbidden)
			}
		})
	}
}

// The address of a trigger starts runs, so that only managers see it.
func TestAddressesAreForManagers(t *testing.T) {
	const url = "https://host/webhooks/blueprint/t"
	for name, test := range map[string]struct {
		kind      blueprint.TriggerType
		canManage bool
		want      *string
	}{
		"manager":     {blueprint.TriggerWebhook, true, new(url)},
		"reader":      {blueprint.TriggerWebhook, false, nil},
		"no address":  {blueprint.TriggerManual, true, nil},
		"nothing due": {blueprint.TriggerScheduled, true, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := newAccess(&accessStore{}, &accessRunner{})
			s.APIHost = func() string { return "https://host" }
			trigger := &blueprint.ListedTrigger{ID: "t", Type: test.kind, CanManage: test.canManage}
			s.complete(trigger)
			if diff := cmp.Diff(test.want, trigger.URL); diff != "" {
				t.Errorf("URL (-want +got):\n%s", diff)
			}
		})
	}
}

package server

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/ids"
	"blueprintd/server/limits"
	"blueprintd/store"
	"blueprintd/triggers"
)

// Health is reported while the server has the maximum of requests.
func TestHealthUnderLoad(t *testing.T) {
	t.Parallel()
	schema, err := os.ReadFile("../schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	database, err := store.Open(t.Context(), store.Options{Ephemeral: true, Schema: string(schema), Clock: clock.Real{}, IDs: ids.New(nil)})
	if err != nil {
		t.Fatal(err)
	}
	defer database.Close()
	s := &Server{site: site{Store: database}}
	s.Ready.Store(true)
	ask := func(handler http.Handler, method, path string) int {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(method, path, nil))
		return w.Code
	}
	var handler http.Handler
	handler = s.healthFirst(limits.Requests(1, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		for request, want := range map[[2]string]int{
			{http.MethodGet, "/healthz"}: http.StatusOK, {http.MethodHead, "/healthz"}: http.StatusOK, {http.MethodGet, "/readyz"}: http.StatusOK,
			{http.MethodPost, "/healthz"}: http.StatusServiceUnavailable, {http.MethodGet, "/"}: http.StatusServiceUnavailable,
		} {
			t.Run(fmt.Sprint(request), func(t *testing.T) {
				if got := ask(handler, request[0], request[1]); got != want {
					t.Errorf("status %d, want %d", got, want)
				}
			})
		}
	})))
	ask(handler, http.MethodGet, "/busy")
}

func TestSchedulesCheck(t *testing.T) {
	t.Parallel()
	at := blueprint.TimeOf(time.Date(2030, 5, 1, 12, 0, 0, 0, time.UTC))
	for _, test := range []struct {
		stats triggers.Stats
		first []triggers.OverdueSchedule
		says  string // all of the detail
		hint  string
	}{
		{triggers.Stats{}, nil, "none overdue, 0 ticks missed since the start", ""},
		{triggers.Stats{Missed: 5, Watched: at}, nil, "none overdue, 5 ticks missed since the start, last full check at " + at.String(), ""},
		{triggers.Stats{Missed: 5, WatchError: "the disk is full"}, nil, "schedule watchdog check failed: the disk is full", "check the disk"},
		{triggers.Stats{Overdue: 5}, []triggers.OverdueSchedule{{TriggerID: "a", Since: at}, {TriggerID: "b", Since: at + 1000}},
			"5 overdue: a since " + at.String() + ", b since " + (at + 1000).String() + ", and 3 more", "restart the server"},
		{triggers.Stats{Overdue: 1, WatchError: "x"}, []triggers.OverdueSchedule{{TriggerID: "a"}}, "1 overdue: a cannot be read", "update the config"},
	} {
		t.Run(test.says, func(t *testing.T) {
			got := schedulesCheck(test.stats, test.first)
			if got.Detail != test.says || !strings.Contains(got.Hint, test.hint) || got.OK != (test.hint == "") || got.OK != (got.Hint == "") {
				t.Errorf("%+v: %+v, want %q and the hint %q", test.stats, got, test.says, test.hint)
			}
		})
	}
}

func TestTriggersCheck(t *testing.T) {
	t.Parallel()
	named := []store.PausedTrigger{{ID: "a", Trip: blueprint.Trip{Failures: 20, ExecutionID: "exec_1"}}, {ID: "b", Trip: blueprint.Trip{Failures: 20, ExecutionID: "exec_2", Retries: true}}}
	for _, test := range []struct {
		first []store.PausedTrigger
		total int
		err   error
		says  string
		hint  string
	}{
		{nil, 0, nil, "none paused by the server", ""},
		{named[:1], 1, nil, "1 trigger was paused by the server: a (20 runs in a row failed, the last of them exec_1)", "isActive: true"},
		{named, 5, nil, "5 triggers were paused by the server: a (20 runs in a row failed, the last of them exec_1), b (20 runs in a row failed, the last of them exec_2), and 3 more", "why ID"},
		{nil, 0, errors.New("the disk is gone"), "triggers cannot be read: the disk is gone", "disk"},
		{nil, 0, fmt.Errorf("store: %w", blueprint.Hinted("start PostgreSQL", "it is away")), "triggers cannot be read: store: it is away", "start PostgreSQL"},
	} {
		t.Run(test.says, func(t *testing.T) {
			got := triggersCheck(test.first, test.total, test.err)
			want := check{Name: "triggers", OK: test.hint == "", Detail: test.says, Hint: got.Hint}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("check (-want +got):\n%s", diff)
			}
			if !strings.Contains(got.Hint, test.hint) || got.OK != (got.Hint == "") {
				t.Errorf("hint %q, want %q in it, and none if all is well", got.Hint, test.hint)
			}
		})
	}
}

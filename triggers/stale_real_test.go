package triggers_test

import (
	"log/slog"
	"net/http"
	"os"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/ids"
	"blueprintd/foundation/secret"
	"blueprintd/store"
)

// beside gives the database to another process for a moment.
func (s *server) beside(path string, f func(tool *store.Store) error) {
	s.t.Helper()
	schema, err := os.ReadFile("../schema.sql")
	s.fine(err)
	sealer, err := secret.NewSealer(make([]byte, secret.KeySize))
	s.fine(err)
	tool, err := store.Open(s.t.Context(), store.Options{Path: path, Schema: string(schema), Sealer: sealer, Clock: clock.Real{}, IDs: ids.New(nil), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		s.t.Fatal(err)
	}
	s.fine(f(tool))
	s.fine(tool.Close())
}

// What another process changed before a delivery came is heeded before any node
// reaches the outside, also one that its blueprint calls pure.
func TestDeliveryAfterChangeBesides(t *testing.T) {
	off := false
	for name, test := range map[string]struct {
		act    func(tool *store.Store, s *server, hook blueprint.Trigger) error
		status int
	}{
		"switched off": {func(tool *store.Store, s *server, hook blueprint.Trigger) error {
			_, err := tool.UpdateTrigger(t.Context(), s.user, hook.ID, nil, &off)
			return err
		}, http.StatusNotFound},
		"deleted": {func(tool *store.Store, s *server, hook blueprint.Trigger) error {
			return tool.DeleteTrigger(t.Context(), s.user, hook.ID)
		}, http.StatusNotFound},
		"given a secret": {func(tool *store.Store, s *server, hook blueprint.Trigger) error {
			_, err := tool.UpdateTrigger(t.Context(), s.user, hook.ID, func(blueprint.Trigger) (map[string]any, error) {
				return map[string]any{"secret": "a secret of some length"}, nil
			}, nil)
			return err
		}, http.StatusUnauthorized},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, config := range []map[string]any{{}, {"respond": "wait"}} {
				path := file(t)
				s := serve(t, path, noon)
				hook := s.trigger(blueprint.TriggerWebhook, config, "pass", "touch")
				for range 2 {
					s.hook(hook, `{}`)
				}
				s.advance(s.clock.Now()) // 202 comes once a run is on the disk, and it goes on behind that
				before := s.touched.Load()
				s.beside(path, func(tool *store.Store) error { return test.act(tool, s, hook) })
				for range 3 {
					if status, text, _ := s.hook(hook, `{}`); status != test.status {
						t.Errorf("answer %d %s, want %d", status, text, test.status)
					}
				}
				s.advance(s.clock.Now())
				if n := s.touched.Load() - before; before != 2 || n != 0 {
					t.Errorf("the outside was reached %d times before, and %d times behind it; want 2 and 0", before, n)
				}
			}
		})
	}
}

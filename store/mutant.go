package store

import (
	"context"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/foundation/mutant"
)

// The bugs that the harnesses must find; see package mutant. A normal build neither calls
// nor contains any of them.

// mutantSettings are the settings of a writer that does not sync.
func mutantSettings(settings []string) []string {
	if mutant.Is(mutant.SynchronousOff) {
		settings = strings.Split(strings.Replace(strings.Join(settings, "\n"), "_synchronous=FULL", "_synchronous=OFF", 1), "\n")
	}
	return settings
}

// mutantSchema removes the parts of a schema that would prevent a bug from doing harm.
func mutantSchema(schema string) string {
	if mutant.Is(mutant.NoFiringKey) {
		schema = strings.Replace(schema, "CREATE UNIQUE INDEX firings_started", "CREATE INDEX firings_started", 1)
	}
	if mutant.Is(mutant.StatusRewritten) {
		schema = strings.Replace(schema, "WHEN OLD.end_time IS NOT NULL", "WHEN 0", 1)
	}
	return schema
}

// mutantRecovery marks the latest completed runs as failed, as after an interruption.
func mutantRecovery(ctx context.Context, s *Store) error {
	if !mutant.Is(mutant.StatusRewritten) {
		return nil
	}
	return s.write(ctx, func(t *transaction) error {
		_, err := t.exec("UPDATE executions SET status = 'failed' WHERE status = 'completed' AND seq > (SELECT max(seq) FROM executions) - 20")
		return err
	})
}

// forget removes undelivered events from the outbox.
func (s *Store) forget(ctx context.Context, list []blueprint.OutboxEvent) {
	var keys []string
	for i := range list {
		keys = append(keys, list[i].Key)
	}
	if err := s.RemoveEvents(ctx, keys); err != nil {
		s.options.Logger.Warn("removing delivered events failed", "error", err)
	}
}

package store

import (
	"context"
	"strings"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/metrics"
	"blueprintd/foundation/mutant"
)

// placeRun puts a new run with a limit into its concurrency group, in the transaction that
// stores it. The unfinished runs of a group belong to one process, whose engine applies the
// limit; a run that another process accepted is handed to it.
func (s *Store) placeRun(t *transaction, c *blueprint.JournalCommit, seq int64) error {
	g := c.Group
	if g == nil || s.nodes.id == 0 {
		return nil
	}
	var running int
	var oldest string
	owner := s.nodes.id
	const query = `SELECT count(*), coalesce(max(owner), ?2), coalesce((array_agg(id ORDER BY seq))[1], '') FROM executions WHERE concurrency_key = ?1 AND end_time IS NULL`
	if err := t.row(query, []any{g.Key, owner}, &running, &owner, &oldest); err != nil {
		return err
	}
	if g.Limit > 0 && running >= g.Limit && g.OnLimit == blueprint.LimitSkip {
		return &blueprint.ConcurrencyLimitError{Limit: g.Limit, Running: running, Oldest: oldest}
	}
	if g.Limit > 0 && running >= g.Limit+blueprint.MaxBlocked && g.OnLimit == blueprint.LimitQueue {
		return blueprint.GroupQueueFull(g.Limit)
	}
	if _, err := t.exec("UPDATE executions SET concurrency_key = ?, owner = ? WHERE seq = ?", g.Key, owner, seq); err != nil {
		return err
	}
	if c.Handed = owner != s.nodes.id; !c.Handed {
		return nil
	}
	if mutant.Is(mutant.RunHandedTwice) {
		c.Handed = false
	}
	return s.insertCommand(t, c.Row.ID, owner, nil, new(int64))
}

func (s *Store) insertCommand(t *transaction, executionID string, target int64, data []byte, seq *int64) error {
	const insert = "INSERT INTO signals (execution_id, target, command, at) VALUES (?, ?, ?, ?) RETURNING seq"
	return t.row(insert, []any{executionID, target, blobOrNull(data), int64(blueprint.TimeOf(clock.Real{}.Now()))}, seq)
}

// How long a command waits until its process takes it, how long it then waits for the
// answer, which for a cancellation includes running nodes, and how often it looks.
const (
	commandPatience = 5 * time.Second
	answerPatience  = 10 * time.Second
	commandInterval = 25 * time.Millisecond
)

// errNotTaken is returned for a command that its process did not take, and will not.
var errNotTaken = &blueprint.Error{Code: blueprint.CodeUnavailable, Message: "the process of the server that has the run does not answer; nothing was done", RetryAfter: 2 * time.Second}

// errNotAnswered is returned for a command whose outcome is not known in time.
var errNotAnswered = &blueprint.Error{
	Code: blueprint.CodeUnavailable, Message: "the process of the server that has the run has not answered yet; the command may still take effect",
	Hint: "check the run before you repeat the command", RetryAfter: commandPatience,
}

// Ask sends a command to the process that has an unfinished run and returns its answer; nil
// if this process has the run, or it has ended. Errors: CodeUnavailable without an answer
// in seconds.
func (s *Store) Ask(ctx context.Context, executionID string, command []byte) (answer []byte, err error) {
	defer wrap(&err, "ask about execution %s", executionID)
	var seq int64
	err = s.write(ctx, func(t *transaction) error {
		var owner int64
		const query = "SELECT coalesce(owner, 0) FROM executions WHERE id = ? AND end_time IS NULL"
		if err := optional(t.row(query, []any{executionID}, &owner)); err != nil || owner == 0 || owner == s.nodes.id {
			return err
		}
		return s.insertCommand(t, executionID, owner, command, &seq)
	})
	if err != nil || seq == 0 {
		return nil, err
	}
	if answer, err = s.awaitAnswer(ctx, seq, s.nodes.patience); err == nil && answer != nil {
		return answer, nil
	}
	ctx = context.WithoutCancel(ctx)
	var withdrawn int64
	err = s.write(ctx, func(t *transaction) (err error) {
		withdrawn, err = t.exec("DELETE FROM signals WHERE seq = ? AND taken = 0", seq)
		return err
	})
	if err == nil && withdrawn > 0 {
		return nil, errNotTaken
	}
	if err == nil {
		answer, err = s.awaitAnswer(ctx, seq, answerPatience)
	}
	if err != nil || answer == nil {
		return nil, errNotAnswered
	}
	return answer, nil
}

// awaitAnswer waits for the answer to a command; nil if there is none in time.
func (s *Store) awaitAnswer(ctx context.Context, seq int64, patience time.Duration) (answer []byte, err error) {
	for watch := metrics.Begin(); watch.Elapsed() < patience && clock.Sleep(ctx, commandInterval); {
		if answer, err := s.answerTo(ctx, seq); err != nil || answer != nil {
			return answer, err
		}
	}
	return nil, nil
}

func (s *Store) answerTo(ctx context.Context, seq int64) (answer []byte, err error) {
	return answer, optional(s.readRow(ctx, "SELECT answer FROM signals WHERE seq = ?", []any{seq}, &answer))
}

// Commands takes the commands for the runs of this process, in order. Without Data a
// command announces a new run, which this process has to begin.
func (s *Store) Commands(ctx context.Context) (list []blueprint.RunCommand, err error) {
	defer wrap(&err, "commands")
	// It waits for the outcome: commands that are taken without being returned would be lost.
	err = s.submit(ctx, &job{size: 512, run: func(t *transaction) error {
		list = nil
		take := `WITH taken AS (UPDATE signals SET taken = 1 WHERE target = ? AND taken = 0 RETURNING seq, execution_id, command) SELECT * FROM taken ORDER BY seq`
		if mutant.Is(mutant.CommandTwice) {
			take = strings.Replace(take, "SET taken = 1", "SET taken = 0", 1)
		}
		return collect(t.session, &list, take, []any{s.nodes.id}, fields(func(c *blueprint.RunCommand) []any {
			return []any{&c.Seq, &c.ExecutionID, &c.Data}
		}))
	}})
	return list, err
}

// Answer answers a command.
func (s *Store) Answer(ctx context.Context, seq int64, answer []byte) (err error) {
	defer wrap(&err, "answer a command")
	return s.write(ctx, func(t *transaction) error {
		_, err := t.exec("UPDATE signals SET answer = ? WHERE seq = ?", answer, seq)
		return err
	})
}

// Answered returns the answer to the announcement of a run that was handed to another
// process; nil while there is none.
func (s *Store) Answered(ctx context.Context, executionID string) (answer []byte, err error) {
	defer wrap(&err, "answer about execution %s", executionID)
	const query = "SELECT answer FROM signals WHERE execution_id = ? AND command IS NULL AND answer IS NOT NULL"
	return answer, optional(s.readRow(ctx, query, []any{executionID}, &answer))
}

// Commands are kept for an hour, and removed by the process with the duties.
const (
	staleCommandsInterval = time.Minute
	keepCommands          = time.Hour
)

func (s *Store) removeStaleCommands(ctx context.Context) {
	if !s.hasDuties() {
		return
	}
	err := s.write(ctx, func(t *transaction) error {
		_, err := t.exec("DELETE FROM signals WHERE taken = 1 AND at < ?", int64(blueprint.TimeOf(clock.Real{}.Now().Add(-keepCommands))))
		return err
	})
	if err != nil {
		s.options.Logger.Warn("removing old commands failed, retrying", "error", err)
	}
}

package store

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"blueprintd/blueprint"
)

// This file holds what several processes on one PostgreSQL database share besides the data
// of users. On a file there is one process, which keeps all of this in its memory.

// claimTerm is the longest time that a claim outlives its process: it ends earlier once the
// process is known to be dead. claimPoll is how often a claim that another process holds is
// tried again.
const (
	claimTerm = time.Minute
	claimPoll = 50 * time.Millisecond
)

// Claim waits until no other process of the server holds a claim, and holds it until release
// is called. It returns the error of ctx if that ends first. On a file there is no other
// process: it returns at once, and does not keep callers of the same process apart.
func (s *Store) Claim(ctx context.Context, name string) (release func(), err error) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
			timer.Reset(claimPoll)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if release, held, err := s.TryClaim(ctx, name); held || err != nil {
			return release, err
		}
	}
}

// TryClaim is Claim without waiting. If another process holds the claim, held is false.
func (s *Store) TryClaim(ctx context.Context, name string) (release func(), held bool, err error) {
	if s.remote == nil {
		return func() {}, true, nil
	}
	defer wrap(&err, "claim %s", name)
	const take = `INSERT INTO claims (name, holder, node, until) VALUES ($1, $2, $3, clock_timestamp() + $4 * interval '1 second')
		ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, node = excluded.node, until = excluded.until
		WHERE claims.until < clock_timestamp() OR claims.node <> 0 AND NOT EXISTS (SELECT 1 FROM nodes WHERE id = claims.node AND state <> 'dead')`
	holder := rand.Int64()
	result, err := s.remote.shared.ExecContext(ctx, take, name, holder, s.nodes.id, claimTerm.Seconds())
	if err != nil {
		return nil, false, explain(err)
	}
	if taken, err := result.RowsAffected(); taken == 0 || err != nil {
		return nil, false, err
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	var renewal sync.WaitGroup
	renewal.Go(func() {
		s.every(ctx, claimTerm/4, func(ctx context.Context) {
			// An error leaves the rest of the term.
			_, _ = s.remote.shared.ExecContext(ctx, "UPDATE claims SET until = clock_timestamp() + $3 * interval '1 second' WHERE name = $1 AND holder = $2", name, holder, claimTerm.Seconds())
		})
	})
	return sync.OnceFunc(func() {
		stop()
		renewal.Wait()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), retryAfter)
		defer cancel()
		if _, err := s.remote.shared.ExecContext(ctx, "DELETE FROM claims WHERE name = $1 AND holder = $2", name, holder); err != nil {
			s.options.Logger.Warn("claim not released; it expires in a minute", "claim", name, "error", err)
		}
	}), true, nil
}

// CountAttempt counts a failed password attempt in all processes of the server, under each
// key of limits. If a key already has as many attempts within span as its limit, nothing is
// counted and wait is the time until it has fewer. On a file it counts nothing.
func (s *Store) CountAttempt(ctx context.Context, limits map[string]int, span time.Duration) (attempt int64, wait time.Duration, err error) {
	if s.remote == nil {
		return 0, 0, nil
	}
	defer wrap(&err, "count an attempt")
	now := s.options.Clock.Now()
	expired := blueprint.TimeOf(now.Add(-span))
	look := func(q *session) error {
		wait = 0
		for key, limit := range limits {
			var at int64
			err := q.row("SELECT at FROM failed_attempts WHERE key = ? AND at > ? ORDER BY at DESC LIMIT 1 OFFSET ?", []any{[]byte(key), expired, limit - 1}, &at)
			if optional(err) != nil {
				return err
			}
			if err == nil {
				wait = max(wait, blueprint.Time(at).Time().Add(span).Sub(now))
			}
		}
		return nil
	}
	// Refused attempts do not load the writer.
	if err := s.read(ctx, look); err != nil || wait > 0 {
		return 0, wait, err
	}
	attempt = rand.Int64()
	err = s.write(ctx, func(t *transaction) error {
		if err := look(t.session); err != nil {
			return err
		}
		if wait > 0 {
			return errCounted
		}
		if _, err := t.exec("DELETE FROM failed_attempts WHERE at <= ?", expired); err != nil {
			return err
		}
		for key := range limits {
			if _, err := t.exec("INSERT INTO failed_attempts (attempt, key, at) VALUES (?, ?, ?)", attempt, []byte(key), blueprint.TimeOf(now)); err != nil {
				return err
			}
		}
		return nil
	})
	if errors.Is(err, errCounted) {
		err = nil
	}
	return attempt, wait, err
}

// errCounted ends the transaction of an attempt beyond a limit.
var errCounted = errors.New("too many attempts are counted")

// ForgetAttempt undoes CountAttempt.
func (s *Store) ForgetAttempt(ctx context.Context, attempt int64) (err error) {
	if s.remote == nil {
		return nil
	}
	defer wrap(&err, "forget an attempt")
	return s.write(ctx, func(t *transaction) error {
		_, err := t.exec("DELETE FROM failed_attempts WHERE attempt = ?", attempt)
		return err
	})
}

// rateSweep is the number of calls of ShareRate after which it deletes idle keys.
const rateSweep = 1000

// ShareRate adds calls to the levels that all processes of the server share, and returns the
// levels with them. A level falls by perSecond calls a second. It is for PostgreSQL only.
func (s *Store) ShareRate(ctx context.Context, perSecond float64, calls map[string]float64) (levels map[string]float64, err error) {
	defer wrap(&err, "share the use of a rate limit")
	const charge = `INSERT INTO rate_use AS u (key, level, at) SELECT key, calls, clock_timestamp() FROM unnest($1::text[], $2::double precision[]) AS new (key, calls)
		ON CONFLICT (key) DO UPDATE SET at = greatest(u.at, excluded.at),
			level = greatest(0, greatest(0, u.level - $3 * greatest(0, extract(epoch FROM excluded.at - u.at)::double precision)) + excluded.level)
		RETURNING key, level`
	keys := slices.Sorted(maps.Keys(calls)) // one order for all, so that they do not deadlock
	added := make([]float64, len(keys))
	for i, key := range keys {
		added[i] = calls[key]
	}
	rows, err := s.remote.shared.QueryContext(ctx, charge, keys, added, perSecond)
	if err != nil {
		return nil, explain(err)
	}
	defer rows.Close()
	levels = make(map[string]float64, len(keys))
	for rows.Next() {
		var key string
		var level float64
		if err := rows.Scan(&key, &level); err != nil {
			return nil, err
		}
		levels[key] = level
	}
	if err := rows.Err(); err != nil {
		return nil, explain(err)
	}
	if s.remote.shares.Add(1)%rateSweep == 0 {
		const idle = `DELETE FROM rate_use WHERE key IN (SELECT key FROM rate_use WHERE at < clock_timestamp() - interval '1 hour' FOR UPDATE SKIP LOCKED)`
		_, err = s.remote.shared.ExecContext(ctx, idle)
	}
	return levels, explain(err)
}

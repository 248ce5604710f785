package store

import (
	"context"
	"time"

	"blueprintd/blueprint"
)

// failedRest is how long a wrong password keeps further ones of the same account
// out of the audit log, where they are counted instead: whoever guesses must not
// be able to fill the disk. Accounts beyond mostFailed share one such rest.
const (
	failedRest = time.Minute
	mostFailed = 10_000
)

// auditSession is auditOfUser for who signs in by the call, and is nobody before.
func (s *Store) auditSession(ctx context.Context, t *transaction, userID string, about subject) error {
	actor := blueprint.ActorOf(ctx)
	if actor == nil {
		return nil
	}
	if actor.UserID == "" && actor.Via == blueprint.ViaDashboard {
		actor.Note()
		ctx = blueprint.WithActor(ctx, &blueprint.Actor{UserID: userID, Via: actor.Via, Action: actor.Action})
	}
	return s.auditOfUser(ctx, t, userID, about)
}

type wrongPassword struct {
	at    time.Time // of the last line
	since int64     // how many failed after it
}

// NoteWrongPassword writes a line about somebody who tried to sign in as a user,
// or to change their password, as the actor's action says, and did not know the
// password. Without an actor there is none. It does not wait for the disk.
func (s *Store) NoteWrongPassword(ctx context.Context, userID string) {
	actor := blueprint.ActorOf(ctx)
	if actor == nil {
		return
	}
	now, key := s.options.Clock.Now(), actor.Action+" "+userID
	s.audits.mu.Lock()
	last, again := s.audits.failed[key]
	if age := now.Sub(last.at); again && age >= 0 && age < failedRest || !again && len(s.audits.failed) >= mostFailed && !s.audits.forgetFailed(now) {
		last.since++
		if again {
			s.audits.failed[key] = last
		}
		s.audits.mu.Unlock()
		return
	}
	if s.audits.failed == nil {
		s.audits.failed = map[string]wrongPassword{}
	}
	s.audits.failed[key] = wrongPassword{at: now}
	s.audits.mu.Unlock()
	detail := map[string]any{"outcome": "failed"}
	if last.since > 0 {
		detail["alsoBefore"] = last.since
	}
	s.NoteAction(ctx, &blueprint.AuditEntry{ActorID: userID, Action: actor.Action, TargetType: "user", TargetID: userID, Via: actor.Via, Detail: detail})
}

// forgetFailed makes room for others, and tells whether there is some.
func (a *audits) forgetFailed(now time.Time) bool {
	for id, one := range a.failed {
		if age := now.Sub(one.at); age < 0 || age >= failedRest {
			delete(a.failed, id)
		}
	}
	return len(a.failed) < mostFailed
}

package store

import (
	"context"

	"blueprintd/blueprint"
)

// OpenSession makes a session of a user, as BeginSession does, without a password:
// what the user has of these, and the link to set one, stay as they are. The caller
// has made sure of them otherwise. CodeNotFound for an unknown user.
func (s *Store) OpenSession(ctx context.Context, userID, token, agent string) (made blueprint.Session, err error) {
	defer wrap(&err, "open a session of user %s", userID)
	err = s.ending(ctx, func(t *transaction, ended *[]string) error {
		if err := knownUser(t, userID); err != nil {
			return err
		}
		if made, err = s.insertSession(t, ended, userID, token, agent); err != nil {
			return err
		}
		return s.auditSession(ctx, t, userID, subject{kind: "session", id: made.ID, detail: map[string]any{"outcome": "signed in", "by": "an address of this machine"}})
	})
	return made, err
}

package store

import (
	"context"
	"database/sql"
	"errors"

	"blueprintd/blueprint"
)

// OpenTicket gives the address that a node asks a person to visit: the ticket
// that is open for the same connection, user, run and node, which then lasts as
// long as the one given, or else the one given, which is new then. CreatedAt is
// set here. When too many are open it is one for no run, which all others share:
// it has no ExecutionID and grants no version. Errors are those of BeginSignIn but CodeTooManyRequests.
func (s *Store) OpenTicket(ctx context.Context, i blueprint.SignIn) (ticket blueprint.SignIn, err error) {
	defer wrap(&err, "open a ticket for connection %s and user %s", i.ConnectionID, i.UserID)
	i.Ticket = true
	err = s.signIn(ctx, &i, func(t *transaction, insert func(blueprint.SignIn) error) error {
		ticket = i
		found, err := s.openTicket(t, &ticket)
		if found || err != nil {
			return err
		}
		count, err := openSignIns(t, &ticket)
		if err != nil {
			return err
		}
		if count >= mostTickets && ticket.ExecutionID != "" {
			ticket.ExecutionID, ticket.Address, ticket.Versions = "", "", nil
			if found, err = s.openTicket(t, &ticket); found || err != nil {
				return err
			}
		}
		return insert(ticket)
	})
	if err != nil {
		return blueprint.SignIn{}, err
	}
	return ticket, nil
}

// openTicket puts the ticket that is open in the place of one into it, and
// removes one there that has expired.
func (s *Store) openTicket(t *transaction, i *blueprint.SignIn) (found bool, err error) {
	const place = " WHERE connection_id = ?1 AND user_id = ?2 AND execution_id = ?3 AND address = ?4 AND ticket = 1"
	const last = "UPDATE sign_ins SET created_at = ?5, expires_at = max(expires_at, ?6)" + place + " AND expires_at > ?5 RETURNING " + signInColumns
	present, err := s.scanSignIn(func(into ...any) error {
		return t.row(last, []any{i.ConnectionID, i.UserID, i.ExecutionID, i.Address, i.CreatedAt, i.ExpiresAt}, into...)
	})
	switch {
	case err == nil:
		*i = present
		return true, nil
	case !errors.Is(err, sql.ErrNoRows):
		return false, err
	}
	_, err = t.exec("DELETE FROM sign_ins"+place, i.ConnectionID, i.UserID, i.ExecutionID, i.Address)
	return false, err
}

package store

import (
	"context"
	"database/sql"
	"errors"
	"maps"

	"blueprintd/blueprint"
)

// DefaultMailDomain stands behind the @ of addresses when nothing else is said.
const DefaultMailDomain = "localhost"

// addressKey is where a config shows the address of an email trigger. It is not
// part of what is stored as the config, and nobody can set it.
const addressKey = "address"

// Mailbox gives the id of the email trigger, active or not, whose address has a
// local part, as of now: CodeNotFound when there is none. It asks for no
// principal: it is for what receives mail.
func (s *Store) Mailbox(ctx context.Context, local string) (triggerID string, err error) {
	defer wrap(&err, "mailbox")
	return remember(ctx, s, s.mailboxes, local, func(q *session) (id string, err error) {
		const query = `SELECT t.id FROM triggers t JOIN blueprints b ON b.id = t.blueprint_id
			WHERE t.address = ? AND t.type = 'email' AND t.deleted_at IS NULL AND b.deleted_at IS NULL`
		err = q.row(query, []any{local}, &id)
		if errors.Is(err, sql.ErrNoRows) {
			err = notFound("mailbox", local)
		}
		return id, err
	})
}

// addressed prepares the config of a new trigger and makes its address, "" for
// one that has none.
func (s *Store) addressed(kind blueprint.TriggerType, config map[string]any) (_ map[string]any, address string) {
	if config == nil {
		config = map[string]any{}
	}
	if kind == blueprint.TriggerEmail {
		address = s.drawn("mail address").Address()
	}
	return withoutAddress(kind, config), address
}

// withAddress shows an address in a config.
func (s *Store) withAddress(config map[string]any, address string) map[string]any {
	if address == "" {
		return config
	}
	domain := s.options.MailDomain
	if domain == "" {
		domain = DefaultMailDomain
	}
	config = maps.Clone(config)
	config[addressKey] = address + "@" + domain
	return config
}

// withoutAddress is what is stored of a config.
func withoutAddress(kind blueprint.TriggerType, config map[string]any) map[string]any {
	if _, there := config[addressKey]; !there || kind != blueprint.TriggerEmail {
		return config
	}
	config = maps.Clone(config)
	delete(config, addressKey)
	return config
}

// sameAddress shows in a trigger's next config the address that it has now,
// whatever stands there.
func sameAddress(present *blueprint.Trigger, config map[string]any) map[string]any {
	config = withoutAddress(present.Type, config)
	if address := present.Config[addressKey]; address != nil && present.Type == blueprint.TriggerEmail {
		config = maps.Clone(config)
		config[addressKey] = address
	}
	return config
}

package store

import (
	"context"
	"math"
	"reflect"

	"blueprintd/blueprint"
)

// Rate sets the principal's rating of a blueprint that they may see: above 0,
// up to 5; 0 takes it back. CodeNotFound, CodeForbidden, or CodeBadRequest.
func (s *Store) Rate(ctx context.Context, principal blueprint.Principal, id string, rating float64) (opinions blueprint.Opinions, err error) {
	defer wrap(&err, "rate blueprint %s for user %s", id, principal.UserID)
	if math.IsNaN(rating) || rating < 0 || rating > 5 {
		return opinions, blueprint.Errorf(blueprint.CodeBadRequest, "rating: must be a number from 0 to 5")
	}
	return s.opine(ctx, principal, id, map[string]any{"rating": rating}, func(t *transaction) error {
		if rating == 0 {
			_, err = t.exec("DELETE FROM ratings WHERE blueprint_id = ? AND user_id = ?", id, principal.UserID)
		} else {
			_, err = t.exec(`INSERT INTO ratings (blueprint_id, user_id, rating) VALUES (?, ?, ?)
				ON CONFLICT DO UPDATE SET rating = excluded.rating`, id, principal.UserID, rating)
		}
		if err != nil {
			return err
		}
		_, err = t.exec(`UPDATE blueprints SET (rating_sum, rating_count) =
			(SELECT coalesce(sum(rating), 0.0), count(*) FROM ratings WHERE blueprint_id = ?1) WHERE id = ?1`, id)
		return err
	})
}

// Favorite makes a blueprint that the principal may see one of their
// favorites, or none. CodeNotFound, or CodeForbidden.
func (s *Store) Favorite(ctx context.Context, principal blueprint.Principal, id string, favorite bool) (_ blueprint.Opinions, err error) {
	defer wrap(&err, "favorite blueprint %s for user %s", id, principal.UserID)
	change := "DELETE FROM favorites WHERE blueprint_id = ? AND user_id = ?"
	if favorite {
		change = "INSERT INTO favorites (blueprint_id, user_id) VALUES (?, ?) ON CONFLICT DO NOTHING"
	}
	return s.opine(ctx, principal, id, nil, func(t *transaction) error {
		_, err := t.exec(change, id, principal.UserID)
		return err
	})
}

// opine makes a change and gives the opinions after it.
func (s *Store) opine(ctx context.Context, principal blueprint.Principal, id string, detail map[string]any, change func(*transaction) error) (o blueprint.Opinions, err error) {
	const query = `SELECT b.rating_sum, b.rating_count, r.rating,
		EXISTS (SELECT 1 FROM favorites f WHERE f.blueprint_id = b.id AND f.user_id = ?1)
		FROM blueprints b LEFT JOIN ratings r ON r.blueprint_id = b.id AND r.user_id = ?1 WHERE b.id = ?2`
	read := func(t *transaction) (o blueprint.Opinions, err error) {
		var sum float64
		err = t.row(query, []any{principal.UserID, id}, &sum, &o.RatingCount, &o.UserRating, &o.IsFavorited)
		o.AverageRating = average(sum, o.RatingCount)
		return o, err
	}
	err = s.write(ctx, func(t *transaction) error {
		if _, err := accessTo(t.session, principal.UserID, id, blueprint.AccessView); err != nil {
			return err
		}
		before, err := read(t)
		if err != nil {
			return err
		}
		if err := change(t); err != nil {
			return err
		}
		if o, err = read(t); err != nil {
			return err
		}
		if reflect.DeepEqual(before, o) {
			t.unchanged(ctx)
			return nil
		}
		_, organizationID, err := homeOfBlueprint(t.session, id)
		if err != nil {
			return err
		}
		return s.audit(ctx, t, subject{"blueprint", id, organizationID, detail})
	})
	return o, err
}

package store

import (
	"bytes"
	"context"
	"os"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
)

func TestKeys(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		ann, bob := user(t, s, "ann"), user(t, s, "bob")
		key := must(s.CreateKey(ctx, ann.UserID, "laptop", "bpd_0123456789"))(t)
		if diff := cmp.Diff(blueprint.APIKey{ID: key.ID, Name: "laptop", Last4: "6789", Scopes: key.Scopes, CreatedAt: blueprint.TimeOf(start)}, key); diff != "" {
			t.Errorf("created (-want +got):\n%s", diff)
		}
		if again := must(s.CreateKey(ctx, ann.UserID, "other name", "bpd_0123456789"))(t); !reflect.DeepEqual(again, key) {
			t.Errorf("the same key again is %+v, want %v", again, key)
		}
		_, err := s.CreateKey(ctx, bob.UserID, "stolen", "bpd_0123456789")
		wantCode(t, err, blueprint.CodeConflict)
		_, err = s.CreateKey(ctx, ann.UserID, "short", "1234567")
		wantCode(t, err, blueprint.CodeBadRequest)
		_, err = s.CreateKey(ctx, "unknown", "x", "12345678")
		wantCode(t, err, blueprint.CodeNotFound)

		advance(t, s, time.Minute)
		want := blueprint.Principal{UserID: ann.UserID, KeyID: key.ID}
		for range 2 {
			if got := must(s.Authenticate(ctx, "bpd_0123456789"))(t); got.Principal != want || got.Scopes.String() != "admin,read,run,write" {
				t.Errorf("authenticated as %+v, want %+v", got, want)
			}
		}
		for _, wrong := range []string{"", "bpd_", "bpd_012345678", "bpd_01234567890", "\x00"} {
			_, err := s.Authenticate(ctx, wrong)
			wantCode(t, err, blueprint.CodeUnauthorized)
		}
		if list := must(s.Keys(ctx, ann))(t); len(list) != 1 || list[0].LastUsedAt != blueprint.TimeOf(start.Add(time.Minute)) {
			t.Errorf("keys %+v", list)
		}
		if all := must(s.AllKeys(ctx))(t); len(all) != 1 || all[0].UserEmail != "ann@example.com" || all[0].UserID != ann.UserID {
			t.Errorf("all keys %+v, want length 1, UserEmail ann@example.com and UserID %v", all, ann.UserID)
		}

		wantCode(t, s.RevokeKey(ctx, bob, key.ID), blueprint.CodeNotFound)
		wantCode(t, s.RevokeKey(ctx, ann, "unknown"), blueprint.CodeNotFound)
		wantCode(t, s.RevokeKeyByID(ctx, "unknown"), blueprint.CodeNotFound)
		check(t, s.RevokeKey(ctx, ann, key.ID))
		_, err = s.Authenticate(ctx, "bpd_0123456789")
		wantCode(t, err, blueprint.CodeUnauthorized)
		advance(t, s, time.Minute)
		check(t, s.RevokeKeyByID(ctx, key.ID))
		if list := must(s.Keys(ctx, ann))(t); list[0].RevokedAt != blueprint.TimeOf(start.Add(time.Minute)) {
			t.Errorf("revoked again, at %s", list[0].RevokedAt)
		}
		_, err = s.CreateKey(ctx, ann.UserID, "again", "bpd_0123456789")
		wantCode(t, err, blueprint.CodeConflict)
	})
}

// The last use of a key survives the process, and the key itself is nowhere.
func TestKeyOnDisk(t *testing.T) {
	ctx := context.Background()
	options := testOptions(t)
	s := must(Open(ctx, options))(t)
	stop := run(t, s)
	ann := user(t, s, "ann")
	must(s.CreateKey(ctx, ann.UserID, "laptop", "a-very-secret-token"))(t)
	must(s.Authenticate(ctx, "a-very-secret-token"))(t)
	check(t, stop())
	check(t, s.Close())
	if data := must(os.ReadFile(options.Path))(t); bytes.Contains(data, []byte("secret-token")) {
		t.Error("the key is in the database")
	}
	again := open(t, options)
	if list := must(again.Keys(ctx, ann))(t); list[0].LastUsedAt != blueprint.TimeOf(start) {
		t.Errorf("last used at %q, want %v", list[0].LastUsedAt, blueprint.TimeOf(start))
	}
}

// A server stops without an error though the last use of a key cannot be stored.
func TestKeyUseOnFullDisk(t *testing.T) {
	s := open(t, testOptions(t))
	ann := user(t, s, "ann")
	must(s.CreateKey(t.Context(), ann.UserID, "laptop", "12345678"))(t)
	stop := run(t, s)
	must(s.Authenticate(t.Context(), "12345678"))(t)
	s.writer.connection.Lock()
	s.writer.beforeCommit = func() error {
		s.writer.beforeCommit = nil
		return coded(sqliteFull)
	}
	s.writer.connection.Unlock()
	check(t, stop())
	if s.writer.beforeCommit != nil {
		t.Error("the last use was not stored at the end")
	}
}

func TestStoreKeyUses(t *testing.T) {
	ctx := context.Background()
	s := open(t, testOptions(t))
	ann := user(t, s, "ann")
	must(s.CreateKey(ctx, ann.UserID, "laptop", "12345678"))(t)
	before := s.commits.Load()
	s.storeUses(ctx)
	must(s.Authenticate(ctx, "12345678"))(t)
	must(s.Authenticate(ctx, "12345678"))(t)
	s.storeUses(ctx)
	s.storeUses(ctx)
	if got := s.commits.Load() - before; got != 1 {
		t.Errorf("%d transactions for one use, want 1", got)
	}
	var stored blueprint.Time
	check(t, s.read(ctx, func(q *session) error { return q.row("SELECT last_used_at FROM api_keys", nil, &stored) }))
	if stored != blueprint.TimeOf(start) {
		t.Errorf("stored %q, want %v", stored, blueprint.TimeOf(start))
	}
}

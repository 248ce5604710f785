package accounts

import (
	"context"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/ids"
)

// people are accounts in memory: the hashes of passwords by email, which is the
// id of the user too.
type people struct {
	Store
	hashes map[string]string
	asked  int
}

func (p *people) Password(_ context.Context, email string) (string, string, error) {
	if p.asked++; p.hashes[email] == "" {
		return "", "", nil
	}
	return email, p.hashes[email], nil
}

func (p *people) PasswordOf(ctx context.Context, userID string) (string, string, error) {
	return p.Password(ctx, userID)
}

func (p *people) BeginSession(_ context.Context, userID, _, _, _ string) (blueprint.Session, error) {
	return blueprint.Session{UserID: userID}, nil
}

func (p *people) ChangePassword(_ context.Context, principal blueprint.Principal, _, hash string) error {
	p.hashes[principal.UserID] = hash
	return nil
}

// Whoever tries many accounts makes others at their address wait, but not those
// who are known there, nor who is signed in.
func TestWhoWaits(t *testing.T) {
	ctx := t.Context()
	store := &people{hashes: map[string]string{}}
	failed := 0
	s := New(Options{Store: store, Clock: clock.NewVirtual(noon), IDs: ids.New(nil), Sealer: newSealer(t), Failed: func(context.Context, string) { failed++ }})
	var err error
	if store.hashes["ada"], err = s.hasher.hash(ctx, "", "a password", []byte("0123456789abcdef")); err != nil {
		t.Fatal(err)
	}
	here := blueprint.SignInClient{Address: "198.51.100.1", Network: "198.51.100.0/24"}
	known, elsewhere := here, blueprint.SignInClient{Address: "203.0.113.1"}
	known.Device = s.Device("ada", "")
	for i := range addressFailures {
		if _, _, err := s.SignIn(ctx, string(rune('A'+i)), "x", here); blueprint.CodeOf(err) != blueprint.CodeUnauthorized {
			t.Fatal(err)
		}
	}
	asked := store.asked
	for name, test := range map[string]struct {
		email string
		from  blueprint.SignInClient
		want  blueprint.Code
	}{
		"there":                {"ada", here, blueprint.CodeTooManyRequests},
		"known there":          {"ada", known, ""},
		"known as another one": {"bo", known, blueprint.CodeTooManyRequests},
		"from another address": {"ada", elsewhere, ""},
	} {
		if _, _, err := s.SignIn(ctx, test.email, "a password", test.from); blueprint.CodeOf(err) != test.want {
			t.Errorf("%s: %v", name, err)
		}
	}
	if store.asked != asked+2 {
		t.Errorf("the database was asked %d times, also for who has to wait", store.asked-asked)
	}

	// An account waits, whoever comes, but not who is signed in to it.
	for range mostFailures {
		_, _, _ = s.SignIn(ctx, "ada", "x", elsewhere)
	}
	elsewhere.Address = "203.0.113.2"
	if _, _, err := s.SignIn(ctx, "ada", "a password", elsewhere); blueprint.CodeOf(err) != blueprint.CodeTooManyRequests {
		t.Errorf("the account does not wait: %v", err)
	}
	// A known device has a count of its own, and waits only for itself.
	other := known
	other.Device = s.Device("ada", "")
	for range mostFailures {
		if _, _, err := s.SignIn(ctx, "ada", "x", other); blueprint.CodeOf(err) != blueprint.CodeUnauthorized {
			t.Errorf("a wrong password on a known device: %v", err)
		}
	}
	if _, _, err := s.SignIn(ctx, "ada", "a password", other); blueprint.CodeOf(err) != blueprint.CodeTooManyRequests {
		t.Errorf("a device that was wrong too often does not wait: %v", err)
	}
	if _, _, err := s.SignIn(ctx, "ada", "a password", known); err != nil {
		t.Errorf("the known device: %v", err)
	}
	failed = 0
	change := func(current, password string) blueprint.Code {
		return blueprint.CodeOf(s.ChangePassword(ctx, blueprint.Principal{UserID: "ada"}, current, password, here))
	}
	if code := change("x", "another password"); code != blueprint.CodeBadRequest || failed != 1 {
		t.Errorf("a wrong password: %s, noted %d", code, failed)
	}
	if code := change("a password", "another password"); code != "" {
		t.Errorf("the right password: %s", code)
	}
	for range mostFailures {
		change("another password", "short") // which tells nothing of the present one
		change("x", "one more password")
	}
	if code := change("another password", "one more password"); code != blueprint.CodeTooManyRequests || failed != mostFailures {
		t.Errorf("after many: %s, noted %d", code, failed)
	}
}

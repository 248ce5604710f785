package accounts

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/ids"
)

// memoryStore holds password hashes by email, which is also the user id.
type memoryStore struct {
	Store
	hashes map[string]string
	reads  int
	// attempts are the attempts of all processes; nil = there is one.
	attempts map[int64]map[string]int
}

func (p *memoryStore) CountAttempt(_ context.Context, limits map[string]int, _ time.Duration) (int64, time.Duration, error) {
	if p.attempts == nil {
		return 0, 0, nil
	}
	for key, limit := range limits {
		for _, counted := range p.attempts {
			if _, of := counted[key]; of {
				limit--
			}
		}
		if limit <= 0 {
			return 0, time.Minute, nil
		}
	}
	attempt := int64(len(p.attempts))
	p.attempts[attempt] = limits
	return attempt, 0, nil
}

func (p *memoryStore) ForgetAttempt(_ context.Context, attempt int64) error {
	delete(p.attempts, attempt)
	return nil
}

func (p *memoryStore) Password(_ context.Context, email string) (string, string, error) {
	if p.reads++; p.hashes[email] == "" {
		return "", "", nil
	}
	return email, p.hashes[email], nil
}

func (p *memoryStore) PasswordOf(ctx context.Context, userID string) (string, string, error) {
	return p.Password(ctx, userID)
}

func (p *memoryStore) BeginSession(_ context.Context, userID, _, _, _ string) (blueprint.Session, error) {
	return blueprint.Session{UserID: userID}, nil
}

func (p *memoryStore) ChangePassword(_ context.Context, principal blueprint.Principal, _, hash string) error {
	p.hashes[principal.UserID] = hash
	return nil
}

// Many failed attempts throttle their address, except for known devices and signed-in users.
func TestSignInThrottling(t *testing.T) {
	ctx := t.Context()
	store := &memoryStore{hashes: map[string]string{}}
	failed := 0
	s := New(Options{Store: store, Clock: clock.NewVirtual(noon), IDs: ids.New(nil), Sealer: newSealer(t), HashMemory: 64, Failed: func(context.Context, string) { failed++ }})
	var err error
	if store.hashes["ada"], err = s.hasher.hash(ctx, "", "a password", []byte("0123456789abcdef")); err != nil {
		t.Fatal(err)
	}
	here := blueprint.SignInClient{Address: "198.51.100.1", Network: "198.51.100.0/24"}
	known, elsewhere := here, blueprint.SignInClient{Address: "203.0.113.1"}
	known.Device = s.Device("ada", "")
	for i := range addressFailures {
		if _, _, err := s.SignIn(ctx, string(rune('A'+i)), "x", here); blueprint.CodeOf(err) != blueprint.CodeUnauthorized {
			t.Fatalf("%v, want %v", err, blueprint.CodeUnauthorized)
		}
	}
	for name, test := range map[string]struct {
		email string
		from  blueprint.SignInClient
		want  blueprint.Code
	}{
		"same address":      {"ada", here, blueprint.CodeTooManyRequests},
		"known device":      {"ada", known, ""},
		"device of another": {"bo", known, blueprint.CodeTooManyRequests},
		"another address":   {"ada", elsewhere, ""},
	} {
		t.Run(name, func(t *testing.T) {
			before, reads := store.reads, 0
			if test.want == "" { // no attempt that is throttled reads the database
				reads = 1
			}
			if _, _, err := s.SignIn(ctx, test.email, "a password", test.from); blueprint.CodeOf(err) != test.want {
				t.Errorf("%v, want code %q", err, test.want)
			}
			if got := store.reads - before; got != reads {
				t.Errorf("the database was read %d times, want %d", got, reads)
			}
		})
	}

	// A throttled account is refused from every address, except on known devices.
	for range maxFailures {
		_, _, _ = s.SignIn(ctx, "ada", "x", elsewhere)
	}
	elsewhere.Address = "203.0.113.2"
	if _, _, err := s.SignIn(ctx, "ada", "a password", elsewhere); blueprint.CodeOf(err) != blueprint.CodeTooManyRequests {
		t.Errorf("the account is not throttled: %v, want %v", err, blueprint.CodeTooManyRequests)
	}
	// A known device has its own count.
	other := known
	other.Device = s.Device("ada", "")
	for range maxFailures {
		if _, _, err := s.SignIn(ctx, "ada", "x", other); blueprint.CodeOf(err) != blueprint.CodeUnauthorized {
			t.Errorf("a wrong password on a known device: %v, want %v", err, blueprint.CodeUnauthorized)
		}
	}
	if _, _, err := s.SignIn(ctx, "ada", "a password", other); blueprint.CodeOf(err) != blueprint.CodeTooManyRequests {
		t.Errorf("a device with too many failures is not throttled: %v, want %v", err, blueprint.CodeTooManyRequests)
	}
	if _, _, err := s.SignIn(ctx, "ada", "a password", known); err != nil {
		t.Errorf("the known device: %v", err)
	}
	failed = 0
	change := func(current, password string) blueprint.Code {
		return blueprint.CodeOf(s.ChangePassword(ctx, blueprint.Principal{UserID: "ada"}, current, password, here))
	}
	if code := change("x", "another password"); code != blueprint.CodeBadRequest || failed != 1 {
		t.Errorf("a wrong password: %s, %d failures reported; want %v and 1", code, failed, blueprint.CodeBadRequest)
	}
	if code := change("a password", "another password"); code != "" {
		t.Errorf("the right password: %s, want nothing", code)
	}
	for range maxFailures {
		change("another password", "short") // does not check the current password
		change("x", "one more password")
	}
	if code := change("another password", "one more password"); code != blueprint.CodeTooManyRequests || failed != maxFailures {
		t.Errorf("after many: %s, %d failures reported; want %v and %v", code, failed, blueprint.CodeTooManyRequests, maxFailures)
	}
}

// Two processes on one database count wrong passwords together.
func TestSharedThrottle(t *testing.T) {
	ctx := t.Context()
	store := &memoryStore{hashes: map[string]string{}, attempts: map[int64]map[string]int{}}
	var services [2]*Service
	for i := range services {
		services[i] = New(Options{Store: store, Clock: clock.NewVirtual(noon), IDs: ids.New(nil), HashMemory: 64})
	}
	var err error
	if store.hashes["ada"], err = services[0].hasher.hash(ctx, "", "a password", []byte("0123456789abcdef")); err != nil {
		t.Fatal(err)
	}
	signIn := func(i int, password string) error {
		_, _, err := services[i%2].SignIn(ctx, "ada", password, blueprint.SignInClient{Address: fmt.Sprint(i)})
		return err
	}
	for i := range maxFailures {
		if i < maxFailures-1 {
			if err := signIn(i+1, "a password"); err != nil {
				t.Fatalf("the right password after %d wrong ones: %v", i, err)
			}
		}
		if err := signIn(i, "x"); blueprint.CodeOf(err) != blueprint.CodeUnauthorized {
			t.Fatalf("attempt %d: %v, want %v", i+1, err, blueprint.CodeUnauthorized)
		}
	}
	for i := range services {
		var refused *blueprint.Error
		if err := signIn(i, "a password"); !errors.As(err, &refused) || refused.Code != blueprint.CodeTooManyRequests || refused.RetryAfter != time.Minute {
			t.Errorf("service %d: %v, want %v", i, err, blueprint.CodeTooManyRequests)
		}
		if count := len(services[i].throttle.accounts.of[keyOf("sign in "+blueprint.FoldEmail("ada"))]); count != maxFailures/2 {
			t.Errorf("service %d has counted %d itself, want %d", i, count, maxFailures/2)
		}
	}
}

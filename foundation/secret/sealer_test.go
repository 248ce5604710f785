package secret_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blueprintd/foundation/secret"
)

func sealer(t testing.TB, key []byte) *secret.Sealer {
	t.Helper()
	s, err := secret.NewSealer(key)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSealer(t *testing.T) {
	key := secret.NewKey()
	s := sealer(t, key)
	for _, plain := range []string{"", "x", "a longer text\x00"} {
		sealed := s.Seal([]byte(plain), "here")
		if bytes.Contains(sealed, []byte("longer")) || bytes.Equal(sealed, s.Seal([]byte(plain), "here")) {
			t.Errorf("%q is readable, or sealed the same way twice", plain)
		}
		got, err := sealer(t, key).Open(sealed, "here")
		if err != nil || string(got) != plain {
			t.Errorf("%q came back as %q, %v", plain, got, err)
		}
	}
}

func TestSealerRefuses(t *testing.T) {
	s := sealer(t, secret.NewKey())
	sealed := s.Seal([]byte("text"), "here")
	if _, err := s.Open(sealed, "there"); !isSealed(err) {
		t.Errorf("another place: %v", err)
	}
	if _, err := sealer(t, secret.NewKey()).Open(sealed, "here"); !isSealed(err) {
		t.Errorf("another key: %v", err)
	}
	for i := range sealed {
		for bit := range 8 {
			changed := bytes.Clone(sealed)
			changed[i] ^= 1 << bit
			if _, err := s.Open(changed, "here"); !isSealed(err) {
				t.Errorf("byte %d, bit %d: %v", i, bit, err)
			}
		}
		if _, err := s.Open(sealed[:i], "here"); !isSealed(err) {
			t.Errorf("cut after %d bytes: %v", i, err)
		}
	}
}

// The store appends a checksum of four bytes to a sealed text, without a copy.
func TestSealLeavesCapacity(t *testing.T) {
	s := sealer(t, secret.NewKey())
	for size := range 100 {
		if sealed := s.Seal(make([]byte, size), "here"); cap(sealed)-len(sealed) < 4 {
			t.Errorf("%d bytes sealed have room for %d more, want 4", size, cap(sealed)-len(sealed))
		}
	}
}

// Sealed data of earlier versions opens only under these names.
func TestPlaces(t *testing.T) {
	got := []string{secret.JournalPlace("ID"), secret.RecordPlace("ID"), secret.StatePlace("ID")}
	if diff := cmp.Diff([]string{"journal/ID", "executions/ID/record", "executions/ID/state"}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// The signature of a backup is that of its digest and its master key.
func TestSign(t *testing.T) {
	s := sealer(t, secret.NewKey())
	mac := s.Sign([]byte("digest"))
	for _, test := range []struct {
		name   string
		sealer *secret.Sealer
		digest string
		mac    []byte
		want   bool
	}{
		{"the same", s, "digest", mac, true},
		{"another digest", s, "digesT", mac, false},
		{"another master key", sealer(t, secret.NewKey()), "digest", mac, false},
		{"a cut signature", s, "digest", mac[:len(mac)-1], false},
		{"no signature", s, "digest", nil, false},
		{"the check value", s, "digest", s.Check(), false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := test.sealer.Signed([]byte(test.digest), test.mac); got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

func TestMasterKey(t *testing.T) {
	key := secret.NewKey()
	if bytes.Equal(key, secret.NewKey()) {
		t.Error("two keys are the same")
	}
	if _, err := secret.NewSealer(key[:16]); err == nil {
		t.Error("half a key will do, want an error")
	}
	a, b := sealer(t, key), sealer(t, key)
	if !bytes.Equal(a.Check(), b.Check()) || bytes.Equal(a.Check(), sealer(t, secret.NewKey()).Check()) {
		t.Error("the check value is not unique to its key")
	}
	if bytes.Contains(a.Check(), key[:8]) {
		t.Error("the check value shows the key")
	}
}

// isSealed reports whether an error says that a sealed text does not open.
func isSealed(err error) bool {
	return err != nil && strings.Contains(err.Error(), "does not open with this master key")
}

func TestDerive(t *testing.T) {
	key := secret.NewKey()
	got := sealer(t, key).Derive("a")
	if len(got) != secret.KeySize || !bytes.Equal(got, sealer(t, key).Derive("a")) {
		t.Errorf("%d bytes, or another key from the same master key; want %d", len(got), secret.KeySize)
	}
	for name, other := range map[string][]byte{
		"another use": sealer(t, key).Derive("b"), "another master key": sealer(t, secret.NewKey()).Derive("a"), "the check": sealer(t, key).Check(), "the master key": key,
	} {
		t.Run(name, func(t *testing.T) {
			if bytes.Equal(got, other) {
				t.Error("the derived key is the same")
			}
		})
	}
}

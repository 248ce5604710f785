package accounts

import (
	"strings"
	"testing"

	"blueprintd/blueprint"
)

func TestHash(t *testing.T) {
	h := newHasher(0)
	salt := []byte("0123456789abcdef")
	hash, err := h.hash(t.Context(), "", "correct horse", salt)
	if err != nil || !strings.HasPrefix(hash, "$argon2id$v=19$m=19456,t=2,p=1$MDEyMzQ1Njc4OWFiY2RlZg$") {
		t.Fatalf("hash %s, %v; want \"$argon2id$v=19$m=19456,t=2,p=1$MDEyMzQ1Njc4OWFiY2RlZg$\" at the start", hash, err)
	}
	for password, want := range map[string]bool{"correct horse": true, "correct horse ": false, "Correct horse": false, "": false} {
		t.Run(password, func(t *testing.T) {
			if got, err := h.matches(t.Context(), "", password, hash); got != want || err != nil {
				t.Errorf("%q matches: %v, %v; want %v", password, got, err, want)
			}
		})
	}
	if same, _ := h.matches(t.Context(), "", "", h.none()); same {
		t.Error("the hash of none has a password")
	}
}

// A hash that was made by another program, with another cost (the reference
// implementation's command line: echo -n password | argon2 somesalt -id -t 2 -k 256 -p 1 -l 32).
func TestHashOfOthers(t *testing.T) {
	const hash = "$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4"
	for password, want := range map[string]bool{"password": true, "passwort": false} {
		t.Run(password, func(t *testing.T) {
			if got, err := newHasher(0).matches(t.Context(), "", password, hash); got != want || err != nil {
				t.Errorf("%q matches: %v, %v; want %v", password, got, err, want)
			}
		})
	}
}

func TestDamagedHash(t *testing.T) {
	for name, hash := range map[string]string{
		"empty":         "",
		"another kind":  "$argon2i$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4",
		"another age":   "$argon2id$v=16$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4",
		"huge memory":   "$argon2id$v=19$m=4194304,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4",
		"no memory":     "$argon2id$v=19$m=0,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4",
		"many passes":   "$argon2id$v=19$m=256,t=200,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4",
		"many lanes":    "$argon2id$v=19$m=256,t=2,p=999$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4",
		"no salt":       "$argon2id$v=19$m=256,t=2,p=1$$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4",
		"short hash":    "$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65",
		"wrong letters": "$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR_uIPnA4rEsF5h7TKyQwu9U1bMCHGi_4",
		"more behind":   "$argon2id$v=19$m=256,t=2,p=1,x=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4",
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := newHasher(0).matches(t.Context(), "", "password", hash); got || blueprint.CodeOf(err) != blueprint.CodeInternal {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
}

package accounts

import (
	"cmp"
	"context"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"strings"

	"golang.org/x/crypto/argon2"
)

// The cost of argon2id as in OWASP's Password Storage Cheat Sheet.
const (
	hashMemory = 19 << 10 // KiB
	hashPasses = 2
	hashLanes  = 1
	saltSize   = 16
	hashSize   = 32
)

// The maximum cost of a stored hash.
const (
	maxMemory = 64 << 10 // KiB
	maxPasses = 10
)

// hasher hashes passwords, within the limits of a fairQueue. It is safe for concurrent use.
type hasher struct {
	queue  *fairQueue
	memory uint32 // KiB that a new hash takes
}

// newHasher returns a hasher. A memory of 0 means hashMemory.
func newHasher(memory uint32) *hasher { return &hasher{newFairQueue(), cmp.Or(memory, hashMemory)} }

// hash returns the PHC string of a password's hash, for a caller of a network.
func (h *hasher) hash(ctx context.Context, network, password string, salt []byte) (string, error) {
	done, err := h.queue.take(ctx, network)
	if err != nil {
		return "", err
	}
	defer done()
	return phc{h.memory, hashPasses, hashLanes, salt, argon2.IDKey([]byte(password), salt, hashPasses, h.memory, hashLanes, hashSize)}.String(), nil
}

// none returns a hash that matches no password and takes as long to compare as others.
func (h *hasher) none() string {
	return phc{h.memory, hashPasses, hashLanes, make([]byte, saltSize), make([]byte, hashSize)}.String()
}

// matches reports whether a password matches a hash, for a caller of a network.
func (h *hasher) matches(ctx context.Context, network, password, hash string) (bool, error) {
	want, err := parsePHC(hash)
	if err != nil {
		return false, err
	}
	done, err := h.queue.take(ctx, network)
	if err != nil {
		return false, err
	}
	defer done()
	got := argon2.IDKey([]byte(password), want.salt, want.passes, want.memory, want.lanes, uint32(len(want.hash)))
	return subtle.ConstantTimeCompare(got, want.hash) == 1, nil
}

// phc is a hash with its parameters, as in the PHC string format.
type phc struct {
	memory, passes uint32
	lanes          uint8
	salt, hash     []byte
}

// String writes $argon2id$v=19$m=M,t=T,p=P$salt$hash.
func (p phc) String() string {
	base64 := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, p.memory, p.passes, p.lanes, base64.EncodeToString(p.salt), base64.EncodeToString(p.hash))
}

// parsePHC parses the output of String, of any cost within the bounds. An error means that
// the stored hash is damaged.
func parsePHC(text string) (p phc, err error) {
	wrong := fmt.Errorf("accounts: a stored password hash is damaged")
	parts := strings.Split(text, "$")
	if len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" || parts[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return p, wrong
	}
	if n, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &p.memory, &p.passes, &p.lanes); n != 3 || err != nil {
		return p, wrong
	}
	var saltErr, hashErr error
	p.salt, saltErr = base64.RawStdEncoding.DecodeString(parts[4])
	p.hash, hashErr = base64.RawStdEncoding.DecodeString(parts[5])
	sound := p.memory > 0 && p.memory <= maxMemory && p.passes > 0 && p.passes <= maxPasses && p.lanes > 0 && len(p.salt) > 0 && len(p.hash) >= 16 && len(p.hash) <= 64
	if saltErr != nil || hashErr != nil || !sound || p.String() != text {
		return p, wrong
	}
	return p, nil
}

// Package secret encrypts stored secrets (Sealer) and removes secrets from everything that
// is shown: known ones (Masker) and values that look like credentials (Redact).
package secret

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
)

// KeySize is the size of a master key in bytes.
const KeySize = 32

// Sealer encrypts with AES-256-GCM under a key derived from the master key. A sealed text
// is bound to a name, its place, and cannot be opened under another one. A Sealer is safe
// for concurrent use.
type Sealer struct {
	aead   cipher.AEAD
	check  []byte
	backup []byte // the key of Sign
	derive []byte // the key of Derive
}

// errSealed is returned for a text that was changed or sealed for another key or place.
var errSealed = errors.New("sealed text does not open with this master key")

// NewSealer returns a Sealer for a master key of KeySize bytes.
func NewSealer(key []byte) (*Sealer, error) {
	if len(key) != KeySize {
		return nil, fmt.Errorf("a master key has %d bytes, not %d", KeySize, len(key))
	}
	var keys [4][]byte
	for i, use := range []string{"sealing v1", "check v1", "backup v1", "derive v1"} {
		var err error
		if keys[i], err = hkdf.Key(sha256.New, key, nil, "blueprintd "+use, KeySize); err != nil {
			return nil, err
		}
	}
	block, err := aes.NewCipher(keys[0])
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, err
	}
	return &Sealer{aead: aead, check: keys[1], backup: keys[2], derive: keys[3]}, nil
}

// NewKey returns a random master key.
func NewKey() []byte {
	key := make([]byte, KeySize)
	rand.Read(key) // never fails, by its documentation
	return key
}

// Check returns a value that identifies the master key without revealing it. It is
// stored beside sealed data.
func (s *Sealer) Check() []byte { return s.check }

// Sign returns the HMAC-SHA256 of the digest of a backup, under a key derived from the
// master key only for this purpose.
func (s *Sealer) Sign(digest []byte) []byte {
	mac := hmac.New(sha256.New, s.backup)
	mac.Write(digest)
	return mac.Sum(nil)
}

// Signed reports whether mac equals the result of Sign for digest.
func (s *Sealer) Signed(digest, mac []byte) bool { return hmac.Equal(s.Sign(digest), mac) }

// Derive returns a key of KeySize bytes for one use, such as "sign-in pages". All processes
// with the same master key derive the same one.
func (s *Sealer) Derive(use string) []byte {
	mac := hmac.New(sha256.New, s.derive)
	mac.Write([]byte(use))
	return mac.Sum(nil)
}

// version is the first byte of every sealed text.
const version = 1

// room is the spare capacity of a sealed text, for the checksum that store appends.
const room = 4

// Seal encrypts plain for one place, such as "triggers/ID/config".
func (s *Sealer) Seal(plain []byte, place string) []byte {
	out := make([]byte, 1, 1+len(plain)+s.aead.Overhead()+room)
	out[0] = version
	return s.aead.Seal(out, nil, plain, []byte(place))
}

// Open decrypts what Seal encrypted for the same place; its error is errSealed.
func (s *Sealer) Open(sealed []byte, place string) ([]byte, error) {
	if len(sealed) == 0 || sealed[0] != version {
		return nil, errSealed
	}
	plain, err := s.aead.Open(nil, nil, sealed[1:], []byte(place))
	if err != nil {
		return nil, errSealed
	}
	return plain, nil
}

// JournalPlace, RecordPlace and StatePlace name data that the engine seals and the store
// reseals when the master key changes. JournalPlace is the place of each entry of an
// execution's journal.
func JournalPlace(executionID string) string { return "journal/" + executionID }

// RecordPlace is the place of the record of a finished execution.
func RecordPlace(executionID string) string { return "executions/" + executionID + "/record" }

// StatePlace is the place of the state for a retry of a finished execution.
func StatePlace(executionID string) string { return "executions/" + executionID + "/state" }

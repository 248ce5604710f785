// Package secret keeps secrets: a Sealer encrypts what lies on the disk, and a
// Masker takes the values out of everything that people may read.
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

// Sealer encrypts with AES-256-GCM under a key derived from the master key. A
// sealed text is bound to the place where it belongs: opened for another one
// it is refused. A Sealer is safe for concurrent use.
type Sealer struct {
	aead   cipher.AEAD
	check  []byte
	backup []byte // the key of Sign
}

// errSealed says that a sealed text was made with another key, for another
// place, or was changed.
var errSealed = errors.New("sealed text does not open with this master key")

// NewSealer takes the master key, KeySize bytes.
func NewSealer(key []byte) (*Sealer, error) {
	if len(key) != KeySize {
		return nil, fmt.Errorf("a master key has %d bytes, not %d", KeySize, len(key))
	}
	derive := func(use string) ([]byte, error) { return hkdf.Key(sha256.New, key, nil, "blueprintd "+use, KeySize) }
	sealing, err := derive("sealing v1")
	if err != nil {
		return nil, err
	}
	check, err := derive("check v1")
	if err != nil {
		return nil, err
	}
	backup, err := derive("backup v1")
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(sealing)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, err
	}
	return &Sealer{aead: aead, check: check, backup: backup}, nil
}

// NewKey makes a master key.
func NewKey() []byte {
	key := make([]byte, KeySize)
	rand.Read(key) // never fails, by its documentation
	return key
}

// Check is a value that tells this master key from others and gives nothing
// of it away. It is stored beside what the key sealed.
func (s *Sealer) Check() []byte { return s.check }

// Sign returns the HMAC-SHA256 of the digest of a backup, under a key derived
// from the master key for that alone.
func (s *Sealer) Sign(digest []byte) []byte {
	mac := hmac.New(sha256.New, s.backup)
	mac.Write(digest)
	return mac.Sum(nil)
}

// Signed reports whether mac is what Sign returned for digest.
func (s *Sealer) Signed(digest, mac []byte) bool { return hmac.Equal(s.Sign(digest), mac) }

// version leads every sealed text, so that a later form can be told apart.
const version = 1

// room is what Seal leaves behind a sealed text, so that the checksum of the store
// fits there without a copy.
const room = 4

// Seal encrypts plain for one place, such as "triggers/ID/config".
func (s *Sealer) Seal(plain []byte, place string) []byte {
	out := make([]byte, 1, 1+len(plain)+s.aead.Overhead()+room)
	out[0] = version
	return s.aead.Seal(out, nil, plain, []byte(place))
}

// Open decrypts what Seal made for the same place, or gives errSealed.
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

package store

import (
	"fmt"

	"blueprintd/blueprint"
)

// errNoKey tells a tool that it came without the master key.
var errNoKey = &blueprint.Error{
	Code: blueprint.CodeConflict, Message: "this needs the master key, because it has to do with a secret",
	Hint: "name the key file that belongs to this database with --master-key-file",
}

// sealable encodes a JSON value for two columns of which one is NULL: in plain
// text, or sealed for its place when it is secret.
func (s *Store) sealable(value any, secret bool, place string) (plain, sealed any, err error) {
	data, err := blueprint.Encode(value)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", place, err)
	}
	if !secret {
		return string(data), nil, nil
	}
	sealed, err = s.seal(data, place)
	return nil, sealed, err
}

// seal encrypts bytes for their place.
func (s *Store) seal(plain []byte, place string) ([]byte, error) {
	if s.options.Sealer == nil {
		return nil, errNoKey
	}
	return s.options.Sealer.Seal(plain, place), nil
}

// unsealed decrypts what seal made.
func (s *Store) unsealed(sealed []byte, place string) ([]byte, error) {
	if s.options.Sealer == nil {
		return nil, errNoKey
	}
	plain, err := s.options.Sealer.Open(sealed, place)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", place, err)
	}
	return plain, nil
}

// unseal decodes what sealable encoded.
func (s *Store) unseal(plain, sealed []byte, place string) (any, error) {
	if sealed != nil {
		var err error
		if plain, err = s.unsealed(sealed, place); err != nil {
			return nil, err
		}
	}
	return decode(plain, place)
}

// decode reads JSON of our own making; a mistake in it is no caller's fault.
func decode(data []byte, place string) (any, error) {
	value, err := blueprint.Decode(data)
	if err != nil {
		return nil, fmt.Errorf("%s: stored JSON does not decode: %s", place, err.Error())
	}
	return value, nil
}

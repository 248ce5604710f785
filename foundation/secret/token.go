package secret

import (
	"encoding/base64"
	"errors"
)

// EncodeToken returns data as unpadded base64url (RFC 4648, section 5).
func EncodeToken(data []byte) string { return base64.RawURLEncoding.EncodeToString(data) }

// DecodeToken decodes what EncodeToken returns, and nothing else. Package base64 ignores line
// breaks, even in strict mode; a token with one would count as another token where tokens are
// remembered.
func DecodeToken(token string) ([]byte, error) {
	data, err := base64.RawURLEncoding.DecodeString(token)
	if err == nil && EncodeToken(data) != token {
		err = errors.New("secret: token is not canonical base64url")
	}
	return data, err
}

package triggers_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
)

func sign(secret, body string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(body))
	return hex.EncodeToString(mac.Sum(nil))
}

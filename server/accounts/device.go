package accounts

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"slices"

	"blueprintd/blueprint"
)

const (
	maxToken    = 200       // bytes of a device token
	maxAccounts = 5         // of a device; those that signed in longest ago are dropped
	devicePlace = "devices" // the place for which device tokens are sealed
)

// device is the content of a device token: a browser in which users have signed in. It has
// counts of wrong passwords of its own; see Service.SignIn.
type device struct {
	id       [16]byte
	accounts []deviceAccount // the latest last
}

// deviceAccount identifies an account by a hash of its email.
type deviceAccount [16]byte

func accountOnDevice(email string) deviceAccount {
	sum := sha256.Sum256([]byte(blueprint.FoldEmail(email)))
	return deviceAccount(sum[:16])
}

// Device returns the device token for a browser in which the account has signed in, valid
// for blueprint.DeviceLifetime; before is its previous token or "". Wrong passwords on other
// devices do not delay a known device. The token grants no access. It is "" if the service
// has no sealer.
func (s *Service) Device(email, before string) string {
	if s.Sealer == nil {
		return ""
	}
	d, known := s.device(before)
	if !known {
		d.id = [16]byte(s.IDs.Bytes(16))
	}
	account := accountOnDevice(email)
	d.accounts = append(slices.DeleteFunc(d.accounts, func(other deviceAccount) bool { return other == account }), account)
	d.accounts = d.accounts[max(0, len(d.accounts)-maxAccounts):]
	plain := binary.BigEndian.AppendUint64(nil, uint64(s.Clock.Now().Add(blueprint.DeviceLifetime).Unix()))
	plain = append(plain, d.id[:]...)
	for _, account := range d.accounts {
		plain = append(plain, account[:]...)
	}
	return base64.RawURLEncoding.EncodeToString(s.Sealer.Seal(plain, devicePlace))
}

// DeviceID returns the id of the device of a token, "" if the token is invalid or expired.
func (s *Service) DeviceID(token string) string {
	d, known := s.device(token)
	if !known {
		return ""
	}
	return hex.EncodeToString(d.id[:])
}

// deviceOf is DeviceID for a device where the account with an email has signed in.
func (s *Service) deviceOf(token, email string) string {
	if d, _ := s.device(token); slices.Contains(d.accounts, accountOnDevice(email)) {
		return hex.EncodeToString(d.id[:])
	}
	return ""
}

// device opens a token. known is false if it is invalid or expired.
func (s *Service) device(token string) (d device, known bool) {
	if s.Sealer == nil || token == "" || len(token) > maxToken {
		return d, false
	}
	sealed, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		return d, false
	}
	plain, err := s.Sealer.Open(sealed, devicePlace)
	if err != nil || len(plain) < 8+len(d.id) || s.Clock.Now().Unix() >= int64(binary.BigEndian.Uint64(plain)) {
		return d, false
	}
	rest := plain[8+copy(d.id[:], plain[8:]):]
	for account := range slices.Chunk(rest, len(deviceAccount{})) {
		if len(account) == len(deviceAccount{}) {
			d.accounts = append(d.accounts, deviceAccount(account))
		}
	}
	return d, true
}

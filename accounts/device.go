package accounts

import (
	"encoding/base64"
	"encoding/binary"

	"blueprintd/blueprint"
)

// mostDevice bounds what a browser may say that it kept, in bytes.
const mostDevice = 200

// devicePlace is what a kept text is bound to: it is good for that account alone.
func devicePlace(email string) string { return "devices/" + fold(email) }

// Device gives what a browser keeps when somebody has signed in to the account
// with an email there, for blueprint.DeviceLife. Whoever comes with it need not
// wait because others at the same address were wrong too often; it opens nothing.
// "" = the service knows no browsers.
func (s *Service) Device(email string) string {
	if s.Sealer == nil {
		return ""
	}
	until := binary.BigEndian.AppendUint64(nil, uint64(s.Clock.Now().Add(blueprint.DeviceLife).Unix()))
	return base64.RawURLEncoding.EncodeToString(s.Sealer.Seal(until, devicePlace(email)))
}

// knows tells whether somebody has signed in to the account with an email in the
// browser that kept a text.
func (s *Service) knows(device, email string) bool {
	if s.Sealer == nil || device == "" || len(device) > mostDevice {
		return false
	}
	sealed, err := base64.RawURLEncoding.DecodeString(device)
	if err != nil {
		return false
	}
	until, err := s.Sealer.Open(sealed, devicePlace(email))
	return err == nil && len(until) == 8 && s.Clock.Now().Unix() < int64(binary.BigEndian.Uint64(until))
}

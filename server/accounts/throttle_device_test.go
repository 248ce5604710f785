package accounts

import (
	"strings"
	"testing"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/ids"
	"blueprintd/foundation/secret"
)

func newSealer(t testing.TB) *secret.Sealer {
	t.Helper()
	sealer, err := secret.NewSealer(secret.NewKey())
	if err != nil {
		t.Fatal(err)
	}
	return sealer
}

func TestDevice(t *testing.T) {
	c := clock.NewVirtual(noon)
	service := func() *Service { return New(Options{Clock: c, Sealer: newSealer(t), IDs: ids.New(nil)}) }
	s := service()
	token := s.Device("Ada@example.org", "")
	other := s.Device("bo@example.org", token)
	for name, test := range map[string]struct {
		device, email string
		want          bool
	}{
		"the account":           {token, "ada@EXAMPLE.org", true},
		"another account":       {token, "bo@example.org", false},
		"the second account":    {other, "bo@example.org", true},
		"still the first":       {other, "ada@example.org", true},
		"a third":               {other, "cy@example.org", false},
		"empty":                 {"", "ada@example.org", false},
		"not base64":            {token + "!", "ada@example.org", false},
		"truncated":             {token[:20], "ada@example.org", false},
		"long":                  {strings.Repeat("x", maxToken+1), "ada@example.org", false},
		"of another master key": {service().Device("ada@example.org", ""), "ada@example.org", false},
	} {
		t.Run(name, func(t *testing.T) {
			if id := s.deviceOf(test.device, test.email); (id != "") != test.want || id != "" && id != s.DeviceID(test.device) {
				t.Errorf("the device is %q, want %v", id, test.want)
			}
		})
	}
	if s.DeviceID(token) != s.DeviceID(other) || s.DeviceID(token) == s.DeviceID(s.Device("ada@example.org", "")) {
		t.Error("the id of a device changed, or two devices share one")
	}
	for i := range 2 * maxAccounts {
		if token = s.Device(string(rune('a'+i))+"@example.org", token); len(token) > maxToken {
			t.Errorf("token is %s, want length at most %v", token, maxToken)
		}
	}
	if s.deviceOf(token, "e@example.org") != "" || s.deviceOf(token, "f@example.org") == "" || s.deviceOf(token, "j@example.org") == "" {
		t.Error("the device does not know its latest accounts")
	}
	if none := New(Options{Clock: c}); none.Device("ada@example.org", "") != "" || none.DeviceID(token) != "" {
		t.Error("a service without a sealer accepts devices")
	}
	for age, want := range []bool{true, false} {
		if err := c.Advance(t.Context(), noon.Add(blueprint.DeviceLifetime-time.Second+time.Duration(age)*time.Second)); err != nil {
			t.Fatal(err)
		}
		if (s.deviceOf(token, "j@example.org") != "") != want {
			t.Errorf("known is %v", !want)
		}
	}
}

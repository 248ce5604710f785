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
	kept := s.Device("Ada@example.org", "")
	other := s.Device("bo@example.org", kept)
	for name, test := range map[string]struct {
		device, email string
		want          bool
	}{
		"the account":           {kept, "ada@EXAMPLE.org", true},
		"another account":       {kept, "bo@example.org", false},
		"the second account":    {other, "bo@example.org", true},
		"still the first":       {other, "ada@example.org", true},
		"a third":               {other, "cy@example.org", false},
		"nothing":               {"", "ada@example.org", false},
		"no base64":             {kept + "!", "ada@example.org", false},
		"cut":                   {kept[:20], "ada@example.org", false},
		"long":                  {strings.Repeat("x", maxToken+1), "ada@example.org", false},
		"of another master key": {service().Device("ada@example.org", ""), "ada@example.org", false},
	} {
		if id := s.deviceOf(test.device, test.email); (id != "") != test.want || id != "" && id != s.DeviceID(test.device) {
			t.Errorf("%s: the device is %q", name, id)
		}
	}
	if s.DeviceID(kept) != s.DeviceID(other) || s.DeviceID(kept) == s.DeviceID(s.Device("ada@example.org", "")) {
		t.Error("a device does not keep its name, or shares it with another")
	}
	for i := range 2 * maxAccounts {
		if kept = s.Device(string(rune('a'+i))+"@example.org", kept); len(kept) > maxToken {
			t.Errorf("kept is %s", kept)
		}
	}
	if s.deviceOf(kept, "e@example.org") != "" || s.deviceOf(kept, "f@example.org") == "" || s.deviceOf(kept, "j@example.org") == "" {
		t.Error("a device is not known to its last accounts")
	}
	if none := New(Options{Clock: c}); none.Device("ada@example.org", "") != "" || none.DeviceID(kept) != "" {
		t.Error("a service without a key knows devices")
	}
	for age, want := range []bool{true, false} {
		if err := c.Advance(t.Context(), noon.Add(blueprint.DeviceLifetime-time.Second+time.Duration(age)*time.Second)); err != nil {
			t.Fatal(err)
		}
		if (s.deviceOf(kept, "j@example.org") != "") != want {
			t.Errorf("known is %v", !want)
		}
	}
}

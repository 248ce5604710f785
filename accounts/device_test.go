package accounts

import (
	"strings"
	"testing"
	"time"

	"blueprintd/blueprint"
	"blueprintd/clock"
	"blueprintd/secret"
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
	s := New(Options{Clock: c, Sealer: newSealer(t)})
	kept := s.Device("Ada@example.org")
	for name, test := range map[string]struct {
		device, email string
		want          bool
	}{
		"the account":           {kept, "ada@EXAMPLE.org", true},
		"another account":       {kept, "bo@example.org", false},
		"nothing":               {"", "ada@example.org", false},
		"no base64":             {kept + "!", "ada@example.org", false},
		"cut":                   {kept[:20], "ada@example.org", false},
		"long":                  {strings.Repeat("x", mostDevice+1), "ada@example.org", false},
		"of another master key": {New(Options{Clock: c, Sealer: newSealer(t)}).Device("ada@example.org"), "ada@example.org", false},
	} {
		if got := s.knows(test.device, test.email); got != test.want {
			t.Errorf("%s: known is %v", name, got)
		}
	}
	if len(kept) > mostDevice {
		t.Errorf("kept is %s", kept)
	}
	if none := New(Options{Clock: c}); none.Device("ada@example.org") != "" || none.knows(kept, "ada@example.org") {
		t.Error("a service without a key knows browsers")
	}
	for age, want := range []bool{true, false} {
		if err := c.Advance(t.Context(), noon.Add(blueprint.DeviceLife-time.Second+time.Duration(age)*time.Second)); err != nil {
			t.Fatal(err)
		}
		if s.knows(kept, "ada@example.org") != want {
			t.Errorf("known is %v", !want)
		}
	}
}

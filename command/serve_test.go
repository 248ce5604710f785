package command

import (
	"testing"

	"blueprintd/blueprint"
)

// TestClockFlag: without an instant a virtual clock stands at the first one of 2000.
func TestClockFlag(t *testing.T) {
	for text, want := range map[string]string{"virtual": "2000-01-01T00:00:00.000Z", "virtual=2030-05-01T14:00:00.5+02:00": "2030-05-01T12:00:00.500Z"} {
		stands, err := parseClock("--clock", text)
		if err != nil {
			t.Fatal(err)
		}
		if got := blueprint.TimeOf(stands.Now()).String(); got != want {
			t.Errorf("%s stands at %s, want %s", text, got, want)
		}
	}
	for _, text := range []string{"virtual=", "virtual=2030-05-01", "Virtual", "now", ""} {
		if _, err := parseClock("--clock", text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

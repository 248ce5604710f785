package command

import (
	"flag"
	"testing"

	"github.com/urfave/cli/v2"

	"blueprintd/blueprint"
)

func TestParseClock(t *testing.T) {
	parse := func(text string) (string, error) {
		set := flag.NewFlagSet("serve", flag.ContinueOnError)
		set.String("clock", text, "")
		clock, err := parseClock(cli.NewContext(&cli.App{}, set, nil))
		if err != nil {
			return "", err
		}
		return blueprint.TimeOf(clock.Now()).String(), nil
	}
	for text, want := range map[string]string{"virtual": "2000-01-01T00:00:00.000Z", "virtual=2030-05-01T14:00:00.5+02:00": "2030-05-01T12:00:00.500Z"} {
		t.Run(text, func(t *testing.T) {
			if got, err := parse(text); err != nil || got != want {
				t.Errorf("--clock %s is %s, %v, want %s", text, got, err, want)
			}
		})
	}
	for _, text := range []string{"virtual=", "virtual=2030-05-01", "virtual=1970-01-01T00:00:00Z", "virtual=1960-01-01T00:00:00Z", "Virtual", "now", ""} {
		if got, err := parse(text); err == nil {
			t.Errorf("--clock %q is %s, want an error", text, got)
		}
	}
}

package command

import (
	"testing"

	"blueprintd/blueprint"
	"blueprintd/command/cli"
)

func TestParseClock(t *testing.T) {
	parse := func(text string) (string, error) {
		clock, err := parseClock(cli.NewContext(&cli.App{}, &cli.Command{Flags: []cli.Flag{&cli.StringFlag{Name: "clock", Value: text}}}))
		if err != nil {
			return "", err
		}
		return blueprint.TimeOf(clock.Now()).String(), nil
	}
	for text, want := range map[string]string{"virtual": "2000-01-01T00:00:00.000Z", "virtual=2030-05-01T14:00:00.5+02:00": "2030-05-01T12:00:00.500Z"} {
		if got, err := parse(text); err != nil || got != want {
			t.Errorf("--clock %s is %s, %v, want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"virtual=", "virtual=2030-05-01", "Virtual", "now", ""} {
		if got, err := parse(text); err == nil {
			t.Errorf("--clock %q is %s, want an error", text, got)
		}
	}
}

package command

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/urfave/cli/v2"

	"blueprintd/command/terminal"
	"blueprintd/store"
)

type build struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`   // "" if not built from a checkout
	Modified bool   `json:"modified,omitempty"` // the checkout had uncommitted changes
	Go       string `json:"go"`
	SQLite   string `json:"sqlite"`
	Platform string `json:"platform"`
}

func thisBuild(version string) build {
	b := build{Version: version, Go: runtime.Version(), SQLite: store.SQLiteVersion, Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	for _, setting := range info.Settings {
		switch setting.Key {
		case "vcs.revision":
			b.Commit = setting.Value
		case "vcs.modified":
			b.Modified = setting.Value == "true"
		}
	}
	return b
}

func commandVersion() *cli.Command {
	return &cli.Command{
		Name: "version", Usage: "print the version, as --version does", UsageText: "blueprintd version --json",
		Flags: []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "print version, commit, go, sqlite and platform as JSON"}},
		Action: func(c *cli.Context) error {
			b := thisBuild(c.App.Version)
			if c.Bool("json") {
				return terminal.JSON(c.App.Writer, b)
			}
			line := "blueprintd " + b.Version
			if b.Commit != "" && strings.HasSuffix(b.Version, "-dev") {
				line += " (" + b.Commit[:min(12, len(b.Commit))]
				if b.Modified {
					line += ", modified"
				}
				line += ")"
			}
			_, err := fmt.Fprintln(c.App.Writer, line)
			return err
		},
	}
}

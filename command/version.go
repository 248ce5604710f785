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

// build is what a binary knows of itself.
type build struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`   // when it was built from a checkout
	Modified bool   `json:"modified,omitempty"` // the checkout had changes
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
		Name: "version", Usage: "print the version, as --version does",
		Flags: []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "print JSON: version, commit, go, sqlite, platform"}},
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

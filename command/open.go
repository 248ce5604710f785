package command

import (
	"errors"
	"fmt"
	"net/netip"

	"github.com/urfave/cli/v2"

	"blueprintd/blueprint"
	"blueprintd/command/terminal"
	"blueprintd/foundation/fileio"
	"blueprintd/foundation/recording"
	"blueprintd/project"
	"blueprintd/server"
)

func commandOpen() *cli.Command {
	return &cli.Command{
		Name: "open", Usage: "show an exported run in a browser", ArgsUsage: "FILE",
		Description: "Prints an address that shows the run and works once. The viewer stores nothing on disk, serves only this machine and\n" +
			"runs nothing. A FILE of - is standard input.",
		UsageText: "blueprintd open my.run.json",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "addr", Value: "127.0.0.1:0", Usage: "listen on `HOST:PORT` of this machine; port 0 picks a free port"},
			&cli.BoolFlag{Name: "json", Usage: `print {"url"}`},
		},
		Action: openRun,
	}
}

// exportHint names the command that writes files of runs.
const exportHint = "use a file that blueprintd export-run wrote"

func openRun(c *cli.Context) error {
	address := c.String("addr")
	if at, err := netip.ParseAddrPort(address); err != nil || !at.Addr().Unmap().IsLoopback() {
		return usage("--addr 127.0.0.1:0", "%s %s: must be a loopback address", given(c, "addr"), address)
	}
	in := &project.Inputs{Stdin: c.App.Reader}
	data, name, err := in.Read(c.Args().First(), recording.MaxSize)
	if err != nil {
		return blueprint.Hinted(exportHint, "%s: %s", name, fileio.Cause(err))
	}
	f, err := recording.Parse(data)
	if err != nil {
		if known, ok := errors.AsType[*blueprint.Error](err); ok {
			return &exit{code: ExitUsage, message: name + ": " + known.Message, hint: exportHint + ", of this version or an older one"}
		}
		return err
	}
	ctx, release := untilInterrupted(c.Context)
	defer release()
	v, err := server.NewViewer(ctx, programOf(c).Version, programOf(c).Schema, address, f, c.App.ErrWriter)
	if err != nil {
		return err
	}
	return v.Run(ctx, func(url string) error {
		fmt.Fprintf(c.App.ErrWriter, "%s of %s, %s. Press Ctrl+C to stop the viewer.\n", f.Run.ID, blueprint.OneLine(f.Blueprint.Title), f.Run.Status)
		if c.Bool("json") {
			return terminal.JSON(c.App.Writer, map[string]any{"url": url})
		}
		_, err := fmt.Fprintln(c.App.Writer, url)
		return err
	})
}

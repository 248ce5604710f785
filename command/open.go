package command

import (
	"errors"
	"fmt"
	"io"
	"net/netip"

	"github.com/urfave/cli/v2"

	"blueprintd/blueprint"
	"blueprintd/foundation/fileio"
	"blueprintd/foundation/recording"
	"blueprintd/project"
	"blueprintd/server"
)

func commandOpen() *cli.Command {
	return &cli.Command{
		Name: "open", Usage: "show a run from a file, as blueprintd export-run writes it, in a browser", ArgsUsage: "FILE",
		Description: "Prints an address that works once and leads to the run. What shows it keeps everything in memory, answers this machine\n" +
			"alone and runs nothing. A FILE of - is standard input.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "addr", Value: "127.0.0.1:0", Usage: "listen on `HOST:PORT` of this machine; port 0 picks a free one"},
			&cli.BoolFlag{Name: "json", Usage: `print {"url"} instead`},
		},
		Action: openRun,
	}
}

func openRun(c *cli.Context) error {
	if c.NArg() != 1 {
		return usage("blueprintd open my.run.json", "open takes one file")
	}
	address := c.String("addr")
	if at, err := netip.ParseAddrPort(address); err != nil || !at.Addr().Unmap().IsLoopback() {
		return usage("--addr 127.0.0.1:0", "%s %s: must be an address of this machine alone", given(c, "addr"), address)
	}
	in := &project.Inputs{Stdin: c.App.Reader}
	data, name, err := in.Read(c.Args().First(), recording.MaxSize)
	if err != nil {
		return blueprint.Hinted("blueprintd export-run writes such files", "%s: %s", name, fileio.Cause(err))
	}
	f, err := recording.Parse(data)
	if err != nil {
		var known *blueprint.Error
		if errors.As(err, &known) {
			return &exit{code: ExitUsage, message: name + ": " + known.Message, hint: "blueprintd export-run writes such files, and a newer one what an older one cannot read"}
		}
		return err
	}
	ctx, release := untilInterrupted(c.Context)
	defer release()
	v, err := server.NewViewer(ctx, programOf(c).Version, programOf(c).Schema, address, f, c.App.ErrWriter)
	if err != nil {
		return err
	}
	return v.Run(ctx, func(url string) error { return sayOpened(c.App.Writer, c.App.ErrWriter, url, f, c.Bool("json")) })
}

// sayOpened says where the run can be seen.
func sayOpened(out, notes io.Writer, url string, f *recording.File, asJSON bool) error {
	fmt.Fprintf(notes, "%s of %s, %s; nothing runs here, and nothing is kept. Ctrl+C ends it.\n", f.Run.ID, blueprint.OneLine(f.Blueprint.Title), f.Run.Status)
	if !asJSON {
		_, err := fmt.Fprintln(out, url)
		return err
	}
	data, err := blueprint.EncodeIndented(map[string]any{"url": url})
	if err == nil {
		_, err = out.Write(data)
	}
	return err
}

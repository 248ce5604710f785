package command

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"blueprintd/blueprint"
	"blueprintd/blueprint/document"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/fileio"
	"blueprintd/project"
	"blueprintd/server"
	"blueprintd/server/sandbox"
)

// maxExpect is the size of the largest file of expectations, in bytes.
const maxExpect = 1 << 20

// readSandbox reads the flags of the sandbox and refuses what would reach a real
// service anyway.
func readSandbox(c *cli.Context, o *server.Options) error {
	name := c.String("expect")
	switch {
	case !c.Bool("sandbox") && name != "":
		return usage("add --sandbox", "%s requires --sandbox", given(c, "expect"))
	case !c.Bool("sandbox"):
		return nil
	case o.ACME != nil:
		return usage("use --tls-cert and --tls-key, or no TLS", "%s: certificates come from a real authority, and a sandbox reaches none", given(c, "sandbox"))
	}
	o.Sandbox = &server.SandboxOptions{Report: c.App.ErrWriter}
	o.Resolver = sandbox.NoNames{}
	if name == "" {
		return nil
	}
	data, err := fileio.Read(name, maxExpect)
	if err != nil {
		return usage("name a readable file", "%s %s: %s", given(c, "expect"), name, fileio.Cause(err))
	}
	const hint = `write expect: [{match: {nodeType: send-slack}, times: 1}]`
	doc, err := document.Parse(name, data)
	if err != nil {
		return usage(hint, "%s", err)
	}
	var wrong *blueprint.Error
	if err := sandbox.CheckExpectations(doc.Value, server.RuledNames()); errors.As(err, &wrong) {
		return usage(hint, "%s", doc.Point(wrong.Issues[0]))
	}
	o.Sandbox.Expect = doc.Value
	return nil
}

func readSeed(c *cli.Context, o *server.Options) error {
	const hint = "fix the file; nothing was written"
	name := c.String("seed")
	if name == "" {
		return nil
	}
	data, err := fileio.Read(name, document.MaxSize+1)
	if err != nil {
		return usage("name a file that exists", "%s %s: %s", given(c, "seed"), name, fileio.Cause(err))
	}
	seed, doc, issues, err := project.ReadSeed(name, data, project.Environment)
	if err != nil {
		return syntaxError(err, hint)
	}
	for _, issue := range issues {
		if issue.Severity != blueprint.SeverityWarning {
			return usage(hint, "%s", doc.Point(issue))
		}
	}
	o.Seed = seed
	return nil
}

// readSeedIDs reads the number from which ids are derived. Such ids are predictable, so
// that the server must not store anything.
func readSeedIDs(c *cli.Context, o *server.Options) error {
	text := c.String("seed-ids")
	if text == "" {
		return nil
	}
	seed, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return usage("--seed-ids 1", "%s %s: want a whole number", given(c, "seed-ids"), text)
	}
	if !o.Ephemeral {
		return usage("add --ephemeral, or leave it out", "%s requires --ephemeral: keys and ids derived from a number are predictable", given(c, "seed-ids"))
	}
	o.SeedIDs = &seed
	return nil
}

func readClock(c *cli.Context, o *server.Options) (err error) {
	o.Clock, err = parseClock(c)
	return err
}

// virtualStart is where a virtual clock begins by default.
var virtualStart = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

func parseClock(c *cli.Context) (clock.Clock, error) {
	const hint = "--clock virtual=2030-01-01T00:00:00Z"
	text := c.String("clock")
	switch kind, at, hasStart := strings.Cut(text, "="); {
	case text == "real":
		return clock.Real{}, nil
	case text == "virtual":
		return clock.NewVirtual(virtualStart), nil
	case kind == "virtual" && hasStart:
		start, err := time.Parse(time.RFC3339, at)
		if err != nil {
			return nil, usage(hint, "%s %s: %q is not an RFC 3339 time", given(c, "clock"), text, at)
		}
		return clock.NewVirtual(start), nil
	}
	return nil, usage(hint, "%s %s: choose real or virtual[=RFC3339]", given(c, "clock"), text)
}

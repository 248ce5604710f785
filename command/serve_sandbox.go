package command

import (
	"errors"

	"blueprintd/blueprint"
	"blueprintd/blueprint/document"
	"blueprintd/foundation/fileio"
	"blueprintd/server"
	"blueprintd/server/sandbox"

	"github.com/urfave/cli/v2"
)

// maxExpect is how large a file of expectations may be, in bytes.
const maxExpect = 1 << 20

func sandboxFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "sandbox", Usage: "reach nothing real: built-in fakes answer all that nodes and connections send; see /sandbox/calls, and /sandbox/rules for answers and faults of your own"},
		&cli.StringFlag{Name: "expect", Usage: "with --sandbox: the `FILE` (YAML or JSON) that says what has to be asked before the end; else the exit code is 1"},
	}
}

// chooseSandbox reads them. What would reach something real all the same does
// not go together with a sandbox.
func chooseSandbox(c *cli.Context, o *server.Options) error {
	name := c.String("expect")
	switch {
	case !c.Bool("sandbox") && name != "":
		return usage("add --sandbox", "%s: only a sandbox sees what is asked", given(c, "expect"))
	case !c.Bool("sandbox"):
		return nil
	case o.ACME != nil:
		return usage("use --tls-cert and --tls-key, or no TLS", "%s: certificates come from an authority out there, and a sandbox reaches nothing real", given(c, "sandbox"))
	}
	o.Sandbox = &server.SandboxOptions{Told: c.App.ErrWriter}
	o.Resolver = sandbox.NoNames{}
	if name == "" {
		return nil
	}
	data, err := fileio.Read(name, maxExpect)
	if err != nil {
		return usage("name a file that can be read", "%s %s: %s", given(c, "expect"), name, fileio.Cause(err))
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

package command

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"blueprintd/blueprint"
	"blueprintd/project/sdk"
)

func commandSDK() *cli.Command {
	const again = "\nReplaces the files that an earlier call wrote, and leaves all others. If a file of yours has one of the names,\n" +
		"the command fails and changes nothing."
	return &cli.Command{
		Name: "sdk", Usage: "write a client and a test helper into your project",
		Subcommands: []*cli.Command{{
			Name: "go", Usage: "write the Go package, which needs only the standard library", ArgsUsage: "DIR",
			Description: "Writes a client of the API, and in DIR/blueprintdtest a package that starts servers for tests.\n" +
				"They need Go 1.24 or newer." + again,
			UsageText: "blueprintd sdk go internal/blueprintd\nblueprintd sdk go internal/flows --package flows --import-path example.org/app/internal/flows",
			Flags: []cli.Flag{
				&cli.StringFlag{Name: "package", Usage: "`NAME` of the package; by default the last element of its import path"},
				&cli.StringFlag{Name: "import-path", Usage: "`PATH` by which your project imports the package; by default the one that the go.mod above DIR defines"},
			},
			Action: writeGoPackage,
		}, {
			Name: "typescript", Usage: "write the npm package, for TypeScript and JavaScript", ArgsUsage: "DIR",
			Description: "Writes an npm package with a typed client, and servers for the tests of Vitest and Jest. It finds the executable by\n" +
				"BLUEPRINTD_BINARY, in its own folder or on the PATH." + again,
			UsageText: "blueprintd sdk typescript blueprintd-sdk\nblueprintd sdk typescript vendor --tarball",
			Flags: []cli.Flag{
				&cli.BoolFlag{Name: "tarball", Usage: "write the package as one file, DIR/blueprintd-VERSION.tgz"},
			},
			Action: writeNPMPackage,
		}},
	}
}

func writeGoPackage(c *cli.Context) error {
	p := &sdk.GoPackage{Folder: c.Args().First(), Name: c.String("package"), ImportPath: c.String("import-path"), Version: programOf(c).Version}
	if err := p.Write(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(c.App.Writer, "%s  holds the Go package %s\n  import %q\n  import %q\n", p.Folder, p.Name, p.ImportPath, p.ImportPath+"/blueprintdtest")
	return err
}

func writeNPMPackage(c *cli.Context) (err error) {
	written := c.Args().First()
	if c.Bool("tarball") {
		written, err = sdk.WriteTarball(written, programOf(c).Version)
	} else {
		err = sdk.WritePackage(written, programOf(c).Version)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.App.Writer, "%s  holds the npm package\n  npm install %s @trpc/client @trpc/server\n", written, blueprint.ShellWord(installable(written)))
	return err
}

// installable returns a path that npm does not take for the name of a package.
func installable(path string) string {
	if path = filepath.ToSlash(path); strings.HasPrefix(path, "/") || strings.HasPrefix(path, "./") || strings.HasPrefix(path, "../") || filepath.IsAbs(path) {
		return path
	}
	return "./" + path
}

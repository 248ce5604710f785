package command

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"runtime/debug"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"blueprintd/blueprint"
	"blueprintd/command/terminal"
	"blueprintd/foundation/clock"
	"blueprintd/server"
	"blueprintd/store"
	"blueprintd/store/masterkey"
)

func commandDoctor() *cli.Command {
	return &cli.Command{
		Name: "doctor", Usage: "check the database and its environment, and print how to fix problems; works while the server runs",
		Description: "Changes nothing. Each line is ok, a warning or a problem, with its fix. Exits with 1 when there is a problem.",
		UsageText:   "blueprintd doctor\nblueprintd doctor --full --json",
		Flags: append([]cli.Flag{
			&cli.BoolFlag{Name: "full", Usage: "check every page, index, reference and checksum; reads the whole database"},
			&cli.BoolFlag{Name: "json", Usage: "print an array of {check, status, message, fix}; status is ok, warning or problem"},
		}, append(databaseFlags(), minFreeFlag())...),
		Action: doctor,
	}
}

func doctor(c *cli.Context) error {
	path := c.String("db")
	if isRemote(c) {
		if err := checkRemote(c); err != nil {
			return err
		}
	} else if path == "" {
		return usage("--db blueprintd.db", "%s: name a file", given(c, "db"))
	}
	var limits server.Options
	if err := readMinFree(c, &limits); err != nil {
		return err
	}
	key, keyFindings := examineKey(path, c.String("master-key-file"))
	options := storeOptions(c, nil)
	options.Sealer, options.MinFree = key.Sealer, limits.MinFree
	findings := store.Diagnose(c.Context, options, c.Bool("full"))
	if next, err := key.NextKey(); next != nil || err != nil {
		if next != nil && slices.ContainsFunc(findings, func(f store.Finding) bool { return f.Check == "master key" && f.Health == store.Broken }) {
			options.Sealer = next
			findings = store.Diagnose(c.Context, options, c.Bool("full"))
		}
		keyFindings = append(keyFindings, store.Finding{Check: "key file", Health: store.Dubious, Message: "a rotation of the master key was interrupted: " + masterkey.RealPath(key.Path) + masterkey.NewSuffix + " exists",
			Fix: "run blueprintd master-key rotate to finish it"})
	}
	findings = slices.Concat(findings, keyFindings, examineBuild(programOf(c).Version, options.Clock.Now()), []store.Finding{examineZones()})
	if err := printFindings(c, findings); err != nil {
		return err
	}
	problems := 0
	for _, f := range findings {
		if f.Health == store.Broken {
			problems++
		}
	}
	if problems == 0 {
		return nil
	}
	return blueprint.Hinted("apply the fixes in order and run doctor again", "doctor found %s", blueprint.Counted(problems, "problem"))
}

func printFindings(c *cli.Context, findings []store.Finding) error {
	if c.Bool("json") {
		return terminal.JSON(c.App.Writer, findings)
	}
	for _, f := range findings {
		if f.Check == "form" { // its name in the JSON
			f.Check = "schema"
		}
		if _, err := fmt.Fprintf(c.App.Writer, "%-8s %-12s %s\n", f.Health, f.Check, blueprint.OneLine(f.Message)); err != nil {
			return err
		}
		if f.Fix != "" {
			if _, err := fmt.Fprintf(c.App.Writer, "%-8s %-12s fix: %s\n", "", "", blueprint.OneLine(f.Fix)); err != nil {
				return err
			}
		}
	}
	return nil
}

// examineKey reads the master key. The check of the database shows if it is the right one.
func examineKey(database, chosen string) (masterkey.Key, []store.Finding) {
	key, err := masterkey.Read(database, chosen, slog.New(slog.NewTextHandler(io.Discard, nil)))
	if err != nil {
		_, message, hint := explained(err)
		return masterkey.Key{}, []store.Finding{{Check: "key file", Health: store.Broken, Message: message, Fix: hint}}
	}
	info, err := os.Stat(key.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return key, []store.Finding{{Check: "key file", Health: store.Dubious, Message: "there is no master key " + key.Path,
			Fix: "name it with --master-key-file, or restore it from your backup; a new server creates one"}}
	}
	if err == nil {
		if fix := masterkey.Protect(info, key.Path); fix != "" {
			return key, []store.Finding{{Check: "key file", Health: store.Dubious, Message: "other users of this machine can read or write the master key " + key.Path, Fix: fix}}
		}
	}
	return key, []store.Finding{{Check: "key file", Health: store.Fine, Message: key.Path}}
}

// examineBuild compares the clock and the linked modules with those of the build.
func examineBuild(version string, now time.Time) []store.Finding {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	modules := map[string]string{}
	for _, module := range info.Deps {
		modules[module.Path] = module.Version
		if module.Replace != nil {
			modules[module.Path] = module.Replace.Path + " " + module.Replace.Version
		}
	}
	findings := []store.Finding{examineModules(version, modules)}
	for _, setting := range info.Settings {
		built, err := time.Parse(time.RFC3339, setting.Value)
		if setting.Key == "vcs.time" && err == nil && now.Before(built) {
			findings = append(findings, store.Finding{Check: "clock", Health: store.Broken,
				Message: fmt.Sprintf("the clock shows %s, which is before this program was built", now.UTC().Format(time.RFC3339)),
				Fix:     "set the clock of the machine"})
		}
	}
	return findings
}

// testedModules are the versions with which the database is tested. The driver works
// with exactly one version of its C library.
var testedModules = [][2]string{{"modernc.org/sqlite", "v1.60.1"}, {"modernc.org/libc", "v1.77.1"}}

func examineModules(version string, modules map[string]string) store.Finding {
	for _, tested := range testedModules {
		if found, known := modules[tested[0]]; known && found != tested[1] {
			return store.Finding{Check: "versions", Health: store.Dubious,
				Message: fmt.Sprintf("this program was built with %s %s; it was tested with %s", tested[0], found, tested[1]),
				Fix:     "use a released blueprintd, or build with the versions in its go.mod"}
		}
	}
	return store.Finding{Check: "versions", Health: store.Fine, Message: "blueprintd " + version + ", SQLite " + store.SQLiteVersion}
}

func examineZones() store.Finding {
	for _, name := range []string{"Europe/Berlin", "America/New_York"} {
		if _, err := time.LoadLocation(name); err != nil {
			return store.Finding{Check: "time zones", Health: store.Broken, Message: "time zone data is missing or broken: " + err.Error(),
				Fix: "unset ZONEINFO, or install the tzdata package of your system"}
		}
	}
	zone, _ := clock.Real{}.Now().Local().Zone() // its abbreviation
	return store.Finding{Check: "time zones", Health: store.Fine, Message: "time zones are available; this machine uses " + zone}
}

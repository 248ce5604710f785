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
		Name: "doctor", Usage: "check the database and what it needs, and say how to mend what is wrong",
		Description: "Works beside a running server and without one, and changes nothing. Each line is ok, a warning or a problem,\n" +
			"with what to do. Exits with 1 when there is a problem; warnings alone leave it at 0.",
		Flags: append(databaseFlags(),
			&cli.BoolFlag{Name: "full", Usage: "check every page, index, reference and checksum; reads the whole file"},
			minFreeFlag(),
			&cli.BoolFlag{Name: "json", Usage: "print an array of {check, status, message, fix}; status is ok, warning or problem"}),
		Action: doctor,
	}
}

func doctor(c *cli.Context) error {
	path := c.String("db")
	if path == "" {
		return usage("--db blueprintd.db", "%s: name a file", given(c, "db"))
	}
	var room server.Options
	if err := parseMinFree(c, &room); err != nil {
		return err
	}
	key, findings := examineKey(path, c.String("master-key-file"))
	now := clock.Real{}
	lookAt := store.Options{Path: path, Schema: programOf(c).Schema, Sealer: key.Sealer, Clock: now, AllowNetworkFS: c.Bool("allow-network-fs"), MinFree: room.MinFree}
	found := store.Diagnose(c.Context, lookAt, c.Bool("full"))
	if next, err := key.NextKey(); next != nil || err != nil {
		if next != nil && slices.ContainsFunc(found, func(f store.Finding) bool { return f.Check == "master key" && f.Health == store.Broken }) {
			lookAt.Sealer = next
			found = store.Diagnose(c.Context, lookAt, c.Bool("full"))
		}
		findings = append(findings, store.Finding{Check: "key file", Health: store.Dubious, Message: "a change of the master key was cut off: " + masterkey.RealPath(key.Path) + masterkey.NewSuffix + " is there",
			Fix: "blueprintd master-key rotate finishes it, or begins anew; a start of the server finishes it too if it had come far enough"})
	}
	findings = append(found, findings...)
	findings = append(findings, examineBuild(programOf(c).Version, now.Now())...)
	findings = append(findings, examineZones())
	if _, err := os.Stat(path); err == nil {
		findings = append(findings, store.Finding{Check: "backup", Health: store.Fine,
			Message: "blueprintd backup makes one, also beside a server; keep it, and the master key, on another disk"})
	}
	if err := printFindings(c, findings); err != nil {
		return err
	}
	problems := 0
	for _, f := range findings {
		if f.Health == store.Broken {
			problems++
		}
	}
	switch problems {
	case 0:
		return nil
	case 1:
		return blueprint.Hinted("do what stands behind \"fix\" and run doctor again", "there is a problem")
	}
	return blueprint.Hinted("do what stands behind \"fix\", from the first on, and run doctor again", "there are %d problems", problems)
}

func printFindings(c *cli.Context, findings []store.Finding) error {
	if c.Bool("json") {
		return terminal.JSON(c.App.Writer, findings)
	}
	for _, f := range findings {
		if _, err := fmt.Fprintf(c.App.Writer, "%-8s %-12s %s\n", f.Health, f.Check, blueprint.OneLine(f.Message)); err != nil {
			return err
		}
		if f.Fix == "" {
			continue
		}
		if _, err := fmt.Fprintf(c.App.Writer, "%-8s %-12s fix: %s\n", "", "", blueprint.OneLine(f.Fix)); err != nil {
			return err
		}
	}
	return nil
}

// examineKey reads the master key, as far as there is one. Whether it is the
// right one is found out with the database.
func examineKey(database, chosen string) (masterkey.Key, []store.Finding) {
	key, err := masterkey.Read(database, chosen, slog.New(slog.NewTextHandler(io.Discard, nil)))
	if err != nil {
		_, message, hint := explained(err)
		return masterkey.Key{}, []store.Finding{{Check: "key file", Health: store.Broken, Message: message, Fix: hint}}
	}
	info, err := os.Stat(key.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return key, []store.Finding{{Check: "key file", Health: store.Dubious, Message: "there is no master key " + key.Path,
			Fix: "name it with --master-key-file, or restore it from your backup; a new server makes one"}}
	case err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0 && !masterkey.IsCredential(key.Path):
		return key, []store.Finding{{Check: "key file", Health: store.Dubious, Message: "other users of this machine can get at the master key " + key.Path,
			Fix: "chmod 600 " + blueprint.ShellWord(key.Path)}}
	}
	return key, []store.Finding{{Check: "key file", Health: store.Fine, Message: key.Path}}
}

// examineBuild compares the clock, and the modules inside, with what the
// program was built from.
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
				Message: fmt.Sprintf("the clock shows %s, which is before this program was written", now.UTC().Format(time.RFC3339)),
				Fix:     "set the clock of the machine"})
		}
	}
	return findings
}

// The modules that the database is tested with. The driver fits exactly one
// version of its C library.
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

// examineZones makes sure that schedules find their time zones.
func examineZones() store.Finding {
	for _, name := range []string{"Europe/Berlin", "America/New_York"} {
		if _, err := time.LoadLocation(name); err != nil {
			return store.Finding{Check: "time zones", Health: store.Broken, Message: "time zone data is missing or broken: " + err.Error(),
				Fix: "unset ZONEINFO, or install the tzdata of your system"}
		}
	}
	zone, _ := clock.Real{}.Now().Local().Zone()
	return store.Finding{Check: "time zones", Health: store.Fine, Message: "schedules find their time zones; this machine is at " + zone}
}

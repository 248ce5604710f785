package command

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"blueprintd/blueprint"
	"blueprintd/blueprint/document"
	"blueprintd/engine"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/fileio"
	"blueprintd/foundation/secret"
	"blueprintd/project"
	"blueprintd/rpc"
	"blueprintd/store"
)

func commandExport() *cli.Command {
	return &cli.Command{
		Name: "export", Usage: "write a blueprint file to standard output, without secrets", ArgsUsage: "ID",
		UsageText: "blueprintd export 3f0e2b6c-6f0a-4b59-9d0e-2a41f6a7c001 > my.blueprint.yaml",
		Flags:     append([]cli.Flag{&cli.BoolFlag{Name: "json", Usage: "write JSON instead of YAML"}}, databaseFlags()...),
		Action:    export,
	}
}

func export(c *cli.Context) error {
	return withStore(c, false, func(ctx context.Context, s *store.Store) error {
		owner, err := s.Creator(ctx, c.Args().First())
		if err != nil {
			return blueprint.WithHint(err, "use an id that blueprintd import printed or that the procedure blueprint.list returns")
		}
		b, err := s.GetBlueprint(ctx, owner, c.Args().First())
		if err != nil {
			return err
		}
		triggers, err := s.ListTriggers(ctx, owner, b.ID)
		if err != nil {
			return err
		}
		members, err := exported(&b.Blueprint, triggers)
		if err != nil {
			return err
		}
		text, err := document.Marshal(members, c.Bool("json"))
		if err != nil {
			return err
		}
		_, err = c.App.Writer.Write(text)
		return err
	})
}

// exported returns the members of a blueprint file, without those that have the default.
func exported(b *blueprint.Blueprint, triggers []blueprint.Trigger) ([]document.Member, error) {
	budget, err := plainBudget(b.Budget)
	if err != nil {
		return nil, err
	}
	m := b.BlueprintMap
	if m == nil {
		m = map[string]any{"nodes": []any{}}
	}
	list := make([]any, len(triggers))
	for i, trigger := range triggers {
		entry := map[string]any{"triggerType": string(trigger.Type), "config": portableConfig(trigger)}
		if !trigger.IsActive {
			entry["isActive"] = false
		}
		list[i] = entry
	}
	var members []document.Member
	for _, member := range []struct {
		name  string
		value any
		isSet bool
	}{
		{"title", b.Title, true},
		{"description", b.Description, b.Description != ""},
		{"tags", project.Words(b.Tags), len(b.Tags) > 0},
		{"environment_variables", blueprint.RedactVariables(b.EnvironmentVariables), len(b.EnvironmentVariables) > 0},
		{"blueprint_map", m, true},
		{"status", b.Status, b.Status != blueprint.StatusDraft},
		{"visibility", b.Visibility, b.Visibility != blueprint.VisibilityPrivate},
		{"budget", budget, b.Budget.Limits()},
		{"triggers", list, len(list) > 0},
	} {
		if member.isSet {
			members = append(members, document.Member{Name: member.name, Value: member.value})
		}
	}
	return members, nil
}

func plainBudget(b *blueprint.Budget) (any, error) {
	text, err := blueprint.Encode(b)
	if err != nil {
		return nil, err
	}
	return blueprint.Decode(text)
}

// portableConfig returns the config of a trigger without its secrets and the mail
// address that it has on this server.
func portableConfig(trigger blueprint.Trigger) map[string]any {
	config := blueprint.RedactConfig(trigger.Config)
	if blueprint.KindOf(trigger.Type).Mailbox {
		delete(config, "address")
	}
	return config
}

func commandExportRun() *cli.Command {
	return &cli.Command{
		Name: "export-run", Usage: "write a run to a file, with its blueprint and its recorded calls", ArgsUsage: "ID",
		Description: "blueprintd open shows such a file, and blueprintd replay repeats the run offline. With --test, writes a blueprint\n" +
			"file, a test that expects the result of the run and, if the run was recorded, a cassette with its calls.\n" +
			"Secret variables, credentials of connections and values that look like secrets are left out. Review the file\n" +
			"before you share it.",
		UsageText: "blueprintd export-run exec_1735689600000_0001 --out my.run.json\nblueprintd export-run exec_1735689600000_0001 --test tests",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "out", Usage: "write to this new `FILE` instead of standard output"},
			&cli.StringFlag{Name: "test", Usage: "write a test of the run to this folder, `DIR`"},
		}, databaseFlags()...),
		Action: exportRun,
	}
}

func exportRun(c *cli.Context) error {
	if c.String("out") != "" && c.String("test") != "" {
		return usage("run it twice for both", "--out and --test exclude each other")
	}
	s, sealer, err := openSealed(c, false)
	if err != nil {
		return err
	}
	return errors.Join(writeRun(c, s, sealer), s.Close())
}

// writeRun writes a run with the rights of the creator of its blueprint.
func writeRun(c *cli.Context, s *store.Store, sealer *secret.Sealer) error {
	ctx, id := c.Context, c.Args().First()
	stored, err := s.Load(ctx, id)
	if err != nil {
		return blueprint.WithHint(err, "use an id that blueprint.execute returned or that the dashboard shows under Runs")
	}
	owner, err := s.Creator(ctx, stored.Row.BlueprintID)
	if err != nil {
		return blueprint.WithHint(err, "choose a run of a blueprint that still exists")
	}
	types := project.Catalogue()
	exporter := rpc.NewExporter(s, engine.NewReader(types, s, sealer), types, func() rpc.ServerInfo {
		return rpc.ServerInfo{Version: programOf(c).Version, Now: blueprint.TimeOf(clock.Real{}.Now()), Sandbox: s.IsSandbox()}
	})
	if c.String("test") != "" {
		files, err := exporter.ExportTest(ctx, owner, id)
		if err != nil {
			return err
		}
		for _, file := range files {
			if err := writeNew(c, filepath.Join(c.String("test"), file.Name), []byte(file.Content)); err != nil {
				return err
			}
		}
		return nil
	}
	f, err := exporter.Export(ctx, owner, id)
	if err != nil {
		return err
	}
	data, err := f.Bytes()
	if err != nil {
		return err
	}
	if c.String("out") != "" {
		return writeNew(c, c.String("out"), data)
	}
	_, err = c.App.Writer.Write(data)
	return err
}

// writeNew writes a new file, creates its folder, and prints its name.
func writeNew(c *cli.Context, name string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return blueprint.Hinted("choose another folder", "the folder of %s cannot be created: %s", name, fileio.Cause(err))
	}
	switch err := fileio.Write(name, data, true); {
	case errors.Is(err, fs.ErrExist):
		return blueprint.Hinted("remove it, or choose another name", "%s exists already", name)
	case err != nil:
		return blueprint.Hinted("choose another folder", "%s cannot be written: %s", name, fileio.Cause(err))
	}
	_, err := c.App.Writer.Write([]byte(name + "\n"))
	return err
}

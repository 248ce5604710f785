package command

import (
	"context"

	"github.com/urfave/cli/v2"

	"blueprintd/blueprint"
	"blueprintd/blueprint/document"
	"blueprintd/store"
)

func commandExport() *cli.Command {
	return &cli.Command{
		Name: "export", Usage: "write a blueprint as a file to standard output; secrets are left out", ArgsUsage: "ID",
		Flags:  append(databaseFlags(), &cli.BoolFlag{Name: "json", Usage: "write JSON instead of YAML"}),
		Action: export,
	}
}

func export(c *cli.Context) error {
	if c.NArg() != 1 {
		return usage("blueprintd export 3f0e... > my.blueprint.yaml", "export takes one blueprint id")
	}
	return withTool(c, false, func(ctx context.Context, s *store.Store) error {
		owner, err := s.Creator(ctx, c.Args().First())
		if err != nil {
			return blueprint.WithHint(err, "ids are what blueprintd import prints, and what blueprint.list of the interface lists")
		}
		b, err := s.GetBlueprint(ctx, owner, c.Args().First())
		if err != nil {
			return err
		}
		triggers, err := s.ListTriggers(ctx, owner, b.ID)
		if err != nil {
			return err
		}
		members := []document.Member{{Name: "title", Value: b.Title}}
		add := func(name string, value any, given bool) {
			if given {
				members = append(members, document.Member{Name: name, Value: value})
			}
		}
		tags := make([]any, len(b.Tags))
		for i, tag := range b.Tags {
			tags[i] = tag
		}
		add("description", b.Description, b.Description != "")
		add("tags", tags, len(tags) > 0)
		add("environment_variables", blueprint.RedactVariables(b.EnvironmentVariables), len(b.EnvironmentVariables) > 0)
		m := b.BlueprintMap
		if m == nil {
			m = map[string]any{"nodes": []any{}}
		}
		add("blueprint_map", m, true)
		add("status", b.Status, b.Status != blueprint.StatusDraft)
		add("visibility", b.Visibility, b.Visibility != blueprint.VisibilityPrivate)
		budget, err := plainBudget(b.Budget)
		if err != nil {
			return err
		}
		add("budget", budget, b.Budget.Limits())
		list := make([]any, len(triggers))
		for i, trigger := range triggers {
			entry := map[string]any{"triggerType": string(trigger.Type), "config": portable(trigger)}
			if !trigger.IsActive {
				entry["isActive"] = false
			}
			list[i] = entry
		}
		add("triggers", list, len(list) > 0)
		text, err := document.Marshal(members, c.Bool("json"))
		if err != nil {
			return err
		}
		_, err = c.App.Writer.Write(text)
		return err
	})
}

// plainBudget is a budget as a plain JSON value.
func plainBudget(b *blueprint.Budget) (any, error) {
	text, err := blueprint.Encode(b)
	if err != nil {
		return nil, err
	}
	return blueprint.Decode(text)
}

// portable returns what a config says wherever the trigger is: without its secrets,
// and without the address that it has here.
func portable(trigger blueprint.Trigger) map[string]any {
	config := blueprint.RedactConfig(trigger.Config)
	if blueprint.KindOf(trigger.Type).Mailbox {
		delete(config, "address")
	}
	return config
}

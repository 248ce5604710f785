package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"blueprintd/blueprint"
	"blueprintd/blueprint/file"
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
			return err
		}
		b, err := s.GetBlueprint(ctx, owner, c.Args().First())
		if err != nil {
			return err
		}
		triggers, err := s.ListTriggers(ctx, owner, b.ID)
		if err != nil {
			return err
		}
		members := []file.Member{{Name: "title", Value: b.Title}}
		add := func(name string, value any, given bool) {
			if given {
				members = append(members, file.Member{Name: name, Value: value})
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
		list := make([]any, len(triggers))
		for i, trigger := range triggers {
			entry := map[string]any{"triggerType": string(trigger.Type), "config": blueprint.RedactConfig(trigger.Config)}
			if !trigger.IsActive {
				entry["isActive"] = false
			}
			list[i] = entry
		}
		add("triggers", list, len(list) > 0)
		text, err := file.Marshal(members, c.Bool("json"))
		if err != nil {
			return err
		}
		_, err = c.App.Writer.Write(text)
		return err
	})
}

func commandImport() *cli.Command {
	return &cli.Command{
		Name: "import", Usage: "store blueprint files as new drafts; works while the server runs", ArgsUsage: "FILE...",
		Flags:  append(databaseFlags(), &cli.StringFlag{Name: "user", Usage: "the `EMAIL` of the owner (default: the first user)"}, jsonFlag()),
		Action: importFiles,
	}
}

// importFiles stores all files or, when one of them is bad, none.
func importFiles(c *cli.Context) error {
	if c.NArg() == 0 {
		return usage("blueprintd import my.blueprint.yaml", "name at least one file")
	}
	var files []*blueprintFile
	for _, name := range c.Args().Slice() {
		b, issues, err := readBlueprint(name)
		var syntax *file.SyntaxError
		if errors.As(err, &syntax) {
			return usage("mend the file", "%s", syntax.Error())
		}
		if err != nil {
			return err
		}
		for _, issue := range issues {
			// A bad node can be imported and mended later; a bad shape cannot be stored.
			if issue.Severity != blueprint.SeverityWarning && !storable(issue) {
				return usage("blueprintd validate shows all that is wrong", "%s", b.document.Point(issue))
			}
		}
		files = append(files, b)
	}
	return withTool(c, false, func(ctx context.Context, s *store.Store) error {
		owner, err := importOwner(ctx, s, c.String("user"))
		if err != nil {
			return err
		}
		type imported struct {
			File string `json:"file"`
			ID   string `json:"id"`
		}
		var done []imported
		for _, b := range files {
			id, err := importBlueprint(ctx, s, blueprint.Principal{UserID: owner.ID}, b)
			if err != nil {
				return fmt.Errorf("%s: %w", b.document.Name, err)
			}
			done = append(done, imported{b.document.Name, id})
		}
		if c.Bool("json") {
			return printJSON(c, done)
		}
		for _, each := range done {
			if _, err := fmt.Fprintf(c.App.Writer, "%s  %s\n", each.ID, each.File); err != nil {
				return err
			}
		}
		return nil
	})
}

// storable tells whether a blueprint with this error can be stored as a draft.
func storable(issue blueprint.Issue) bool {
	return issue.NodeID != "" && len(issue.Path) > 3 && issue.Path[1] == "nodes"
}

func importOwner(ctx context.Context, s *store.Store, email string) (blueprint.User, error) {
	if email == "" {
		user, err := s.FirstUser(ctx)
		if err != nil {
			return user, failed("blueprintd user add --email you@example.org makes one", "%s", err)
		}
		return user, nil
	}
	user, err := s.UserByEmail(ctx, email)
	if err != nil {
		return user, failed("blueprintd user list shows who there is", "%s", err)
	}
	return user, nil
}

// importBlueprint stores a parsed file with its triggers and gives the new id.
func importBlueprint(ctx context.Context, s *store.Store, owner blueprint.Principal, b *blueprintFile) (string, error) {
	created, err := s.CreateBlueprint(ctx, owner, blueprint.NewBlueprint{
		Title: b.title, Description: b.description, Status: blueprint.StatusDraft, Tags: b.tags, Map: b.m, Variables: b.variables,
	})
	if err != nil {
		return "", err
	}
	for _, t := range b.triggers {
		trigger, err := s.CreateTrigger(ctx, owner, created.ID, blueprint.TriggerType(t.kind), t.config)
		if err != nil {
			return "", err
		}
		if !t.active {
			if _, err := s.UpdateTrigger(ctx, owner, trigger.ID, nil, &t.active); err != nil {
				return "", err
			}
		}
	}
	return created.ID, nil
}

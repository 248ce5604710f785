package command

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"blueprintd/blueprint"
	"blueprintd/command/terminal"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/ids"
	"blueprintd/store"
)

func commandKey() *cli.Command {
	return &cli.Command{
		Name: "key", Usage: "create, list and revoke API keys; works while the server runs",
		Subcommands: []*cli.Command{
			{
				Name: "create", Usage: "create a key and print it",
				Description: "The key is printed once; only its hash is stored.",
				UsageText: "blueprintd key create --user ada@example.org --name laptop\n" +
					"blueprintd key create --user ada@example.org --name ci --scopes read,run --expires 30d",
				Flags: append([]cli.Flag{
					&cli.StringFlag{Name: "user", Usage: "`EMAIL` address of the key's user"},
					&cli.StringFlag{Name: "name", Usage: "`NAME` of the key"},
					&cli.StringFlag{Name: "scopes", Value: blueprint.AllScopes().String(), Usage: "comma-separated `SCOPES`: read, run, write and admin. run and write include read; admin includes all"},
					&cli.StringFlag{Name: "expires", Usage: "`WHEN` the key expires: after a duration such as 30d or 12h, or at a time such as 2027-01-31T12:00:00Z (default: never)"},
				}, databaseFlags()...),
				Action: keyCreate,
			},
			{
				Name: "list", Usage: "list the keys", UsageText: "blueprintd key list --user ada@example.org",
				Flags:  append([]cli.Flag{&cli.StringFlag{Name: "user", Usage: "list only the keys of the user with this `EMAIL` address"}, jsonFlag()}, databaseFlags()...),
				Action: keyList,
			},
			{
				Name: "revoke", Usage: "revoke a key at once, also for a running server", ArgsUsage: "ID",
				UsageText: "blueprintd key revoke 01J8Z3",
				Flags:     databaseFlags(), Action: keyRevoke,
			},
		},
	}
}

func keyCreate(c *cli.Context) error {
	if c.String("user") == "" || c.String("name") == "" {
		return usage("blueprintd key create --user ada@example.org --name laptop", "key create needs --user and --name")
	}
	scopes, unknown, ok := blueprint.ParseScopes(c.String("scopes"))
	if !ok {
		return usage(blueprint.SeeDocs("--scopes read,run", "security"), "%s: unknown scope %q; the scopes are %s", given(c, "scopes"), unknown, blueprint.AllScopes())
	}
	expires, err := keyExpiry(c)
	if err != nil {
		return err
	}
	return withStore(c, false, func(ctx context.Context, s *store.Store) error {
		user, err := userByEmail(ctx, s, c.String("user"))
		if err != nil {
			return err
		}
		key := ids.New(nil).APIKey()
		if _, err := s.CreateLimitedKey(ctx, blueprint.NewAPIKey{UserID: user.ID, Name: c.String("name"), Key: key, Scopes: scopes, ExpiresAt: expires}); err != nil {
			return err
		}
		_, err = fmt.Fprintln(c.App.Writer, key)
		return err
	})
}

// keyExpiry reads --expires; 0 is never.
func keyExpiry(c *cli.Context) (blueprint.Time, error) {
	if !c.IsSet("expires") {
		return 0, nil
	}
	const hint = "write --expires 30d, or --expires 2027-01-31T12:00:00Z"
	text, now := c.String("expires"), clock.Real{}.Now()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		after, durationErr := clock.ParseDuration(text)
		if durationErr != nil {
			return 0, usage(hint, "%s %s: want a duration such as 30d or an RFC 3339 time", given(c, "expires"), text)
		}
		at = now.Add(after)
	}
	if !at.After(now) {
		return 0, usage(hint, "%s %s: must be in the future", given(c, "expires"), text)
	}
	return blueprint.TimeOf(at), nil
}

func keyList(c *cli.Context) error {
	return withStore(c, false, func(ctx context.Context, s *store.Store) error {
		keys, err := s.AllKeys(ctx)
		if err != nil {
			return err
		}
		if email := c.String("user"); email != "" {
			user, err := userByEmail(ctx, s, email)
			if err != nil {
				return err
			}
			keys = slices.DeleteFunc(keys, func(k blueprint.OwnedKey) bool { return k.UserID != user.ID })
		}
		if c.Bool("json") {
			return terminal.JSON(c.App.Writer, append([]blueprint.OwnedKey{}, keys...))
		}
		rows := [][]string{{"ID", "USER", "NAME", "LAST4", "SCOPES", "CREATED", "EXPIRES", "LAST USED", "REVOKED"}}
		for _, key := range keys {
			rows = append(rows, []string{key.ID, key.UserEmail, key.Name, key.Last4, key.Scopes.String(), key.CreatedAt.String(), orDash(key.ExpiresAt), orDash(key.LastUsedAt), orDash(key.RevokedAt)})
		}
		return terminal.Table(c.App.Writer, rows)
	})
}

func orDash(t blueprint.Time) string {
	if t == 0 {
		return "-"
	}
	return t.String()
}

func keyRevoke(c *cli.Context) error {
	return withStore(c, false, func(ctx context.Context, s *store.Store) error {
		if err := s.RevokeKeyByID(ctx, c.Args().First()); err != nil {
			return blueprint.WithHint(err, "run blueprintd key list to see the ids")
		}
		_, err := fmt.Fprintf(c.App.Writer, "revoked %s\n", c.Args().First())
		return err
	})
}

package command

import (
	"context"
	"fmt"
	"strings"
	"time"

	"blueprintd/blueprint"
	"blueprintd/command/terminal"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/ids"
	"blueprintd/server/accounts"
	"blueprintd/store"

	"github.com/urfave/cli/v2"
)

func jsonFlag() cli.Flag { return &cli.BoolFlag{Name: "json", Usage: "print JSON instead of a table"} }

func commandUser() *cli.Command {
	return &cli.Command{
		Name: "user", Usage: "add and list users; works while the server runs",
		Subcommands: []*cli.Command{
			{
				Name: "add", Usage: "add a user with a personal workspace",
				Flags: append(databaseFlags(),
					&cli.StringFlag{Name: "email", Usage: "the user's `EMAIL`"},
					&cli.StringFlag{Name: "name", Usage: "the user's `NAME`"}, dashboardFlag(), jsonFlag()),
				Action: userAdd,
			},
			commandUserLink(),
			{Name: "list", Usage: "list the users", Flags: append(databaseFlags(), jsonFlag()), Action: userList},
		},
	}
}

func userAdd(c *cli.Context) error {
	email := strings.TrimSpace(c.String("email"))
	if email == "" {
		return usage("blueprintd user add --email ada@example.org", "user add needs --email")
	}
	if blueprint.CheckEmail(email) != nil {
		return usage("--email ada@example.org", "%s %s: is no email address", given(c, "email"), email)
	}
	host, err := linkHost(c)
	if err != nil {
		return err
	}
	return withTool(c, true, func(ctx context.Context, s *store.Store) error {
		name := c.String("name")
		if name == "" {
			name, _, _ = strings.Cut(email, "@")
		}
		user, err := s.CreateUser(ctx, email, name)
		if err != nil {
			return blueprint.WithHint(err, "blueprintd user list shows who there is")
		}
		link, err := setupURL(blueprint.WithActor(ctx, &blueprint.Actor{Via: blueprint.ViaCLI, Action: "user.link"}), s, host, user.ID)
		if err != nil {
			return err
		}
		if c.Bool("json") {
			return terminal.JSON(c.App.Writer, struct {
				blueprint.User
				SetupURL string `json:"setupUrl"`
			}{user, link})
		}
		_, err = fmt.Fprintf(c.App.Writer, "added %s (%s)\ngive them a key: %s\nlet them set a password: %s  (works once, for 24 hours)\n", user.Email, user.ID, accounts.KeyCommand(user.Email, c.String("db"), c.String("master-key-file")), link)
		return err
	})
}

func userList(c *cli.Context) error {
	return withTool(c, false, func(ctx context.Context, s *store.Store) error {
		users, err := s.Users(ctx)
		if err != nil {
			return err
		}
		if c.Bool("json") {
			if users == nil {
				users = []blueprint.User{}
			}
			return terminal.JSON(c.App.Writer, users)
		}
		rows := [][]string{{"ID", "EMAIL", "NAME", "CREATED"}}
		for _, user := range users {
			rows = append(rows, []string{user.ID, user.Email, user.Name, user.CreatedAt.String()})
		}
		return terminal.Table(c.App.Writer, rows)
	})
}

func commandKey() *cli.Command {
	return &cli.Command{
		Name: "key", Usage: "create, list and revoke API keys; works while the server runs",
		Subcommands: []*cli.Command{
			{
				Name: "create", Usage: "create a key and print it, this once",
				Flags: append(databaseFlags(),
					&cli.StringFlag{Name: "user", Usage: "the `EMAIL` of the user whose key it is"},
					&cli.StringFlag{Name: "name", Usage: "what the key is for"},
					&cli.StringFlag{Name: "scopes", Value: blueprint.AllScopes().String(), Usage: "what the key may do: any of read, run and write (which include read) and admin (which includes all), as in read,run"},
					&cli.StringFlag{Name: "expires", Usage: "`WHEN` the key expires: after a time such as 30d or 12h, or at one such as 2027-01-31T12:00:00Z (default: never)"}),
				Action: keyCreate,
			},
			{Name: "list", Usage: "list the keys; their values are not stored", Flags: append(databaseFlags(), &cli.StringFlag{Name: "user", Usage: "only those of the user with this `EMAIL`"}, jsonFlag()), Action: keyList},
			{Name: "revoke", Usage: "revoke a key at once, also for a running server", ArgsUsage: "ID", Flags: databaseFlags(), Action: keyRevoke},
		},
	}
}

func keyCreate(c *cli.Context) error {
	if c.String("user") == "" || c.String("name") == "" {
		return usage("blueprintd key create --user ada@example.org --name laptop", "key create needs --user and --name")
	}
	scopes, unknown, ok := blueprint.ParseScopes(c.String("scopes"))
	if !ok {
		return usage("--scopes read,run", "%s: unknown scope %q; the scopes are %s", given(c, "scopes"), unknown, blueprint.AllScopes())
	}
	expires, err := keyExpiry(c)
	if err != nil {
		return err
	}
	return withTool(c, false, func(ctx context.Context, s *store.Store) error {
		user, err := s.UserByEmail(ctx, c.String("user"))
		if err != nil {
			return blueprint.WithHint(err, "blueprintd user list shows who there is")
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
	const hint = "--expires 30d, or --expires 2027-01-31T12:00:00Z"
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
	return withTool(c, false, func(ctx context.Context, s *store.Store) error {
		keys, err := keysOf(ctx, s, c.String("user"))
		if err != nil {
			return err
		}
		if c.Bool("json") {
			return terminal.JSON(c.App.Writer, keys)
		}
		rows := [][]string{{"ID", "USER", "NAME", "LAST4", "SCOPES", "CREATED", "EXPIRES", "LAST USED", "REVOKED"}}
		for _, key := range keys {
			rows = append(rows, []string{key.ID, key.UserEmail, key.Name, key.Last4, key.Scopes.String(), key.CreatedAt.String(), orDash(key.ExpiresAt), orDash(key.LastUsedAt), orDash(key.RevokedAt)})
		}
		return terminal.Table(c.App.Writer, rows)
	})
}

// keysOf returns the keys of a user, or of all.
func keysOf(ctx context.Context, s *store.Store, email string) ([]blueprint.OwnedKey, error) {
	only := ""
	if email != "" {
		user, err := s.UserByEmail(ctx, email)
		if err != nil {
			return nil, blueprint.WithHint(err, "blueprintd user list shows who there is")
		}
		only = user.ID
	}
	all, err := s.AllKeys(ctx)
	keys := []blueprint.OwnedKey{}
	for _, key := range all {
		if only == "" || key.UserID == only {
			keys = append(keys, key)
		}
	}
	return keys, err
}

func keyRevoke(c *cli.Context) error {
	if c.NArg() != 1 {
		return usage("blueprintd key list shows the ids", "key revoke takes one id")
	}
	return withTool(c, false, func(ctx context.Context, s *store.Store) error {
		if err := s.RevokeKeyByID(ctx, c.Args().First()); err != nil {
			return blueprint.WithHint(err, "blueprintd key list shows the ids")
		}
		_, err := fmt.Fprintf(c.App.Writer, "revoked %s\n", c.Args().First())
		return err
	})
}

func orDash(t blueprint.Time) string {
	if t == 0 {
		return "-"
	}
	return t.String()
}

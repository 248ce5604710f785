package command

import (
	"context"
	"fmt"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/command/terminal"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/ids"
	"blueprintd/server/accounts"
	"blueprintd/store"
	"blueprintd/store/dbfile"

	"github.com/urfave/cli/v2"
)

func jsonFlag() cli.Flag { return &cli.BoolFlag{Name: "json", Usage: "print JSON"} }

func emailFlag() cli.Flag {
	return &cli.StringFlag{Name: "email", Usage: "the user's `EMAIL` address"}
}

// linkURLFlag is the address at which a link begins.
func linkURLFlag() cli.Flag {
	return &cli.StringFlag{Name: "url", Usage: "`ADDRESS` under which the user reaches the server (default: the address of the running server)"}
}

func commandUser() *cli.Command {
	return &cli.Command{
		Name: "user", Usage: "add and list users, and create links to set a password; works while the server runs",
		Subcommands: []*cli.Command{
			{
				Name: "add", Usage: "add a user with a personal workspace",
				Description: "Prints a link with which the user sets a password. The link works once, for 24 hours.",
				UsageText:   "blueprintd user add --email ada@example.org --name Ada",
				Flags:       append([]cli.Flag{emailFlag(), &cli.StringFlag{Name: "name", Usage: "the user's `NAME` (default: the part of the email address before the @)"}, linkURLFlag(), jsonFlag()}, databaseFlags()...),
				Action:      userAdd,
			},
			{
				Name: "link", Usage: "print a link with which a user sets a new password",
				Description: "The link works once, for 24 hours. It replaces the previous one.",
				UsageText:   "blueprintd user link --email ada@example.org",
				Flags:       append([]cli.Flag{emailFlag(), linkURLFlag()}, databaseFlags()...),
				Action:      userLink,
			},
			{
				Name: "list", Usage: "list the users", UsageText: "blueprintd user list\nblueprintd user list --json",
				Flags: append([]cli.Flag{jsonFlag()}, databaseFlags()...), Action: userList,
			},
		},
	}
}

func userAdd(c *cli.Context) error {
	email := strings.TrimSpace(c.String("email"))
	if email == "" {
		return usage("blueprintd user add --email ada@example.org", "user add needs --email")
	}
	if blueprint.CheckEmail(email) != nil {
		return usage("--email ada@example.org", "%s %s: is not an email address", given(c, "email"), email)
	}
	host, note, err := linkHost(c)
	if err != nil {
		return err
	}
	return withStore(c, true, func(ctx context.Context, s *store.Store) error {
		name := c.String("name")
		if name == "" {
			name, _, _ = strings.Cut(email, "@")
		}
		user, err := s.CreateUser(ctx, email, name)
		if err != nil {
			return blueprint.WithHint(err, listUsersHint)
		}
		link, err := setupURL(blueprint.WithActor(ctx, &blueprint.Actor{Via: blueprint.ViaCLI, Action: "user.link"}), s, host, user.ID)
		if err != nil {
			return err
		}
		fmt.Fprint(c.App.ErrWriter, note)
		if c.Bool("json") {
			return terminal.JSON(c.App.Writer, struct {
				blueprint.User
				SetupURL string `json:"setupUrl"`
			}{user, link})
		}
		_, err = fmt.Fprintf(c.App.Writer, "added %s (%s)\ncreate an API key: %s\nset a password: %s  (works once, for 24 hours)\n", user.Email, user.ID, accounts.KeyCommand(user.Email, databaseName(c, s), c.String("master-key-file")), link)
		return err
	})
}

const listUsersHint = "run blueprintd user list to see the users"

// userByEmail adds a hint to the error for an unknown user.
func userByEmail(ctx context.Context, s *store.Store, email string) (blueprint.User, error) {
	user, err := s.UserByEmail(ctx, strings.TrimSpace(email))
	return user, blueprint.WithHint(err, listUsersHint)
}

func userLink(c *cli.Context) error {
	if c.String("email") == "" {
		return usage("blueprintd user link --email ada@example.org", "user link needs --email")
	}
	host, note, err := linkHost(c)
	if err != nil {
		return err
	}
	return withStore(c, false, func(ctx context.Context, s *store.Store) error {
		user, err := userByEmail(ctx, s, c.String("email"))
		if err != nil {
			return err
		}
		link, err := setupURL(ctx, s, host, user.ID)
		if err != nil {
			return err
		}
		fmt.Fprint(c.App.ErrWriter, note)
		_, err = fmt.Fprintln(c.App.Writer, link)
		return err
	})
}

// linkHost returns the address at which links begin: --url, or the address of the
// server that has the database open; else the default one and a note about it.
func linkHost(c *cli.Context) (host, note string, err error) {
	if c.String("url") != "" {
		host, err = serverURL(c)
		return host, "", err
	}
	if isRemote(c) {
		return "http://" + defaultAddr, "note: the link begins with the default address; set another one with --url\n", nil
	}
	if address := dbfile.ServedAt(c.String("db")); address != "" {
		return address, "", nil
	}
	return "http://" + defaultAddr, fmt.Sprintf("note: no server runs on %s, so the link begins with the default address; set another one with --url\n", c.String("db")), nil
}

func serverURL(c *cli.Context) (string, error) {
	text := strings.TrimRight(c.String("url"), "/")
	if !isServerURL(text) {
		return "", usage("--url https://flows.example.org", "%s %s: write an http or https address", given(c, "url"), c.String("url"))
	}
	return text, nil
}

// setupURL creates a link with which a user sets a password. Its expiry follows the
// clock of the machine, like all times that commands write: the time of a virtual
// clock is known only to its server.
func setupURL(ctx context.Context, s *store.Store, host, userID string) (string, error) {
	path, err := accounts.New(accounts.Options{Store: s, Clock: clock.Real{}, IDs: ids.New(nil)}).NewLink(ctx, userID)
	return host + path, err
}

func userList(c *cli.Context) error {
	return withStore(c, false, func(ctx context.Context, s *store.Store) error {
		users, err := s.Users(ctx)
		if err != nil {
			return err
		}
		if c.Bool("json") {
			return terminal.JSON(c.App.Writer, append([]blueprint.User{}, users...))
		}
		rows := [][]string{{"ID", "EMAIL", "NAME", "CREATED"}}
		for _, user := range users {
			rows = append(rows, []string{user.ID, user.Email, user.Name, user.CreatedAt.String()})
		}
		return terminal.Table(c.App.Writer, rows)
	})
}

package command

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/urfave/cli/v2"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/ids"
	"blueprintd/server/accounts"
	"blueprintd/store"
	"blueprintd/store/dbfile"
)

// dashboardFlag says where the link leads.
func dashboardFlag() cli.Flag {
	return &cli.StringFlag{Name: "url", Usage: "the `ADDRESS` of the server, as that person reaches it (default: that of the running server)"}
}

// usualAddress is where a server is that was given no address.
const usualAddress = "http://127.0.0.1:8787"

// linkHost returns the address that links begin with: that of the flag, else that
// of the server that has the database. Where none runs, it says so.
func linkHost(c *cli.Context) (string, error) {
	if c.String("url") != "" {
		return dashboardURL(c)
	}
	if address := dbfile.ServedAt(c.String("db")); address != "" {
		return address, nil
	}
	fmt.Fprintf(c.App.ErrWriter, "note: no server runs on %s, so the link leads to the default address; if yours has another one, use --url\n", c.String("db"))
	return usualAddress, nil
}

// dashboardURL reads the flag.
func dashboardURL(c *cli.Context) (string, error) {
	text := strings.TrimRight(c.String("url"), "/")
	if u, err := url.Parse(text); err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return "", usage("--url https://flows.example.org", "%s %s: write an http or https address", given(c, "url"), c.String("url"))
	}
	return text, nil
}

// setupURL makes the link with which a user sets a password. It expires by the
// clock of the machine, as all that a command writes beside a server has its
// times from there: what a virtual clock shows, its own server alone knows.
func setupURL(ctx context.Context, s *store.Store, host, userID string) (string, error) {
	path, err := accounts.New(accounts.Options{Store: s, Clock: clock.Real{}, IDs: ids.New(nil)}).NewLink(ctx, userID)
	return host + path, err
}

func commandUserLink() *cli.Command {
	return &cli.Command{
		Name: "link", Usage: "print a link with which a user sets a password, also a forgotten one: it works once, for 24 hours, in the place of the one before",
		Flags: append(databaseFlags(), &cli.StringFlag{Name: "email", Usage: "the user's `EMAIL`"}, dashboardFlag()), Action: userLink,
	}
}

func userLink(c *cli.Context) error {
	if c.String("email") == "" {
		return usage("blueprintd user link --email ada@example.org", "user link needs --email")
	}
	host, err := linkHost(c)
	if err != nil {
		return err
	}
	return withTool(c, false, func(ctx context.Context, s *store.Store) error {
		user, err := s.UserByEmail(ctx, strings.TrimSpace(c.String("email")))
		if err != nil {
			return blueprint.WithHint(err, "blueprintd user list shows who there is")
		}
		link, err := setupURL(ctx, s, host, user.ID)
		if err == nil {
			_, err = fmt.Fprintln(c.App.Writer, link)
		}
		return err
	})
}

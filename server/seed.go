package server

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/project"
	"blueprintd/store"
)

// seeded is what a seed file created or found, for the ready file.
type seeded struct {
	Users         []seededUser      `json:"users"`
	Organizations []seededNamed     `json:"organizations"`
	Connections   []seededNamed     `json:"connections"`
	Blueprints    []seededBlueprint `json:"blueprints"`

	Left int `json:"-"` // number of existing objects, which are unchanged
}

type seededUser struct {
	Email string `json:"email"`
	ID    string `json:"id"`
}

type seededNamed struct {
	Name string `json:"name"`
	ID   string `json:"id"`
}

type seededBlueprint struct {
	Title    string          `json:"title"`
	ID       string          `json:"id"`
	Triggers []seededTrigger `json:"triggers"`
}

type seededTrigger struct {
	ID   string `json:"id"`
	Type string `json:"triggerType"`
	URL  string `json:"url,omitempty"` // or the mail address
}

// seeder stores a seed. Existing objects stay unchanged: users by email, organizations,
// connections and blueprints by name and owner.
type seeder struct {
	*Server
	seed            *project.Seed
	users           map[string]blueprint.User // by folded email
	organizationIDs map[string]string         // organizations by name
	connectionIDs   map[string]string         // connections by name
	done            *seeded
}

func newSeeder(s *Server) *seeder {
	return &seeder{
		Server: s, seed: s.Options.Seed, users: map[string]blueprint.User{}, organizationIDs: map[string]string{}, connectionIDs: map[string]string{},
		done: &seeded{Users: []seededUser{}, Organizations: []seededNamed{}, Connections: []seededNamed{}, Blueprints: []seededBlueprint{}},
	}
}

// addUsers creates the users that do not exist.
func (w *seeder) addUsers(ctx context.Context) error {
	for _, given := range w.seed.Users {
		user, err := w.Store.UserByEmail(ctx, given.Email)
		switch {
		case err == nil:
			w.done.Left++
		case blueprint.CodeOf(err) != blueprint.CodeNotFound:
			return err
		default:
			if user, err = w.Store.CreateUser(ctx, given.Email, given.Name); err != nil {
				return err
			}
			if given.Password != "" {
				if err := w.Accounts.SetPassword(ctx, user.ID, given.Password); err != nil {
					return err
				}
			}
			if given.APIKey != "" {
				if _, err := w.Store.CreateKey(ctx, user.ID, "seed", given.APIKey); err != nil {
					return err
				}
			}
		}
		w.done.Users = append(w.done.Users, seededUser{user.Email, user.ID})
	}
	return nil
}

// keyOf returns the key of a user in the seed, "" if it has none.
func (w *seeder) keyOf(email string) string {
	for _, user := range w.seed.Users {
		if project.SameEmail(user.Email, email) {
			return user.APIKey
		}
	}
	return ""
}

// user returns a user by email; "" is the server's owner.
func (w *seeder) user(ctx context.Context, email string) (blueprint.User, error) {
	if email == "" {
		return w.Store.ServerOwner(ctx)
	}
	return w.Store.UserByEmail(ctx, email)
}

// apply stores everything but the users.
func (w *seeder) apply(ctx context.Context) error {
	for i := range w.seed.Organizations {
		if err := w.addOrganization(ctx, &w.seed.Organizations[i]); err != nil {
			return fmt.Errorf("organization %q: %w", w.seed.Organizations[i].Name, err)
		}
	}
	for i := range w.seed.Connections {
		if err := w.addConnection(ctx, &w.seed.Connections[i]); err != nil {
			return fmt.Errorf("connection %q: %w", w.seed.Connections[i].Name, err)
		}
	}
	for i := range w.seed.Blueprints {
		if err := w.addBlueprint(ctx, &w.seed.Blueprints[i]); err != nil {
			return fmt.Errorf("blueprint %q: %w", w.seed.Blueprints[i].Title, err)
		}
	}
	return nil
}

func (w *seeder) addOrganization(ctx context.Context, given *project.SeedOrganization) error {
	owner, err := w.user(ctx, given.Owner)
	if err != nil {
		return err
	}
	id, err := w.Store.OwnOrganization(ctx, owner.ID, given.Name)
	switch {
	case err == nil:
		w.done.Left++
	case blueprint.CodeOf(err) != blueprint.CodeNotFound:
		return err
	default:
		made, err := w.Store.CreateOrganization(ctx, blueprint.Principal{UserID: owner.ID}, given.Name)
		if err != nil {
			return err
		}
		id = made.ID
		for _, member := range given.Members {
			user, err := w.user(ctx, member.Email)
			if err == nil && user.ID != owner.ID {
				err = w.Store.SetMember(ctx, id, user.ID, member.Role)
			}
			if err != nil {
				return err
			}
		}
	}
	w.organizationIDs[given.Name] = id
	w.done.Organizations = append(w.done.Organizations, seededNamed{given.Name, id})
	return nil
}

func (w *seeder) addConnection(ctx context.Context, given *project.SeedConnection) error {
	owner, err := w.user(ctx, given.Owner)
	if err != nil {
		return err
	}
	id, err := w.Store.OwnConnection(ctx, owner.ID, w.organizationIDs[given.Organization], given.Name)
	switch {
	case err == nil:
		w.done.Left++
	case blueprint.CodeOf(err) != blueprint.CodeNotFound:
		return err
	default:
		config, _ := w.tied(given.Config).(map[string]any)
		made, err := w.Store.CreateConnection(ctx, blueprint.Principal{UserID: owner.ID}, blueprint.NewConnection{
			Name: given.Name, Type: blueprint.ConnectionType(given.Kind), Config: config, OrganizationID: w.organizationIDs[given.Organization],
		})
		if err != nil {
			return err
		}
		id = made.ID
	}
	w.connectionIDs[given.Name] = id
	w.done.Connections = append(w.done.Connections, seededNamed{given.Name, id})
	return nil
}

// failed wraps an error with the name of the seed file.
func (w *seeder) failed(err error) error {
	message, hint := blueprint.DescribeError(err)
	return blueprint.Hinted(hint, "the seed file %s cannot be stored: %s", w.seed.Name, message)
}

// table formats a seed for the start message.
func (d *seeded) table(name string) string {
	var text strings.Builder
	fmt.Fprintf(&text, "  seed      %s: %s, %s, %s, %s", name, blueprint.Counted(len(d.Users), "user"), blueprint.Counted(len(d.Organizations), "organization"),
		blueprint.Counted(len(d.Connections), "connection"), blueprint.Counted(len(d.Blueprints), "blueprint"))
	if d.Left > 0 {
		fmt.Fprintf(&text, "; %d of them existed and are unchanged", d.Left)
	}
	for _, b := range d.Blueprints {
		fmt.Fprintf(&text, "\n            %s  %s", b.ID, b.Title)
		for _, t := range b.Triggers {
			fmt.Fprintf(&text, "\n              %s  %s  %s", t.ID, t.Type, t.URL)
		}
	}
	return text.String()
}

// addBlueprint creates a blueprint with its triggers.
func (w *seeder) addBlueprint(ctx context.Context, given *project.SeedBlueprint) error {
	owner, err := w.user(ctx, given.Owner)
	if err != nil {
		return err
	}
	principal, home := blueprint.Principal{UserID: owner.ID}, w.organizationIDs[given.Organization]
	id, err := w.Store.OwnBlueprint(ctx, owner.ID, home, given.Title)
	switch {
	case err == nil:
		w.done.Left++
	case blueprint.CodeOf(err) != blueprint.CodeNotFound:
		return err
	default:
		made, err := w.Store.CreateBlueprint(ctx, principal, blueprint.NewBlueprint{
			Title: given.Title, Description: given.Description, Status: given.Status, Tags: given.Tags, Map: w.tied(given.Map), Variables: given.Variables,
			Budget: given.Budget, OrganizationID: home,
		})
		if err != nil {
			return err
		}
		if err := w.addDetails(ctx, principal, made.ID, given); err != nil {
			return err
		}
		id = made.ID
	}
	found, err := w.Store.ListTriggers(ctx, principal, id)
	if err != nil {
		return err
	}
	out := seededBlueprint{Title: given.Title, ID: id, Triggers: []seededTrigger{}}
	for i := range found {
		out.Triggers = append(out.Triggers, seededTrigger{found[i].ID, string(found[i].Type), found[i].Address(w.APIHost())})
	}
	w.done.Blueprints = append(w.done.Blueprints, out)
	return nil
}

// tied replaces the names of connections by their ids.
func (w *seeder) tied(value any) any {
	return project.Connected(value, nil, func(name string, _ []any) string { return w.connectionIDs[name] })
}

// addDetails adds visibility and triggers to a new blueprint.
func (w *seeder) addDetails(ctx context.Context, principal blueprint.Principal, id string, given *project.SeedBlueprint) error {
	if given.Visibility == blueprint.VisibilityPublic {
		if _, err := w.Store.UpdateBlueprint(ctx, principal, id, blueprint.BlueprintPatch{Visibility: &given.Visibility}); err != nil {
			return err
		}
	}
	for _, t := range given.Triggers {
		t.Config, _ = w.tied(t.Config).(map[string]any)
		if err := importTrigger(ctx, w.Store, principal, id, t); err != nil {
			return err
		}
	}
	return nil
}

// ImportBlueprint stores a parsed file with its triggers, or nothing, and returns the new
// id.
func ImportBlueprint(ctx context.Context, s *store.Store, owner blueprint.Principal, b *project.Blueprint) (string, error) {
	created, err := s.CreateBlueprint(ctx, owner, blueprint.NewBlueprint{
		Title: b.Title, Description: b.Description, Status: blueprint.StatusDraft, Tags: b.Tags, Map: b.Map, Variables: b.Variables, Budget: b.Budget,
	})
	if err != nil {
		return "", err
	}
	for _, t := range b.Triggers {
		if err := importTrigger(ctx, s, owner, created.ID, t); err != nil {
			_, undone := s.DeleteBlueprint(ctx, owner, created.ID)
			return "", errors.Join(err, undone)
		}
	}
	return created.ID, nil
}

func importTrigger(ctx context.Context, s *store.Store, owner blueprint.Principal, blueprintID string, t project.Trigger) error {
	_, err := s.AddTrigger(ctx, owner, blueprintID, blueprint.TriggerType(t.Kind), t.Config, t.Active)
	return err
}

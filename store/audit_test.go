package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
)

// as returns the context of a call of an API procedure by a user.
func as(who blueprint.Principal, action string) (context.Context, *blueprint.Actor) {
	actor := &blueprint.Actor{UserID: who.UserID, Via: blueprint.ViaAPI, Action: action}
	return blueprint.WithActor(context.Background(), actor), actor
}

// Every change leaves one line in its transaction, with what was changed and no
// secret; what changes nothing, fails, or has no actor leaves none.
func TestAuditOfChanges(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		bare := context.Background()
		ann, bob := user(t, s, "ann"), user(t, s, "bob")
		team := must(s.CreateOrganization(bare, ann, "team"))(t).ID
		b := must(s.CreateBlueprint(bare, ann, blueprint.NewBlueprint{Title: "T", Map: oneNode("set"), OrganizationID: team}))(t)
		trigger := must(s.CreateTrigger(bare, ann, b.ID, blueprint.TriggerWebhook, map[string]any{"secret": "S3cret-hook"}))(t)
		config := map[string]any{"auth": map[string]any{"type": "bearer", "token": "S3cret-token"}, "hosts": []any{"127.0.0.1:1"}}
		c := must(s.CreateConnection(bare, ann, blueprint.NewConnection{Name: "C", Type: blueprint.ConnectionHTTP, Config: config}))(t)
		key := must(s.CreateKey(bare, ann.UserID, "K", "S3cret-key"))(t)
		category := must(s.CreateCategory(bare, ann, team, "Red"))(t)
		if n := linesOf(t, s); n != 0 {
			t.Fatalf("%d lines without an actor, want 0", n)
		}
		title, status, off := "new", blueprint.StatusPublished, false
		variables := []any{map[string]any{"name": "v", "secret": true, "default": "S3cret-value"}}
		secretOf := func(blueprint.Trigger) (map[string]any, error) {
			return map[string]any{"secret": "S3cret-other"}, nil
		}
		workspace := must(s.UserByEmail(bare, "ann@example.com"))(t).WorkspaceID
		for _, step := range []struct {
			action, want string // "" = no line
			do           func(ctx context.Context) error
		}{
			{"organization.update", "organization " + team + " team {\"name\":\"blue\",\"nameBefore\":\"team\"}", func(ctx context.Context) error { _, err := s.RenameOrganization(ctx, ann, team, "blue"); return err }},
			{"organization.update", "", func(ctx context.Context) error { _, err := s.RenameOrganization(ctx, ann, team, "blue"); return err }},
			{"organization.addMember", "organization " + team + " team {\"role\":\"member\",\"roleBefore\":null,\"userId\":\"" + bob.UserID + "\",\"userName\":\"bob\"}", func(ctx context.Context) error {
				_, err := s.AddMember(ctx, ann, team, "BOB@example.com", "member")
				return err
			}},
			{"organization.addMember", "", func(ctx context.Context) error {
				_, err := s.AddMember(ctx, ann, team, "bob@example.com", "member")
				return err
			}},
			{"organization.removeMember", "organization " + team + " team {\"roleBefore\":\"member\",\"userId\":\"" + bob.UserID + "\",\"userName\":\"bob\"}", func(ctx context.Context) error { return s.DropMember(ctx, ann, team, bob.UserID) }},
			{"collaborator.add", "blueprint " + b.ID + " team {\"role\":\"editor\",\"roleBefore\":null,\"userId\":\"" + bob.UserID + "\",\"userName\":\"bob\"}", func(ctx context.Context) error {
				_, err := s.AddCollaborator(ctx, ann, b.ID, "bob@example.com", "editor")
				return err
			}},
			{"collaborator.add", "", func(ctx context.Context) error {
				_, err := s.AddCollaborator(ctx, ann, b.ID, "bob@example.com", "editor")
				return err
			}},
			{"collaborator.remove", "blueprint " + b.ID + " team {\"roleBefore\":\"editor\",\"userId\":\"" + bob.UserID + "\"}", func(ctx context.Context) error { return s.DropCollaborator(ctx, ann, b.ID, bob.UserID) }},
			{"blueprint.setCategories", "blueprint " + b.ID + " team {\"categories\":[\"red\"],\"categoriesBefore\":[]}", func(ctx context.Context) error {
				_, err := s.SetCategories(ctx, ann, b.ID, []string{category.ID, category.ID})
				return err
			}},
			{"blueprint.setCategories", "", func(ctx context.Context) error {
				_, err := s.SetCategories(ctx, ann, b.ID, []string{category.ID})
				return err
			}},
			{"category.delete", "category " + category.ID + " team {\"name\":\"Red\"}", func(ctx context.Context) error { return s.DeleteCategory(ctx, ann, category.ID) }},
			{"blueprint.rate", "blueprint " + b.ID + " team {\"rating\":3}", func(ctx context.Context) error { _, err := s.Rate(ctx, ann, b.ID, 3); return err }},
			{"blueprint.rate", "", func(ctx context.Context) error { _, err := s.Rate(ctx, ann, b.ID, 3); return err }},
			{"blueprint.favorite", "blueprint " + b.ID + " team {}", func(ctx context.Context) error { _, err := s.Favorite(ctx, ann, b.ID, true); return err }},
			{"blueprint.favorite", "", func(ctx context.Context) error { _, err := s.Favorite(ctx, ann, b.ID, true); return err }},
			{"blueprint.update", "blueprint " + b.ID + " team {\"changed\":[\"environment_variables\",\"status\",\"title\"],\"status\":\"published\",\"statusBefore\":\"draft\",\"title\":\"new\",\"titleBefore\":\"T\",\"version\":\"1.1.0\"}", func(ctx context.Context) error {
				_, err := s.UpdateBlueprint(ctx, ann, b.ID, blueprint.BlueprintPatch{Title: &title, Status: &status, Variables: &variables})
				return err
			}},
			{"blueprint.update", "", func(ctx context.Context) error {
				_, err := s.UpdateBlueprint(ctx, ann, b.ID, blueprint.BlueprintPatch{Title: &title})
				return err
			}},
			{"blueprintTriggers.update", "trigger " + trigger.ID + " team {\"blueprintId\":\"" + b.ID + "\",\"changed\":[\"config.secret\"],\"isActive\":false,\"isActiveBefore\":true,\"type\":\"webhook\"}", func(ctx context.Context) error {
				_, err := s.UpdateTrigger(ctx, ann, trigger.ID, secretOf, &off)
				return err
			}},
			{"blueprintTriggers.delete", "trigger " + trigger.ID + " team {\"blueprintId\":\"" + b.ID + "\",\"type\":\"webhook\"}", func(ctx context.Context) error { return s.DeleteTrigger(ctx, ann, trigger.ID) }},
			{"connection.signedIn", "connection " + c.ID + " ann {}", func(ctx context.Context) error {
				return s.SaveToken(ctx, c.ID, ann.UserID, []byte("S3cret-grant"), nil)
			}},
			{"connection.update", "connection " + c.ID + " ann {\"changed\":[\"config.auth\",\"name\"],\"name\":\"D\",\"nameBefore\":\"C\",\"type\":\"http\"}", func(ctx context.Context) error {
				name := "D"
				_, err := s.UpdateConnection(ctx, ann, c.ID, &name, map[string]any{"auth": map[string]any{"type": "bearer", "token": "S3cret-next"}})
				return err
			}},
			{"connection.delete", "connection " + c.ID + " ann {\"name\":\"D\",\"type\":\"http\"}", func(ctx context.Context) error { return s.DeleteConnection(ctx, ann, c.ID) }},
			{"apiKey.revoke", "key " + key.ID + " ann {\"name\":\"K\",\"userId\":\"" + ann.UserID + "\"}", func(ctx context.Context) error { return s.RevokeKey(ctx, ann, key.ID) }},
			{"apiKey.revoke", "", func(ctx context.Context) error { return s.RevokeKey(ctx, ann, key.ID) }},
			{"user.update", "user " + ann.UserID + " ann {\"name\":\"Ann\",\"nameBefore\":\"ann\"}", func(ctx context.Context) error { _, err := s.RenameUser(ctx, ann, "Ann"); return err }},
			{"user.update", "", func(ctx context.Context) error { _, err := s.RenameUser(ctx, ann, "Ann"); return err }},
			{"blueprint.delete", "blueprint " + b.ID + " team {\"title\":\"new\"}", func(ctx context.Context) error { _, err := s.DeleteBlueprint(ctx, ann, b.ID); return err }},
		} {
			before := linesOf(t, s)
			ctx, actor := as(ann, step.action)
			check(t, step.do(ctx))
			entries, _, err := s.AuditLog(bare, ann, "", 100, 0)
			check(t, err)
			if !actor.Audited() {
				t.Errorf("%s: whoever called it would write another line", step.action)
			}
			if step.want == "" {
				if after := linesOf(t, s); after != before {
					t.Errorf("%s changed nothing and has a line: %+v, want %v", step.action, entries[0], before)
				}
				continue
			}
			e := entries[0]
			detail := must(blueprint.Encode(e.Detail))(t)
			home := map[string]string{team: "team", workspace: "ann"}[e.OrganizationID]
			got := []any{fmt.Sprint(e.TargetType, " ", e.TargetID, " ", home, " ", string(detail)), e.Action, e.ActorID, strings.ToLower(e.ActorName), e.Via, linesOf(t, s)}
			if diff := cmp.Diff([]any{step.want, step.action, ann.UserID, "ann", "api", before + 1}, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", step.action, diff)
			}
			if strings.Contains(string(detail), "S3cret") {
				t.Errorf("%s reveals a secret: %s, want no \"S3cret\"", step.action, detail)
			}
		}
		before := linesOf(t, s)
		ctx, actor := as(bob, "blueprint.delete")
		if _, err := s.DeleteBlueprint(ctx, bob, b.ID); err == nil || actor.Audited() || linesOf(t, s) != before {
			t.Errorf("a failed change: %v, %d lines", err, linesOf(t, s)-before)
		}
	})
}

// A link that sets the email too says so, and the whole log has the line for who
// runs the server.
func TestAuditOfSetup(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ann := user(t, s, "ann")
		for i, step := range []struct{ email, want string }{{"new@example.com", `["email","name","password"]`}, {"new@example.com", `["name","password"]`}} {
			token := fmt.Sprint("token ", i)
			check(t, s.CreateSetupLink(context.Background(), ann.UserID, token))
			ctx, _ := as(blueprint.Principal{}, "session.setup")
			must(s.TakeSetupLink(ctx, token, blueprint.SetupLink{Email: step.email, Name: "Ann"}, "$argon2id$", "session "+token, ""))(t)
			newest := must(s.WholeAuditLog(context.Background(), 1))(t)
			if got := must(blueprint.Encode(newest[0].Detail["changed"]))(t); len(newest) != 1 || string(got) != step.want {
				t.Errorf("%s, want %s", got, step.want)
			}
		}
	})
}

func linesOf(t *testing.T, s *Store) (n int) {
	t.Helper()
	check(t, s.read(context.Background(), func(q *session) error { return q.row("SELECT count(*) FROM audit_log", nil, &n) }))
	return n
}

// Who may read what, in pages, and how many lines there are.
func TestAuditLog(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		bare := context.Background()
		people, team := cast(t, s)
		for i := range 7 {
			s.NoteAction(bare, &blueprint.AuditEntry{ActorID: people["member"].UserID, Action: fmt.Sprint("a", i), TargetType: "organization", TargetID: team, Via: "api"})
		}
		ctx, _ := as(people["owner"], "organization.update")
		must(s.RenameOrganization(ctx, people["owner"], team, "other"))(t)
		for _, c := range []struct {
			who, of string
			limit   int
			offset  int
			want    string
			total   int
		}{
			{"owner", team, 3, 0, "organization.update", 1},
			{"admin", team, 3, 0, "organization.update", 1},
			{"member", "", 3, 0, "a6 a5 a4", 7},
			{"member", "", 3, 6, "a0", 7},
			{"owner", "", 10, 0, "organization.update", 1},
			{"stranger", "", 10, 0, "", 0},
			{"member", team, 3, 0, "forbidden", 0},
			{"former member", team, 3, 0, "forbidden", 0},
			{"stranger", team, 3, 0, "forbidden", 0},
			{"stranger", "3b241101-e2bb-4255-8caf-4136c566a962", 3, 0, "forbidden", 0},
		} {
			t.Run(fmt.Sprint(c.who, " ", c.limit, " ", c.want), func(t *testing.T) {
				list, total, err := s.AuditLog(bare, people[c.who], c.of, c.limit, c.offset)
				got := []string{}
				for _, e := range list {
					got = append(got, e.Action)
				}
				if blueprint.CodeOf(err) == blueprint.CodeForbidden {
					got = []string{"forbidden"}
				} else {
					check(t, err)
				}
				if strings.Join(got, " ") != c.want || total != c.total {
					t.Errorf("%s of %q: %s of %d, want %s of %d", c.who, c.of, got, total, c.want, c.total)
				}
			})
		}
	})
}

// A line about a run or a trigger belongs to the organization of the blueprint.
func TestNoteAction(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		bare := context.Background()
		people, team := cast(t, s)
		owner := people["owner"]
		b := must(s.CreateBlueprint(bare, people["member"], blueprint.NewBlueprint{Title: "T", Map: oneNode("set"), OrganizationID: team}))(t)
		trigger := must(s.CreateTrigger(bare, people["member"], b.ID, blueprint.TriggerManual, nil))(t)
		run := finished(s, b, people["member"], []byte("{}"))
		check(t, s.Commit(bare, run))
		for kind, id := range map[string]string{"blueprint": b.ID, "trigger": trigger.ID, "execution": run.Row.ID} {
			t.Run(kind, func(t *testing.T) {
				s.NoteAction(bare, &blueprint.AuditEntry{ActorID: people["member"].UserID, Action: "x", TargetType: kind, TargetID: id, Via: "api", Detail: map[string]any{"n": 1, "long": strings.Repeat("x", 1<<20)}})
				list, _, err := s.AuditLog(bare, owner, team, 1, 0)
				check(t, err)
				if len(list) != 1 || list[0].TargetID != id || list[0].Detail["omitted"] != true {
					t.Errorf("%+v, want one line for %s with its detail omitted", list, id)
				}
			})
		}
	})
}

// TestLateLines keeps the lines that cannot be written for a while, and writes them later:
// in a next attempt, or at last when the server stops.
func TestLateLines(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		ann := user(t, s, "ann")
		if !s.writer.running {
			run(t, s)
		}
		fail := func(f func() error) {
			s.writer.connection.Lock()
			defer s.writer.connection.Unlock()
			s.writer.beforeCommit = f
		}
		attempts := make(chan struct{}, 100)
		full := func() error {
			attempts <- struct{}{}
			return coded(sqliteFull)
		}
		act := func(action string) {
			s.NoteAction(ctx, &blueprint.AuditEntry{ActorID: ann.UserID, Action: action, TargetType: "x", Via: "api"})
		}
		var got []string
		actions := func() []string {
			list, _, err := s.AuditLog(ctx, ann, "", 10, 0)
			check(t, err)
			got = nil
			for _, e := range list {
				got = append(got, e.Action)
			}
			return got
		}
		fail(full)
		act("a")
		<-attempts
		act("b")
		<-attempts
		advance(t, s, time.Second) // the clock does not wait for them
		_, _, err := s.AuditLog(ctx, ann, "", 10, 0)
		wantCode(t, err, blueprint.CodeUnavailable)
		fail(nil)
		s.retryLines(ctx)
		if want := []string{"b", "a"}; !slices.Equal(actions(), want) {
			t.Errorf("written %q, want %q", got, want)
		}
	})
}

// TestLateLinesAtTheEnd writes what is left when the server stops.
func TestLateLinesAtTheEnd(t *testing.T) {
	s := open(t, testOptions(t))
	ann := user(t, s, "ann")
	stop := run(t, s)
	failed := make(chan struct{})
	s.writer.connection.Lock()
	s.writer.beforeCommit = func() error {
		s.writer.beforeCommit = nil
		close(failed)
		return coded(sqliteFull)
	}
	s.writer.connection.Unlock()
	s.NoteAction(t.Context(), &blueprint.AuditEntry{ActorID: ann.UserID, Action: "a", TargetType: "x", Via: "api"})
	<-failed
	check(t, stop())
	var n int
	check(t, s.writer.session.row("SELECT count(*) FROM audit_log", nil, &n))
	if n != 1 || s.audits.waiting.Load() != 0 {
		t.Errorf("%d lines, %d waiting; want 1 and none", n, s.audits.waiting.Load())
	}
}

// TestLateLinesLimit keeps the oldest lines up to a limit.
func TestLateLinesLimit(t *testing.T) {
	t.Parallel()
	lines := make([]lateLine, mostLate/mostDetail+2)
	for i := range lines {
		lines[i].detail = strings.Repeat("x", mostDetail-lateOverhead)
	}
	a := audits{late: make([]lateLine, 1)}
	if excess := a.keep(lines); len(excess) != 2 || len(a.late) != len(lines)-1 {
		t.Errorf("%d exceed the limit and %d are kept, want 2 and %d", len(excess), len(a.late), len(lines)-1)
	}
}

// Wrong passwords leave one line a minute, which counts the others.
func TestNoteWrongPassword(t *testing.T) {
	t.Parallel()
	s := open(t, testOptions(t))
	run(t, s)
	ann, bob := user(t, s, "ann"), user(t, s, "bob")
	signingIn := blueprint.WithActor(t.Context(), &blueprint.Actor{Via: blueprint.ViaDashboard, Action: "session.create"})
	changing := blueprint.WithActor(t.Context(), &blueprint.Actor{UserID: bob.UserID, Via: blueprint.ViaDashboard, Action: "session.changePassword"})
	for range 5 {
		s.NoteWrongPassword(signingIn, ann.UserID)
	}
	s.NoteWrongPassword(signingIn, bob.UserID)
	s.NoteWrongPassword(changing, bob.UserID)
	advance(t, s, time.Minute)
	s.NoteWrongPassword(signingIn, ann.UserID)
	lines := func(who blueprint.Principal) (lines []string) {
		list, total, err := s.AuditLog(t.Context(), who, "", 10, 0)
		check(t, err)
		if total != len(list) {
			t.Errorf("%d lines in all, want %d", total, len(list))
		}
		for _, e := range list {
			lines = append(lines, fmt.Sprint(e.Action, " ", e.TargetID, " ", e.Detail))
		}
		return lines
	}
	if diff := cmp.Diff([]string{"session.changePassword " + bob.UserID + " map[outcome:failed]", "session.create " + bob.UserID + " map[outcome:failed]"}, lines(bob)); diff != "" {
		t.Errorf("lines of bob (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"session.create " + ann.UserID + " map[alsoBefore:4 outcome:failed]", "session.create " + ann.UserID + " map[outcome:failed]"}, lines(ann)); diff != "" {
		t.Errorf("lines of ann (-want +got):\n%s", diff)
	}
	for i := range mostFailed - 10 {
		s.audits.failed[fmt.Sprint("session.create ", i)] = wrongPassword{at: s.options.Clock.Now()}
	}
	var guesses sync.WaitGroup
	for i := range 64 {
		guesses.Go(func() { s.NoteWrongPassword(signingIn, fmt.Sprint("guess ", i)) })
	}
	guesses.Wait()
	if len(s.audits.failed) > mostFailed {
		t.Errorf("%d accounts are remembered, want at most %v", len(s.audits.failed), mostFailed)
	}
}

// Old lines go in small steps, and the count follows.
func TestPruneAudit(t *testing.T) {
	for name, c := range map[string]struct {
		keep Keep
		want int
	}{"age": {Keep{Age: 10 * day}, 11}, "rows": {Keep{Rows: 250}, 250}, "all": {Keep{}, 1000}} {
		t.Run(name, func(t *testing.T) {
			options := testOptions(t)
			options.KeepAudit = c.keep
			s := open(t, options)
			ann := user(t, s, "ann")
			check(t, s.write(t.Context(), func(tx *transaction) error {
				for i := range 1000 {
					at := blueprint.TimeOf(start.Add(-time.Duration(999-i) * day))
					if _, err := tx.exec(insertAudit, s.options.IDs.ULID(start), int64(at), ann.UserID, "", fmt.Sprint(i), "x", "x", "api", "{}"); err != nil {
						return err
					}
				}
				return nil
			}))
			if _, total, err := s.AuditLog(t.Context(), ann, "", 1, 0); err != nil || total != 1000 {
				t.Fatalf("%d %v, want 1000", total, err)
			}
			run(t, s)
			advance(t, s, time.Second)
			list, total, err := s.AuditLog(t.Context(), ann, "", 1, 0)
			check(t, err)
			if total != c.want || linesOf(t, s) != c.want || list[0].Action != "999" {
				t.Errorf("%d of %d stay, want %d; the newest is %s", linesOf(t, s), total, c.want, list[0].Action)
			}
		})
	}
}

// Neither a page nor a count reads the lines of others.
func TestAuditUsesIndex(t *testing.T) {
	s := open(t, testOptions(t))
	for query, index := range map[string]string{
		ofActor.count: "audit_log_actor", ofTheirAdmin.count: "audit_log_organization", ofActor.page: "audit_log_actor", ofTheirAdmin.page: "audit_log_organization",
	} {
		t.Run(index, func(t *testing.T) {
			var plan []string
			args := []any{"x", 1}
			if strings.Contains(query, "?3") {
				args = append(args, 1)
			}
			check(t, s.writer.session.each("EXPLAIN QUERY PLAN "+query, args, func(scan func(...any) error) error {
				var a, b, c int
				var line string
				err := scan(&a, &b, &c, &line)
				plan = append(plan, line)
				return err
			}))
			if text := strings.Join(plan, "\n"); !strings.Contains(text, "COVERING INDEX "+index) || strings.Contains(text, "SCAN a") {
				t.Errorf("%v, want %q in it and no \"SCAN a\"", text, "COVERING INDEX "+index)
			}
		})
	}
}

package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"blueprintd/blueprint"
	"blueprintd/store/dbfile"
)

// beside opens a tool on the database of a server.
func beside(t testing.TB, server *Store) *Store {
	t.Helper()
	options := server.options
	options.Server = false
	return open(t, options)
}

func TestTwoServers(t *testing.T) {
	options := testOptions(t)
	first := must(Open(context.Background(), options))(t)
	if first.epoch != 1 {
		t.Errorf("epoch %d, want 1", first.epoch)
	}
	wantRefusal(t, options, fmt.Sprintf("process %d holds %s.lock", os.Getpid(), options.Path))
	link := options
	link.Path = filepath.Join(t.TempDir(), "link.db")
	check(t, os.Symlink(options.Path, link.Path))
	wantRefusal(t, link, "another server has the database open")
	if tool := beside(t, first); tool.epoch != 0 {
		t.Errorf("a tool has epoch %d, want 0", tool.epoch)
	}
	check(t, first.Close())
	second := open(t, options)
	if second.epoch != 2 {
		t.Errorf("epoch %d, want 2", second.epoch)
	}
}

// A server whose lock file was taken from under it stops writing once another
// one has started.
func TestFencing(t *testing.T) {
	options := testOptions(t)
	first := open(t, options)
	list := notes(t, first)
	ended := make(chan error, 1)
	go func() { ended <- first.Run(context.Background()) }()
	eventually(t, "Run runs", func() bool { return first.writeIsQueued() })
	check(t, first.write(context.Background(), note("a")))
	check(t, os.Remove(options.Path+".lock"))
	foreignDatabase(t, options.Path, "UPDATE meta SET epoch = epoch + 1") // as a second server does
	wantCode(t, first.write(context.Background(), note("b")), blueprint.CodeUnavailable)
	if err := <-ended; !errors.Is(err, errFenced) {
		t.Errorf("Run returned %v, want %v", err, errFenced)
	}
	first.writer.failure, first.writer.closed = nil, false
	if got := strings.Join(list(), " "); got != "a" {
		t.Errorf("stored %q, want a", got)
	}
}

// Every change that a tool makes is seen by the next call of the server, whose
// caches hold the opposite.
func TestToolBesideServer(t *testing.T) {
	ctx := context.Background()
	server := open(t, testOptions(t))
	run(t, server)
	tool := beside(t, server)
	people, team := cast(t, server)
	creator, member := people["creator"], people["member"]
	b := must(server.CreateBlueprint(ctx, creator, blueprint.NewBlueprint{Title: "T", Map: oneNode("set"), OrganizationID: team}))(t)
	hook := must(server.CreateTrigger(ctx, member, b.ID, blueprint.TriggerWebhook, nil))(t)

	made := must(tool.CreateUser(ctx, "tool@example.com", "made by the tool"))(t)
	key := must(tool.CreateKey(ctx, made.ID, "key", "made-by-the-tool"))(t)
	for range 3 {
		must(server.Authenticate(ctx, "made-by-the-tool"))(t)
	}
	check(t, tool.RevokeKeyByID(ctx, key.ID))
	_, err := server.Authenticate(ctx, "made-by-the-tool")
	wantCode(t, err, blueprint.CodeUnauthorized)

	if _, access, err := server.Definition(ctx, member, b.ID); access != blueprint.AccessManage {
		t.Fatal(access, err)
	}
	if !must(server.Binding(ctx, hook.ID))(t).CanManage {
		t.Fatal("the member cannot manage")
	}
	check(t, tool.DropMember(ctx, member, team, member.UserID))
	if must(server.Binding(ctx, hook.ID))(t).CanManage {
		t.Error("the former member still can manage")
	}
	_, _, err = server.Definition(ctx, member, b.ID)
	wantCode(t, err, blueprint.CodeForbidden)
	title := "changed"
	must(tool.UpdateBlueprint(ctx, creator, b.ID, blueprint.BlueprintPatch{Title: &title}))(t)
	if got := must(server.Binding(ctx, hook.ID))(t); got.Definition.Title != title {
		t.Errorf("the server has %q, want %v", got.Definition.Title, title)
	}
	must(tool.DeleteBlueprint(ctx, creator, b.ID))(t)
	_, err = server.Binding(ctx, hook.ID)
	wantCode(t, err, blueprint.CodeNotFound)
	_, _, err = server.Definition(ctx, creator, b.ID)
	wantCode(t, err, blueprint.CodeNotFound)
}

// While a key is revoked, no call that begins after the revocation returned is
// admitted.
func TestRevocationUnderLoad(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	server := open(t, testOptions(t))
	run(t, server)
	tool := beside(t, server)
	ann := user(t, server, "ann")
	for round := range 20 {
		token := fmt.Sprintf("token number %d", round)
		key := must(tool.CreateKey(ctx, ann.UserID, "key", token))(t)
		revoked := make(chan struct{})
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				for done := false; !done; {
					select {
					case <-revoked:
						done = true
					default:
					}
					_, err := server.Authenticate(ctx, token)
					if done {
						wantCode(t, err, blueprint.CodeUnauthorized)
					}
				}
			})
		}
		if round%2 == 0 {
			check(t, tool.RevokeKeyByID(ctx, key.ID))
		} else {
			check(t, server.RevokeKey(ctx, ann, key.ID))
		}
		close(revoked)
		group.Wait()
	}
}

// A tool and a server write at the same time without errors.
func TestToolAndServerWrite(t *testing.T) {
	ctx := context.Background()
	server := open(t, testOptions(t))
	run(t, server)
	tool := beside(t, server)
	list := notes(t, server)
	var group sync.WaitGroup
	for name, s := range map[string]*Store{"server": server, "tool": tool} {
		group.Go(func() {
			for i := range 50 {
				if err := s.write(ctx, note(fmt.Sprint(name, i))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if got := len(list()); got != 100 {
		t.Errorf("%d rows, want 100", got)
	}
}

// Several tools and a server may make a new database at the same time.
func TestCreatedAtOnce(t *testing.T) {
	options := testOptions(t)
	var group sync.WaitGroup
	for i := range 6 {
		group.Go(func() {
			mine := options
			mine.Server = i == 0
			s, err := Open(context.Background(), mine)
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := s.CreateUser(context.Background(), fmt.Sprintf("%d@example.com", i), "N"); err != nil {
				t.Error(err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if users := must(open(t, options).Users(context.Background()))(t); len(users) != 6 {
		t.Errorf("%d users, want 6", len(users))
	}
}

// A reading serves only who came before it began.
func TestGate(t *testing.T) {
	begun, proceed := make(chan struct{}), make(chan int64)
	g := gate{read: func() (int64, error) {
		begun <- struct{}{}
		return <-proceed, nil
	}}
	var group sync.WaitGroup
	values := make([]int64, 11)
	ask := func(i int) { group.Go(func() { values[i], _ = g.value() }) }
	ask(0)
	<-begun
	for i := 1; i < len(values); i++ {
		ask(i)
	}
	eventually(t, "the others wait for the next reading", func() bool {
		g.mu.Lock()
		defer g.mu.Unlock()
		return g.next != nil && g.waiting == len(values)-2
	})
	proceed <- 1
	<-begun
	proceed <- 2
	group.Wait()
	if values[0] != 1 {
		t.Errorf("the first got %d, want 1", values[0])
	}
	for _, value := range values[1:] {
		if value != 2 {
			t.Errorf("a later one got %d, want 2", value)
		}
	}
}

// A database is a sandbox's, or one of a virtual clock, from its first server on.
func TestADatabaseStaysWhatItIs(t *testing.T) {
	t.Parallel()
	const earnest, play, virtual = "is not a sandbox's", "is a sandbox's", "of a virtual clock"
	type kind struct{ sandbox, virtual bool }
	for _, test := range []struct {
		first, then kind
		want        string // "" = it is opened
	}{
		{kind{}, kind{}, ""},
		{kind{sandbox: true}, kind{sandbox: true}, ""},
		{kind{virtual: true}, kind{virtual: true}, ""},
		{kind{true, true}, kind{true, true}, ""},
		{kind{}, kind{sandbox: true}, earnest},
		{kind{}, kind{virtual: true}, ""},
		{kind{sandbox: true}, kind{}, play},
		{kind{virtual: true}, kind{}, virtual},
		{kind{sandbox: true}, kind{virtual: true}, play},
		{kind{sandbox: true}, kind{true, true}, ""},
		{kind{true, true}, kind{sandbox: true}, virtual},
	} {
		t.Run(fmt.Sprintf("%+v then %+v", test.first, test.then), func(t *testing.T) {
			options := testOptions(t)
			must(Open(context.Background(), options.as(false, false, false)))(t).Close() // by a tool, which decides nothing
			options = options.as(true, test.first.sandbox, test.first.virtual)
			must(Open(context.Background(), options))(t).Close()
			if test.want != "" {
				wantRefusal(t, options.as(true, test.then.sandbox, test.then.virtual), test.want)
			} else {
				must(Open(context.Background(), options.as(true, test.then.sandbox, test.then.virtual)))(t).Close()
			}
			// What was refused changed nothing, and a tool may look at any.
			must(Open(context.Background(), options))(t).Close()
			tool := must(Open(context.Background(), options.as(false, false, false)))(t)
			if tool.IsSandbox() != test.first.sandbox {
				t.Errorf("%+v: a tool takes it for a sandbox's: %v, want %v", test, tool.IsSandbox(), test.first.sandbox)
			}
			tool.Close()
		})
	}
	aged := testOptions(t)
	aged.KeepExecutions, aged.KeepFirings, aged.KeepAudit = Keep{Age: time.Hour, Rows: 5}, Keep{Age: time.Hour}, Keep{Age: time.Hour}
	must(Open(context.Background(), aged.as(true, false, false)))(t).Close()
	s := must(Open(context.Background(), aged.as(true, false, true)))(t)
	if o := s.options; o.KeepExecutions != (Keep{Rows: 5}) || !o.KeepFirings.all() || !o.KeepAudit.all() {
		t.Errorf("a virtual clock over real history prunes for age: %+v, %+v, %+v", o.KeepExecutions, o.KeepFirings, o.KeepAudit)
	}
	s.Close()
	memory := testOptions(t).as(true, true, true)
	memory.Ephemeral = true
	if s := must(Open(context.Background(), memory))(t); !s.IsSandbox() {
		t.Error("in memory it is no sandbox")
	} else {
		s.Close()
	}
}

func (o Options) as(server, sandbox, virtual bool) Options {
	o.Server, o.Sandbox, o.VirtualClock = server, sandbox, virtual
	return o
}

func TestIsServed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "my.db")
	expect := func(want bool) {
		t.Helper()
		if served, known := dbfile.IsServed(path); served != want || !known {
			t.Errorf("%v %v, want %v", served, known, want)
		}
	}
	expect(false)
	if _, err := os.Stat(path + ".lock"); err == nil {
		t.Error("it made a file, want an error")
	}
	lock := must(dbfile.AcquireLock(path + ".lock"))(t)
	expect(true)
	check(t, lock.Release())
	expect(false)
}

// Package dev is what blueprintd dev does beside the server that it runs: it watches a
// folder, stores what is saved, runs it or the tests beside it, and says on the
// terminal how that went.
package dev

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/command/terminal"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/fileio"
	"blueprintd/project"
	"blueprintd/project/deploy"
	"blueprintd/server"
)

// Options are what the command line says about a folder that is watched.
type Options struct {
	Dir      string
	Files    project.Listing // what is in it
	Deploy   deploy.Options
	Run      bool // what is saved
	Open     bool // the dashboard, in a browser
	Version  string
	Screen   *terminal.Screen
	Problems *terminal.Lines // where what is wrong with files goes
}

// loop keeps a server as a folder is. One goroutine has it, but for what its
// runs print.
type loop struct {
	Options
	server *server.Server
	owner  blueprint.Principal
	page   string // the folder of the page that leads to the dashboard; "" = none

	wanted  map[string]project.Desired // the last good state of each file
	running map[string]*ongoing        // by the path of the file
	told    told
	tests   map[string]testFile // by the path of the test file
}

// loop syncs all files, then each that changes, until ctx ends or the server
// does; the cause is its error.
func (l *loop) loop(ctx context.Context) error {
	defer l.endRuns()
	l.greet()
	defer os.RemoveAll(l.page)
	for _, name := range slices.Sorted(maps.Keys(l.Files)) {
		if project.KindOf(name) == project.KindBlueprint {
			l.read(name)
		}
	}
	if _, err := l.sync(ctx); err != nil {
		return err
	}
	watcher := project.NewWatcher(clock.Real{}, l.withCassettes(l.Files), l.look)
	watcher.Follow(func() []string { return project.Folders(l.Dir) })
	defer watcher.Close()
	l.Screen.Status("watching %s, %s; Ctrl-C ends", l.Dir, blueprint.Counted(len(l.wanted), "blueprint"))
	if !l.Screen.Erases() {
		l.Screen.Say("", "watching %s", l.Dir)
	}
	for {
		events, err := watcher.Next(ctx)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			l.Screen.Say(terminal.Red, "%s cannot be read: %s", l.Dir, fileio.Cause(err))
			continue
		}
		if err := l.saved(ctx, events); err != nil {
			return err
		}
		l.Screen.Status("watching %s, %s; Ctrl-C ends", l.Dir, blueprint.Counted(len(l.wanted), "blueprint"))
	}
}

// saved does what is due when files were saved or are gone.
func (l *loop) saved(ctx context.Context, events []project.Event) error {
	due := map[string]bool{} // blueprint files to run, and tests without one
	for _, e := range events {
		switch {
		case e.What == project.Deleted && (e.Kind == project.KindTest || e.Kind == project.KindInput):
			continue
		case e.Kind == project.KindBlueprint && e.What == project.Deleted:
			delete(l.wanted, e.Path)
		case e.Kind == project.KindBlueprint && !l.read(e.Path):
			continue
		}
		for _, path := range l.concerned(e.Path) {
			due[path] = true
		}
	}
	stored, err := l.sync(ctx)
	if err != nil || !l.Run {
		return err
	}
	for _, path := range slices.Sorted(maps.Keys(due)) {
		tests := l.testsBeside(path)
		switch _, there := l.wanted[path]; {
		case len(tests) > 0: // they run what is in the file
		case !there:
			continue
		case !stored[path]:
			l.Screen.Say(terminal.Yellow, "%s: not run, since it is not stored", path)
			continue
		}
		l.rerun(ctx, path, tests)
	}
	return nil
}

// read takes a file over if it is good; else it says what is wrong.
func (l *loop) read(path string) bool {
	desired, ok := project.ReadDesired(l.Problems, l.Dir, path)
	if !ok {
		if _, before := l.wanted[path]; before {
			l.Screen.Say(terminal.Red, "%s: has errors; what was there before stays", path)
		} else {
			l.Screen.Say(terminal.Red, "%s: has errors", path)
		}
		return false
	}
	l.wanted[path] = desired
	return true
}

// sync makes the server match the files and says what was different. It returns the
// files that the server has as they are.
func (l *loop) sync(ctx context.Context) (stored map[string]bool, err error) {
	l.told.begin()
	server := &deploy.InStore{Store: l.server.Store, Owner: l.owner, CancelRuns: l.server.Engine.CancelAll, TriggersChanged: l.server.Triggers.Changed}
	have, err := server.List(ctx, project.SourceOf(l.Deploy.Name, ""))
	if err != nil {
		return nil, l.passing(ctx, err)
	}
	var files []project.Desired
	for _, path := range slices.Sorted(maps.Keys(l.wanted)) {
		files = append(files, l.wanted[path])
	}
	files, have, err = l.refer(ctx, server, files, l.kept(have))
	if err != nil {
		return nil, l.passing(ctx, err)
	}
	plan := deploy.Compare(files, have, l.Deploy)
	stored = map[string]bool{}
	for i := range files {
		stored[files[i].Path] = true
	}
	for _, change := range plan.Changes {
		if change.Conflict != "" {
			delete(stored, change.Path)
		}
		if change.Conflict != "" || change.Action == deploy.Keep {
			l.tell(terminal.Yellow, strings.Join(change.Lines(), "\n"))
		}
	}
	err = plan.ApplyEach(ctx, server, func(change deploy.Change, err error) error {
		if err == nil {
			l.changed(change)
			return nil
		}
		delete(stored, change.Path)
		return l.passing(ctx, &deploy.Failure{Path: change.Path, Err: err})
	})
	return stored, err
}

// kept leaves out what must not be taken for gone: the blueprint of a file that
// was bad from the beginning.
func (l *loop) kept(have []project.Deployed) []project.Deployed {
	listing, err := project.Scan(l.Dir)
	return slices.DeleteFunc(have, func(d project.Deployed) bool {
		path := strings.TrimPrefix(d.Source, project.SourceOf(l.Deploy.Name, ""))
		_, good := l.wanted[path]
		_, there := listing[path]
		return !good && (there || err != nil)
	})
}

// passing says an error that does not end the loop, such as a title that is too
// long for the server, or a disk that is full.
func (l *loop) passing(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var stopped *deploy.Failure
	where := ""
	if errors.As(err, &stopped) {
		where, err = stopped.Path+": ", stopped.Err
	}
	message, _ := blueprint.DescribeError(err)
	l.tell(terminal.Red, where+"not stored: "+message)
	return nil
}

// changed says in a line or two what became of a blueprint.
func (l *loop) changed(change deploy.Change) {
	word := map[string]string{deploy.Create: "created", deploy.Update: "updated", deploy.Delete: "deleted"}[change.Action]
	var parts []string
	if change.From != "" {
		parts = append(parts, "renamed from "+change.From)
	}
	for _, f := range change.Fields {
		parts = append(parts, f.String())
	}
	parts = append(parts, change.NodeLines()...)
	for _, t := range change.Triggers {
		if t.Action != deploy.Keep && change.Action != deploy.Create {
			parts = append(parts, "trigger "+string(t.Type)+" "+t.Action+"d")
		}
	}
	if change.Action == deploy.Create {
		parts = append(parts, blueprint.Counted(len(change.Nodes), "node"))
	}
	line := change.Path + ": " + word
	if len(parts) > 0 {
		line += ": " + strings.Join(parts, "; ")
	}
	l.Screen.Say(terminal.Green, "%s", blueprint.OneLine(short500(line)))
	for _, t := range change.Triggers {
		if kind := blueprint.KindOf(t.Type); t.Action == deploy.Create && kind.IsSigned() {
			l.Screen.Say("", "  %s %s%s", t.Type, l.server.APIHost(), kind.PathTo(t.ID))
		}
	}
}

// short500 bounds a line.
func short500(line string) string {
	if r := []rune(line); len(r) > 500 {
		return string(r[:500]) + "..."
	}
	return line
}

// Serve runs the server, and the loop beside it once it is ready, until
// one of them ends.
func Serve(ctx context.Context, s *server.Server, o Options) error {
	l := &loop{
		Options: o, server: s, owner: blueprint.Principal{UserID: s.Bootstrap.Account.ID},
		wanted: map[string]project.Desired{}, running: map[string]*ongoing{}, tests: map[string]testFile{},
	}
	serving, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- s.Run(serving) }()
	select {
	case err := <-ended:
		return err
	case <-s.Opened:
	}
	loop, stopLoop := context.WithCancelCause(ctx)
	over := make(chan error, 1)
	go func() {
		select {
		case err := <-ended:
			ended <- err
			stopLoop(cmp.Or(err, context.Canceled))
		case <-loop.Done():
		}
	}()
	go func() { over <- l.loop(loop) }()
	err := <-over
	stopLoop(context.Canceled)
	stop()
	l.Screen.Status("")
	if errors.Is(err, context.Canceled) {
		err = nil
	}
	return errors.Join(err, <-ended)
}

// greet says where the server is, and shows it.
func (l *loop) greet() {
	s, host := l.server, l.server.APIHost()
	where := "in memory; nothing is kept"
	if !s.Options.Ephemeral {
		where = fileio.Absolute(s.Options.DB)
	}
	l.Screen.Say("", "blueprintd %s develops %s on %s", l.Version, filepath.Clean(l.Dir), host)
	l.Screen.Say("", "  database  %s", where)
	if s.Options.Sandbox != nil {
		l.Screen.Say("", "  sandbox   nothing real is reached")
	}
	shows := host + "/"
	if s.Link != nil {
		shows = s.Link.URL()
		s.Link.Then(func(address string) {
			l.Screen.Say("", "  sign in again  %s  (works once, for 15 minutes)", address)
		})
		l.Screen.Say("", "  sign in   %s  (without a password; works once, for 15 minutes)", shows)
	}
	if s.Bootstrap.Setup != "" {
		if s.Link == nil {
			shows = host + s.Bootstrap.Setup
		}
		l.Screen.Say("", "  dashboard %s%s  (sets a password; works once)", host, s.Bootstrap.Setup)
	} else {
		l.Screen.Say("", "  dashboard %s/", host)
	}
	if s.Bootstrap.Made {
		l.Screen.Say("", "  API key   %s", s.Bootstrap.APIKey)
	}
	if l.Open {
		l.show(shows, shows != host+"/")
	}
}

// told is what was told of the files and still holds: it is told again only
// once it has ceased to hold.
type told struct{ before, now map[string]bool }

// begin is called before everything that holds is told once more.
func (t *told) begin() { t.before, t.now = t.now, map[string]bool{} }

// tell says a line, unless it was said and still holds.
func (l *loop) tell(colour, line string) {
	t := &l.told
	known := t.before[line] || t.now[line]
	if t.now[line] = true; !known {
		l.Screen.Say(colour, "%s", line)
	}
}

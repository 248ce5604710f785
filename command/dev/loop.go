// Package dev implements blueprintd dev: beside a server, it watches a folder of
// blueprint files, stores each saved file, runs it or its tests, and prints the result.
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

// Options are the options of the command line.
type Options struct {
	Dir      string
	Files    project.Listing // of Dir
	Deploy   deploy.Options
	Run      bool // run saved files
	Open     bool // open the dashboard in a browser
	Version  string
	Screen   *terminal.Screen
	Problems *terminal.Lines // receives the errors in files
}

// loop makes a server match a folder. It belongs to one goroutine; its runs have others.
type loop struct {
	Options
	server *server.Server
	owner  blueprint.Principal
	page   string // the folder of the page that redirects to the dashboard, or ""

	wanted  map[string]project.Desired // the last valid content of each file
	running map[string]*activeRun      // by the path of the file
	tests   map[string]testFile        // by the path of the test file

	reported, reportedBefore map[string]bool // the lines of reportOnce in this sync and the last one
}

// watch syncs all files, then each that changes, until ctx ends. It returns the cause.
func (l *loop) watch(ctx context.Context) error {
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
	watcher := project.NewWatcher(clock.Real{}, l.withCassettes(l.Files), l.scan)
	watcher.Follow(func() []string { return project.Folders(l.Dir) })
	defer watcher.Close()
	if !l.Screen.Erases() {
		l.Screen.Say("", "watching %s", l.Dir)
	}
	for {
		l.Screen.Status("watching %s, %s; Ctrl+C stops", l.Dir, blueprint.Counted(len(l.wanted), "blueprint"))
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
	}
}

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
		for _, path := range l.affected(e.Path) {
			due[path] = true
		}
	}
	stored, err := l.sync(ctx)
	if err != nil || !l.Run {
		return err
	}
	for _, path := range slices.Sorted(maps.Keys(due)) {
		tests := l.testsOf(path)
		switch _, isWanted := l.wanted[path]; {
		case len(tests) > 0: // they read the file
		case !isWanted:
			continue
		case !stored[path]:
			l.Screen.Say(terminal.Yellow, "%s: not run, because it is not stored", path)
			continue
		}
		l.rerun(ctx, path, tests)
	}
	return nil
}

// read reads a file. It prints the errors of an invalid one, which keeps its valid content.
func (l *loop) read(path string) bool {
	desired, ok := project.ReadDesired(l.Problems, l.Dir, path)
	if ok {
		l.wanted[path] = desired
		return true
	}
	suffix := ""
	if _, before := l.wanted[path]; before {
		suffix = "; the stored blueprint is unchanged"
	}
	l.Screen.Say(terminal.Red, "%s: has errors%s", path, suffix)
	return false
}

// sync makes the server match the files and prints the changes. It returns the files
// whose blueprints match.
func (l *loop) sync(ctx context.Context) (stored map[string]bool, err error) {
	l.reportedBefore, l.reported = l.reported, map[string]bool{}
	server := &deploy.InStore{Store: l.server.Store, Owner: l.owner, CancelRuns: l.server.Engine.CancelAll, TriggersChanged: l.server.Triggers.Changed}
	have, err := server.List(ctx, project.SourceOf(l.Deploy.Name, ""))
	if err != nil {
		return nil, l.notStored(ctx, "", err)
	}
	var files []project.Desired
	for _, path := range slices.Sorted(maps.Keys(l.wanted)) {
		files = append(files, l.wanted[path])
	}
	files, have, err = l.resolve(ctx, server, files, l.withoutInvalid(have))
	if err != nil {
		return nil, l.notStored(ctx, "", err)
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
			l.reportOnce(terminal.Yellow, strings.Join(change.Lines(), "\n"))
		}
	}
	err = plan.ApplyEach(ctx, server, func(change deploy.Change, err error) error {
		if err == nil {
			l.changed(change)
			return nil
		}
		delete(stored, change.Path)
		return l.notStored(ctx, change.Path+": ", err)
	})
	return stored, err
}

// withoutInvalid leaves out the blueprints of files that have been invalid from the
// start, which would look deleted.
func (l *loop) withoutInvalid(have []project.Deployed) []project.Deployed {
	listing, err := project.Scan(l.Dir)
	return slices.DeleteFunc(have, func(d project.Deployed) bool {
		path := project.PathOf(l.Deploy.Name, d.Source)
		_, valid := l.wanted[path]
		_, exists := listing[path]
		return !valid && (exists || err != nil)
	})
}

// notStored prints an error that does not end the loop, such as a title that is too long
// or a full disk. It returns the cause if ctx has ended.
func (l *loop) notStored(ctx context.Context, where string, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	message, _ := blueprint.DescribeError(err)
	l.reportOnce(terminal.Red, where+"not stored: "+message)
	return nil
}

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

func short500(line string) string {
	if r := []rune(line); len(r) > 500 {
		return string(r[:500]) + "..."
	}
	return line
}

// Serve runs the server and watches the folder, until ctx or the server ends.
func Serve(ctx context.Context, s *server.Server, o Options) error {
	l := &loop{
		Options: o, server: s, owner: blueprint.Principal{UserID: s.Bootstrap.Account.ID},
		wanted: map[string]project.Desired{}, running: map[string]*activeRun{}, tests: map[string]testFile{},
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
	watching, stopWatching := context.WithCancelCause(ctx)
	go func() {
		select {
		case err := <-ended:
			ended <- err
			stopWatching(cmp.Or(err, context.Canceled))
		case <-watching.Done():
		}
	}()
	err := l.watch(watching)
	stopWatching(context.Canceled)
	stop()
	l.Screen.Status("")
	if errors.Is(err, context.Canceled) {
		err = nil
	}
	return errors.Join(err, <-ended)
}

// greet prints the addresses of the server and, with --open, opens the dashboard.
func (l *loop) greet() {
	s, host := l.server, l.server.APIHost()
	where := "in memory"
	if !s.Options.Ephemeral {
		where = fileio.Absolute(s.Options.DB)
	}
	l.Screen.Say("", "blueprintd %s serves %s on %s", l.Version, filepath.Clean(l.Dir), host)
	l.Screen.Say("", "  database  %s", where)
	if s.Options.Sandbox != nil {
		l.Screen.Say("", "  sandbox   no real service is reached")
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

// reportOnce prints a line, unless this sync or the last one has printed it.
func (l *loop) reportOnce(colour, line string) {
	known := l.reportedBefore[line] || l.reported[line]
	if l.reported[line] = true; !known {
		l.Screen.Say(colour, "%s", line)
	}
}

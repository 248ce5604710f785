package main

import (
	"context"
	"errors"
	"maps"
	"os"
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

// devLoop keeps a server as a folder is. One goroutine has it, but for what its
// runs print.
type devLoop struct {
	dir      string
	server   *server.Server
	screen   *terminal.Screen
	problems *terminal.Lines // where what is wrong with files goes
	seen     project.Listing
	run      bool   // what is saved
	open     bool   // the dashboard, in a browser
	page     string // the folder of the page that leads there; "" = none
	owner    blueprint.Principal
	options  deploy.Options

	wanted  map[string]project.Desired // the last good state of each file
	running map[string]*devRun         // by the path of the file
	told    devTold
	tests   map[string]devTest // by the path of the test file
}

// loop syncs all files, then each that changes, until ctx ends or the server
// does; the cause is its error.
func (l *devLoop) loop(ctx context.Context) error {
	defer l.endRuns()
	l.greet()
	defer os.RemoveAll(l.page)
	for _, name := range slices.Sorted(maps.Keys(l.seen)) {
		if project.KindOf(name) == project.KindBlueprint {
			l.read(name)
		}
	}
	if _, err := l.sync(ctx); err != nil {
		return err
	}
	watcher := project.NewWatcher(clock.Real{}, l.withCassettes(l.seen), l.look)
	l.screen.Status("watching %s, %s; Ctrl-C ends", l.dir, blueprint.Counted(len(l.wanted), "blueprint"))
	if !l.screen.Erases() {
		l.screen.Say("", "watching %s", l.dir)
	}
	for {
		events, err := watcher.Next(ctx)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			l.screen.Say(terminal.Red, "%s cannot be read: %s", l.dir, fileio.Cause(err))
			continue
		}
		if err := l.saved(ctx, events); err != nil {
			return err
		}
		l.screen.Status("watching %s, %s; Ctrl-C ends", l.dir, blueprint.Counted(len(l.wanted), "blueprint"))
	}
}

// saved does what is due when files were saved or are gone.
func (l *devLoop) saved(ctx context.Context, events []project.Event) error {
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
	if err != nil || !l.run {
		return err
	}
	for _, path := range slices.Sorted(maps.Keys(due)) {
		tests := l.testsBeside(path)
		switch _, there := l.wanted[path]; {
		case len(tests) > 0: // they run what is in the file
		case !there:
			continue
		case !stored[path]:
			l.screen.Say(terminal.Yellow, "%s: not run, since it is not stored", path)
			continue
		}
		l.rerun(ctx, path, tests)
	}
	return nil
}

// read takes a file over if it is good; else it says what is wrong.
func (l *devLoop) read(path string) bool {
	desired, ok := project.ReadDesired(l.problems, l.dir, path)
	if !ok {
		if _, before := l.wanted[path]; before {
			l.screen.Say(terminal.Red, "%s: has errors; what was there before stays", path)
		} else {
			l.screen.Say(terminal.Red, "%s: has errors", path)
		}
		return false
	}
	l.wanted[path] = desired
	return true
}

// sync makes the server match the files and says what was different. It gives the
// files that the server has as they are.
func (l *devLoop) sync(ctx context.Context) (stored map[string]bool, err error) {
	l.told.begin()
	server := &deploy.InStore{Store: l.server.Store, Owner: l.owner, CancelRuns: l.server.Engine.CancelAll, TriggersChanged: l.server.Triggers.Changed}
	have, err := server.List(ctx, project.SourceOf(l.options.Name, ""))
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
	plan := deploy.Compare(files, have, l.options)
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
func (l *devLoop) kept(have []project.Deployed) []project.Deployed {
	listing, err := project.Scan(l.dir)
	return slices.DeleteFunc(have, func(d project.Deployed) bool {
		path := strings.TrimPrefix(d.Source, project.SourceOf(l.options.Name, ""))
		_, good := l.wanted[path]
		_, there := listing[path]
		return !good && (there || err != nil)
	})
}

// passing says an error that does not end the loop, such as a title that is too
// long for the server, or a disk that is full.
func (l *devLoop) passing(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var stopped *deploy.Failure
	where := ""
	if errors.As(err, &stopped) {
		where, err = stopped.Path+": ", stopped.Err
	}
	message, _ := blueprint.Explain(err)
	l.tell(terminal.Red, where+"not stored: "+message)
	return nil
}

// changed says in a line or two what became of a blueprint.
func (l *devLoop) changed(change deploy.Change) {
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
	l.screen.Say(terminal.Green, "%s", blueprint.OneLine(short500(line)))
	for _, t := range change.Triggers {
		if kind := blueprint.KindOf(t.Type); t.Action == deploy.Create && kind.IsSigned() {
			l.screen.Say("", "  %s %s%s", t.Type, l.server.APIHost(), kind.PathTo(t.ID))
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

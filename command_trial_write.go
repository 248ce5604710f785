package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"blueprintd/clock"
	"blueprintd/folder"
	"blueprintd/trial"
)

// write puts what came of the tests that failed, or expect nothing yet, into
// their files.
func (t *trials) write(cases []*trialCase, results []*trial.Result) {
	files := map[string][]int{}
	for i, r := range results {
		if r != nil && r.Fault == nil && (len(r.Mismatches) > 0 || cases[i].test.Expect == nil) {
			files[r.File] = append(files[r.File], i)
		}
	}
	for name, list := range files {
		expectations := map[int]map[string]any{}
		for _, i := range list {
			expectations[cases[i].test.Index] = cases[i].test.Present(cases[i].outcome)
		}
		first := cases[list[0]]
		data, err := first.test.File.Rewrite(first.data, expectations)
		if err == nil {
			err = os.WriteFile(name, data, 0o644)
		}
		for _, i := range list {
			if results[i].Updated = err == nil; err != nil {
				results[i].Fault = fmt.Errorf("%s: %s", name, messageOf(err))
			}
		}
	}
}

// watch runs the tests whenever a file that may matter to them changes.
func (t *trials) watch(ctx context.Context) error {
	return t.watchBy(ctx, clock.Real{})
}

func (t *trials) watchBy(ctx context.Context, c clock.Clock) error {
	seen, err := t.look()
	if err != nil {
		return usage("check the path", "%s", cause(err))
	}
	watcher := folder.NewWatcher(c, seen, t.look)
	for {
		if err := t.once(ctx); err != nil && ctx.Err() == nil {
			if end, ok := err.(*exit); ok && end.message != "" {
				fmt.Fprintln(t.errors, end.message)
			}
		}
		fmt.Fprintln(t.out, "waiting for changes")
		if _, err := watcher.Next(ctx); ctx.Err() != nil {
			return nil
		} else if err != nil {
			fmt.Fprintln(t.errors, cause(err))
		}
	}
}

// look lists the files of the folders in which the tests stand.
func (t *trials) look() (folder.Listing, error) {
	list := folder.Listing{}
	for _, name := range t.names {
		if info, err := os.Stat(name); err == nil && !info.IsDir() {
			name = filepath.Dir(name)
		}
		err := filepath.WalkDir(name, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil && path == name:
				return err
			case err != nil:
				return nil
			case entry.IsDir() && path != name && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "node_modules"):
				return filepath.SkipDir
			case entry.IsDir() || !strings.HasSuffix(path, ".yaml") && !strings.HasSuffix(path, ".yml") && !strings.HasSuffix(path, ".json"):
				return nil
			}
			if info, err := entry.Info(); err == nil && len(list) < mostTestFiles {
				list[path] = info
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

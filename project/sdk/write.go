// Package sdk writes the clients of blueprintd into the projects of their users: a Go
// package, or an npm package as a folder or a tarball.
package sdk

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"blueprintd/blueprint"
	"blueprintd/clients"
	"blueprintd/foundation/fileio"
)

// maxOwn is the size of the largest file that is compared, in bytes. Written files are
// much smaller.
const maxOwn = 4 << 20

// folder is a folder that receives files.
type folder struct {
	path     string
	language string // of the mark of the files
	files    map[string][]byte
}

// write writes the files, replaces those of an earlier call, and removes those of an
// earlier call that are no longer part of the client. A file with one of the names that
// this command did not write is an error, and nothing is written.
func (f *folder) write() error {
	if err := f.check(); err != nil {
		return err
	}
	stale, err := f.stale()
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(f.files)) {
		if err := writeFile(filepath.Join(f.path, filepath.FromSlash(name)), f.files[name]); err != nil {
			return err
		}
	}
	for _, path := range stale {
		if err := os.Remove(path); err != nil {
			return unwritable(path, err)
		}
	}
	return nil
}

func writeFile(path string, data []byte) error {
	err := os.MkdirAll(filepath.Dir(path), 0o777)
	if err == nil {
		err = fileio.Write(path, data, false)
	}
	if err == nil {
		err = os.Chmod(path, 0o644) // sources, which others may read
	}
	if err != nil {
		return unwritable(path, err)
	}
	return nil
}

func unwritable(path string, err error) error {
	return blueprint.Hinted("name a folder that you may write to", "%s cannot be written: %s", path, fileio.Cause(err))
}

// check returns an error for the first file of another origin that would be replaced.
func (f *folder) check() error {
	if info, err := os.Stat(f.path); err == nil && !info.IsDir() {
		return blueprint.InputErrorf("name a folder", "%s is a file", f.path)
	}
	for _, name := range slices.Sorted(maps.Keys(f.files)) {
		path := filepath.Join(f.path, filepath.FromSlash(name))
		own, err := f.isOwn(path, f.files[name])
		if err != nil {
			return unwritable(path, err)
		}
		if !own {
			return blueprint.Hinted("name another folder, or move the file", "%s exists already and was not written by blueprintd sdk %s; nothing was changed", path, f.language)
		}
	}
	return nil
}

// isOwn reports whether a path is free, or holds a file that this command wrote, or one
// with the content that it would write.
func (f *folder) isOwn(path string, want []byte) (bool, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxOwn {
		return false, err
	}
	data, err := os.ReadFile(path)
	return clients.IsMarked(data, f.language) || want != nil && bytes.Equal(data, want), err
}

// stale returns the files of an earlier call, in the folders of the present ones, that are
// no longer part of the client.
func (f *folder) stale() (paths []string, err error) {
	folders := map[string]bool{}
	for name := range f.files {
		folders[filepath.Dir(filepath.Join(f.path, filepath.FromSlash(name)))] = true
	}
	for _, in := range slices.Sorted(maps.Keys(folders)) {
		entries, err := os.ReadDir(in)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, unwritable(in, err)
		}
		for _, entry := range entries {
			path := filepath.Join(in, entry.Name())
			relative, err := filepath.Rel(f.path, path)
			if err != nil || f.files[filepath.ToSlash(relative)] != nil || !entry.Type().IsRegular() {
				continue
			}
			if own, err := f.isOwn(path, nil); err == nil && own {
				paths = append(paths, path)
			}
		}
	}
	return paths, nil
}

package sdk

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blueprintd/clients"
)

// inProject returns an empty folder of a module.
func inProject(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	put(t, filepath.Join(root, "go.mod"), "// a project\nmodule \"example.org/app\" // ours\n\ngo 1.24\n")
	return filepath.Join(root, "internal", "bp")
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(text), 0o666)); err != nil {
		t.Fatal(err)
	}
}

// tree returns the files of a folder by their paths.
func tree(t *testing.T, folder string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := fs.WalkDir(os.DirFS(folder), ".", func(at string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(filepath.Join(folder, at))
		files[at] = string(data)
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return files
}

func TestGoPackage(t *testing.T) {
	folder := inProject(t)
	p := &GoPackage{Folder: folder, Version: "1.0.0"}
	if err := p.Write(); err != nil {
		t.Fatal(err)
	}
	if p.Name != "bp" || p.ImportPath != "example.org/app/internal/bp" {
		t.Errorf("package %s, imported as %s; want bp and example.org/app/internal/bp", p.Name, p.ImportPath)
	}
	want := map[string]string{}
	for name, data := range clients.Go("1.0.0", "bp", "example.org/app/internal/bp") {
		want[name] = string(data)
	}
	if diff := cmp.Diff(want, tree(t, folder)); diff != "" {
		t.Errorf("the files differ (-want +got):\n%s", diff)
	}
	if info, err := os.Stat(filepath.Join(folder, "client.go")); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("%v, %v; want a file that others may read", info, err)
	}

	// A later version replaces what the earlier one wrote, and removes what it no longer has.
	put(t, filepath.Join(folder, "old.go"), "// "+clients.Mark("go", "1.0.0")+"\npackage bp\n")
	put(t, filepath.Join(folder, "mine.go"), "package bp\n")
	put(t, filepath.Join(folder, "mine_test.go"), "package bp_test\n")
	if err := (&GoPackage{Folder: folder, Version: "2.0.0"}).Write(); err != nil {
		t.Fatal(err)
	}
	got := tree(t, folder)
	if _, old := got["old.go"]; old || got["mine.go"] != "package bp\n" || !strings.Contains(got["client.go"], "version 2.0.0") {
		t.Errorf("old.go is there: %t; mine.go is %q; client.go is %q", old, got["mine.go"], got["client.go"])
	}
}

// TestRefused checks that a refused call says why and changes nothing.
func TestRefused(t *testing.T) {
	typescript := func(folder string) error { return WritePackage(folder, "1.0.0") }
	tarball := func(folder string) error { _, err := WriteTarball(folder, "1.0.0"); return err }
	golang := func(p GoPackage) func(string) error {
		return func(folder string) error { p.Folder = folder; return p.Write() }
	}
	for _, c := range []struct {
		name       string
		file, text string // in the folder
		write      func(folder string) error
		want       string
	}{
		{"a file of the user's", "client.go", "package bp\n", golang(GoPackage{}), "client.go exists already and was not written by blueprintd sdk go; nothing was changed"},
		{"below", "internal/program/find.go", "package program\n", golang(GoPackage{}), "find.go exists already"},
		{"of the other language", "client.go", "// " + clients.Mark("typescript", "1") + "\npackage bp\n", golang(GoPackage{}), "client.go exists already"},
		{"a folder of that name", "client.go/x", "", golang(GoPackage{}), "client.go exists already"},
		{"another package", "main.go", "package main\n", golang(GoPackage{}), "main.go is of package main, and the client would be package bp"},
		{"another package below", "blueprintdtest/x.go", "package other\n", golang(GoPackage{}), "x.go is of package other, and the client would be package blueprintdtest"},
		{"a keyword", "", "", golang(GoPackage{Name: "func"}), `"func" is not the name of a package`},
		{"main", "", "", golang(GoPackage{Name: "main"}), `"main" is not the name of a package`},
		{"no import path", "", "", golang(GoPackage{ImportPath: `a"b`}), `"a\"b" is not an import path`},
		{"a relative import path", "", "", golang(GoPackage{ImportPath: "../a"}), `"../a" is not an import path`},
		{"a module without a name", "go.mod", "go 1.24\n", golang(GoPackage{}), "names no module"},
		{"package.json of the user's", "package.json", "{}", typescript, "package.json exists already and was not written by blueprintd sdk typescript"},
		{"a tarball of the user's", "blueprintd-1.0.0.tgz", "x", tarball, "blueprintd-1.0.0.tgz exists already"},
	} {
		t.Run(c.name, func(t *testing.T) {
			folder := inProject(t)
			if c.file != "" {
				put(t, filepath.Join(folder, c.file), c.text)
			}
			before := tree(t, folder)
			if err := c.write(folder); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if diff := cmp.Diff(before, tree(t, folder)); diff != "" {
				t.Errorf("it changed files (-before +after):\n%s", diff)
			}
		})
	}
	file := filepath.Join(t.TempDir(), "file")
	put(t, file, "")
	for name, write := range map[string]func(string) error{"go": golang(GoPackage{ImportPath: "a"}), "typescript": typescript, "tarball": tarball} {
		t.Run(name+" into a file", func(t *testing.T) {
			if err := write(file); err == nil || !strings.HasSuffix(err.Error(), "is a file") {
				t.Errorf("%v, want that it is a file", err)
			}
		})
	}
}

func TestNamesOfPackages(t *testing.T) {
	for importPath, want := range map[string]string{"a/flows": "flows", "a/go-flows": "blueprintd", "a/v2": "v2", "a/select": "blueprintd", "a/b_test": "blueprintd"} {
		t.Run(importPath, func(t *testing.T) {
			p := &GoPackage{ImportPath: importPath}
			if err := p.complete(); err != nil || p.Name != want {
				t.Errorf("%q, %v; want %q", p.Name, err, want)
			}
		})
	}
}

func TestPackage(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "sdk")
	for _, step := range []string{"1.0.0", "2.0.0"} {
		put(t, filepath.Join(folder, "blueprintd"), "the executable")
		put(t, filepath.Join(folder, "dist/esm/old.js"), "// "+clients.Mark("typescript", "0.9.0")+"\n")
		if err := WritePackage(folder, step); err != nil {
			t.Fatal(err)
		}
		files, err := clients.TypeScript(step)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{"blueprintd": "the executable"}
		for name, data := range files {
			want[name] = string(data)
		}
		if diff := cmp.Diff(want, tree(t, folder)); diff != "" {
			t.Errorf("the files of %s differ (-want +got):\n%s", step, diff)
		}
	}
}

func TestTarball(t *testing.T) {
	folder := t.TempDir()
	var before []byte
	for _, step := range []string{"written", "replaced"} {
		path, err := WriteTarball(folder, "1.0.0")
		if err != nil || path != filepath.Join(folder, "blueprintd-1.0.0.tgz") {
			t.Fatalf("%s: %s, %v", step, path, err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if before != nil && !bytes.Equal(before, data) {
			t.Errorf("%s: the same version is not the same bytes", step)
		}
		before = data
	}
	compressed, err := gzip.NewReader(bytes.NewReader(before))
	if err != nil {
		t.Fatal(err)
	}
	want, err := clients.TypeScript("1.0.0")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]byte{}
	for archive := tar.NewReader(compressed); ; {
		header, err := archive.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(got) == 0 && header.Name != first {
			t.Errorf("the first file is %s, want %s", header.Name, first)
		}
		if got[strings.TrimPrefix(header.Name, "package/")], err = io.ReadAll(archive); err != nil || header.Mode != 0o644 {
			t.Errorf("%s: %v, mode %o", header.Name, err, header.Mode)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the files of the tarball differ (-want +got):\n%s", diff)
	}
}

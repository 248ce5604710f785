package command

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"blueprintd/blueprint"
	"blueprintd/blueprint/document"
	"blueprintd/project"
)

// TestCorpus compares all issues of testdata/validate, each with its place as a terminal
// shows it. With -update it writes them.
func TestCorpus(t *testing.T) {
	names, err := filepath.Glob("../testdata/validate/*.blueprint.*")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	golden := filepath.Join("..", "testdata", "validate", "want.txtar")
	var got txtar.Archive
	mistakes := 0
	for _, name := range names {
		found, err := blueprintProblems(&validation{files: &project.Inputs{}}, name)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		for _, p := range found {
			out.WriteString(strings.TrimPrefix(p.line, filepath.Dir(name)+string(filepath.Separator)) + "\n" + p.excerpt())
			if p.Line == 0 || p.Column == 0 || p.excerpt() == "" {
				t.Errorf("%s has no place, want Line other than 0, Column other than 0 and excerpt not empty", p.line)
			}
		}
		mistakes += len(found)
		got.Files = append(got.Files, txtar.File{Name: filepath.Base(name), Data: out.Bytes()})
	}
	if mistakes < 150 {
		t.Errorf("%d mistakes, want at least 150", mistakes)
	}
	if *update {
		if err := os.WriteFile(golden, txtar.Format(&got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if text := txtar.Format(&got); !bytes.Equal(text, want) {
		a, b := strings.Split(string(text), "\n"), strings.Split(string(want), "\n")
		for i := range a {
			if i >= len(b) || a[i] != b[i] {
				t.Fatalf("line %d: got\n%s\nwant\n%s\n(go test ./command -run TestCorpus -update writes it)", i+1, a[i], strings.Join(b[min(i, len(b)):min(i+1, len(b))], ""))
			}
		}
		t.Fatal("fewer problems are reported than before")
	}
}

// checked returns the issues of a file.
func checked(t *testing.T, text string) []blueprint.Issue {
	t.Helper()
	name := "x.blueprint.yaml"
	doc, err := document.Parse(name, []byte(text))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	r := &project.Reader{Blueprint: &project.Blueprint{Document: doc}}
	r.Read()
	return r.Issues
}

package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files")

const root = "../.."

func TestSentences(t *testing.T) {
	logs, errors, loose, err := collect(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, place := range loose {
		t.Errorf("%s: want a constant log message, with what varies as attributes", place)
	}
	for name, all := range map[string][]sentence{"logs": logs, "errors": errors} {
		t.Run(name, func(t *testing.T) {
			if len(all) < 50 {
				t.Fatalf("found %d sentences, want at least 50", len(all))
			}
			var got strings.Builder
			for i, s := range all {
				if i == 0 || s.folder != all[i-1].folder {
					fmt.Fprintf(&got, "\n%s\n", s.folder)
				}
				fmt.Fprintf(&got, "  %s\n", strings.TrimSpace(fmt.Sprintf("%-5s %q", s.level, s.text)))
			}
			golden := filepath.Join("testdata", name+".golden")
			if *update {
				if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got.String()); diff != "" {
				t.Errorf("sentences differ from %s (-want +got), make goldens writes it:\n%s", golden, diff)
			}
		})
	}
}

func TestWords(t *testing.T) {
	found, err := check(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range found {
		t.Error(line)
	}
}

func TestFindings(t *testing.T) {
	for text, want := range map[string]int{
		"Ended tells whether a run has ended.":       1,
		"whoever knocks at the door is told nothing": 4,
		"returns the row, or an error":               0,
		"config.cron: is no cron expression":         1,
		"there is no such file":                      0,
		`a user named "nobody"`:                      0,
	} {
		t.Run(text, func(t *testing.T) {
			if got := findings(text); len(got) != want {
				t.Errorf("findings(%q) = %q, want %d", text, got, want)
			}
		})
	}
}

func TestDocComments(t *testing.T) {
	for _, c := range []struct {
		name, doc string
		good      bool
	}{
		{"Open", "Open returns the store.", true},
		{"Store", "A Store holds everything.", true},
		{"Open", "", true},
		{"Open", "Returns the store.", false},
		{"Open", "Open gives the store.", false},
	} {
		t.Run(c.name+" "+c.doc, func(t *testing.T) {
			if got := checkDoc(c.name, c.doc); (got == "") != c.good {
				t.Errorf("checkDoc(%q, %q) = %q, want good %t", c.name, c.doc, got, c.good)
			}
		})
	}
}

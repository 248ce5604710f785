package main

import (
	"compress/gzip"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The SBOM lists the npm packages whose licences the dashboard shows.
func TestLibrariesAreThoseOfTheDashboard(t *testing.T) {
	b := newBill("1.0.0", time.Unix(0, 0))
	if err := b.addLibraries("../../web/package-lock.json"); err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range b.Components {
		got = append(got, b.Components[i].Name+" "+b.Components[i].Version)
	}
	file, err := os.Open("../../web/dist/licences.txt.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	reader, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	heading := regexp.MustCompile(`^(@[^/\s]+/)?[\w.-]+ \d+\.\d+\.\d+\S*$`)
	for part := range strings.SplitSeq(string(text), "\n\n") {
		if heading.MatchString(part) {
			want = append(want, part)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, slices.Compact(got)); diff != "" || len(want) < 5 {
		t.Errorf("libraries (-those with licences +those in the SBOM):\n%s", diff)
	}
}

package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestChoose(t *testing.T) {
	for list, want := range map[string][]platform{
		"":                         platforms,
		"linux/arm64":              {{"linux", "arm64"}},
		"linux/amd64,darwin/arm64": {{"linux", "amd64"}, {"darwin", "arm64"}},
	} {
		t.Run(list, func(t *testing.T) {
			got, err := choose(list)
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(platform{})); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
	if _, err := choose("linux/amd64,plan9/386"); err == nil || !strings.Contains(err.Error(), `"plan9/386"`) {
		t.Errorf("an unknown platform: %v", err)
	}
}

func TestCheckKey(t *testing.T) {
	if err := checkKey(""); err != nil {
		t.Errorf("without a key: %v", err)
	}
	if err := checkKey("missing"); err == nil || !strings.Contains(err.Error(), "ssh-keygen -t ed25519 -f missing") {
		t.Errorf("a missing key: %v", err)
	}
}

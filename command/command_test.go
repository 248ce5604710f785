package command

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestCPUProfile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cpu.prof")
	worked := 0
	work := func() int { worked++; return 3 }
	var stderr bytes.Buffer
	if code := profiled("", &stderr, work); code != 3 || worked != 1 {
		t.Errorf("without a profile: exit code %d, worked %d times; want 3 and 1", code, worked)
	}
	if code := profiled(path, &stderr, work); code != 3 || worked != 2 || stderr.Len() > 0 {
		t.Errorf("with a profile: exit code %d, worked %d times, %s; want 3, 2 and nothing", code, worked, stderr.String())
	}
	data, err := os.ReadFile(path)
	if err != nil || !bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		t.Errorf("the profile is %.20q, %v; want %q at the start", data, err, []byte{0x1f, 0x8b})
	}
	if code := profiled(path, &stderr, work); code != ExitUsage || worked != 2 || !strings.Contains(stderr.String(), cpuProfile+" "+path) {
		t.Errorf("over a file that exists: exit code %d, worked %d times, %s; want %v, 2 and %q in it", code, worked, stderr.String(), ExitUsage, cpuProfile+" "+path)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, data) {
		t.Error("the file that exists was changed")
	}
}

// With the race detector it fails if two calls read their command lines at once.
func TestMainIsConcurrent(t *testing.T) {
	var group sync.WaitGroup
	for _, args := range [][]string{{"version"}, {"user", "list", "--help"}, {"help", "key"}, {"serve", "--help"}, {"audit", "list", "--nonsense"}, {"key"}, {"serve", "help"}, {}} {
		for range 3 {
			group.Go(func() {
				Main(Program{}, append([]string{"blueprintd"}, args...), nil, io.Discard, io.Discard)
			})
		}
	}
	group.Wait()
}

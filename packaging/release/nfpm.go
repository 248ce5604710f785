package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// nfpm is the program that makes deb and rpm packages. It is a tool of a module of its own,
// packaging/nfpm, so that its dependencies are not those of blueprintd.
type nfpm struct {
	program string
	work    string
}

func buildNFPM(work string) (*nfpm, error) {
	n := &nfpm{program: filepath.Join(work, "nfpm"), work: filepath.Join(work, "package")}
	command := exec.Command("go", "build", "-C", "packaging/nfpm", "-mod=readonly", "-buildvcs=false", "-o", n.program, "github.com/goreleaser/nfpm/v2/cmd/nfpm")
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if output, err := command.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build nfpm: %w\n%s", err, output)
	}
	return n, os.Mkdir(n.work, 0o755)
}

// units are those of systemd. In packages their paths are those of the distribution.
var units = []string{"blueprintd.service", "blueprintd@.service"}

// pack writes a package for a platform and returns its name.
func (n *nfpm) pack(format string, p platform, version, program, out string, at time.Time) (string, error) {
	for _, unit := range units {
		text, err := os.ReadFile(filepath.Join("packaging", unit))
		if err != nil {
			return "", err
		}
		adapted := strings.NewReplacer("/usr/local/bin/", "/usr/bin/", "/usr/local/share/", "/usr/share/").Replace(string(text))
		if err := os.WriteFile(filepath.Join(n.work, unit), []byte(adapted), 0o644); err != nil {
			return "", err
		}
	}
	data, err := os.ReadFile(program)
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(n.work, "blueprintd"), data, 0o755); err != nil {
		return "", err
	}
	name := filepath.Join(out, "blueprintd_"+version+"_"+p.system+"_"+p.processor+"."+format)
	command := exec.Command(n.program, "package", "--config", "packaging/nfpm.yaml", "--packager", format, "--target", name)
	command.Env = append(os.Environ(), "VERSION="+version, "ARCH="+p.processor, "WORK="+n.work, fmt.Sprintf("SOURCE_DATE_EPOCH=%d", at.Unix()))
	if output, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s for %s: %w\n%s", format, p, err, output)
	}
	return name, nil
}

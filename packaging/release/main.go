// Command release builds the files of a release: an archive with the program for each
// platform, a deb and an rpm package for each processor with Linux, a software bill of
// materials (SBOM), the script that installs a release, checksums of all of them, and the
// signature of the checksums. It needs Go, a checkout, and for a signature ssh-keygen.
//
// Releases are reproducible: paths are trimmed, and the times in archives and packages are
// that of the commit, or SOURCE_DATE_EPOCH. A signature by an Ed25519 key is the same each
// time.
package main

import (
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

var platforms = []platform{
	{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"},
}

type platform struct{ system, processor string }

func (p platform) String() string { return p.system + "/" + p.processor }

func (p platform) program() string {
	if p.system == "windows" {
		return "blueprintd.exe"
	}
	return "blueprintd"
}

var versionForm = regexp.MustCompile(`^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`)

func main() {
	version := flag.String("version", "", "the `VERSION`, such as 0.1.0")
	out := flag.String("out", "dist", "output `FOLDER`; a previous release in it is removed")
	key := flag.String("signing-key", "", "`FILE` with the private key that signs the checksums, or with the public key of one that ssh-agent has; without it there is no signature")
	only := flag.String("platforms", "", "`LIST` of the platforms, such as linux/amd64,linux/arm64 (default all)")
	flag.Parse()
	if !versionForm.MatchString(*version) {
		fmt.Fprintf(os.Stderr, "release: %q is not a version\nhint: run make release VERSION=0.1.0\n", *version)
		os.Exit(2)
	}
	chosen, err := choose(*only)
	if err == nil {
		err = release(*version, *out, *key, chosen)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// choose returns the platforms in a list, or all.
func choose(list string) (chosen []platform, err error) {
	if list == "" {
		return platforms, nil
	}
	for name := range strings.SplitSeq(list, ",") {
		at := slices.IndexFunc(platforms, func(p platform) bool { return p.String() == name })
		if at < 0 {
			return nil, fmt.Errorf("no platform is named %q\nhint: the platforms are %v", name, platforms)
		}
		chosen = append(chosen, platforms[at])
	}
	return chosen, nil
}

// release builds a release into a folder and removes its previous content.
func release(version, out, key string, platforms []platform) error {
	at, err := commitTime()
	if err != nil {
		return err
	}
	if err := checkKey(key); err != nil {
		return err
	}
	if err := empty(out); err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "blueprintd-release")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	nfpm, err := buildNFPM(work)
	if err != nil {
		return err
	}
	bill := newBill(version, at)
	if err := bill.addLibraries("web/package-lock.json"); err != nil {
		return err
	}
	for _, p := range platforms {
		program := filepath.Join(work, p.system+"_"+p.processor, p.program())
		if err := build(p, version, program); err != nil {
			return err
		}
		archive, err := pack(p, version, program, out, at)
		if err != nil {
			return err
		}
		if err := bill.add(p, program); err != nil {
			return err
		}
		fmt.Fprintln(os.Stderr, "built", archive)
		if p.system != "linux" {
			continue
		}
		for _, format := range []string{"deb", "rpm"} {
			name, err := nfpm.pack(format, p, version, program, out, at)
			if err != nil {
				return err
			}
			fmt.Fprintln(os.Stderr, "built", name)
		}
	}
	script, err := os.ReadFile("packaging/install.sh")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(out, installer), script, 0o755); err != nil {
		return err
	}
	if err := bill.write(filepath.Join(out, "blueprintd_"+version+"_sbom.cdx.json")); err != nil {
		return err
	}
	if err := checksums(out); err != nil {
		return err
	}
	return sign(filepath.Join(out, mark), key)
}

func build(p platform, version, program string) error {
	command := exec.Command("go", "build", "-trimpath", buildvcs(), "-tags", "urfave_cli_no_docs", "-ldflags", "-s -w -buildid= -X main.version="+version, "-o", program, ".")
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+p.system, "GOARCH="+p.processor, "GOAMD64=v1", "GOARM64=v8.0", "GOFLAGS=", "GOEXPERIMENT=")
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", p, err, output)
	}
	return nil
}

// buildvcs returns the flag that embeds the commit, if there is a repository.
func buildvcs() string {
	if _, err := os.Stat(".git"); err != nil {
		return "-buildvcs=false"
	}
	return "-buildvcs=true"
}

// commitTime returns the time of all files of a release.
func commitTime() (time.Time, error) {
	text := os.Getenv("SOURCE_DATE_EPOCH")
	if text == "" {
		output, err := exec.Command("git", "log", "-1", "--format=%ct").Output()
		if err != nil {
			return time.Time{}, fmt.Errorf("the time of the commit is unknown; set SOURCE_DATE_EPOCH: %w", err)
		}
		text = strings.TrimSpace(string(output))
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	return time.Unix(seconds, 0).UTC(), err
}

// mark is the file with the checksums, and installer the script that installs a release.
const (
	mark      = "SHA256SUMS"
	installer = "install.sh"
)

// empty creates a folder or removes a release. It refuses a folder with anything else.
func empty(folder string) error {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, os.ErrNotExist) {
		return os.MkdirAll(folder, 0o755)
	}
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if name := entry.Name(); name != mark && name != mark+signatureSuffix && name != installer && !strings.HasPrefix(name, "blueprintd_") {
			return fmt.Errorf("%s is not part of a release; choose another folder", filepath.Join(folder, name))
		}
	}
	for _, entry := range entries {
		if err := os.Remove(filepath.Join(folder, entry.Name())); err != nil {
			return err
		}
	}
	return nil
}

// checksums writes the SHA-256 of every file in the format of sha256sum.
func checksums(folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	var lines []string
	for _, entry := range entries {
		data, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		if err != nil {
			return err
		}
		lines = append(lines, fmt.Sprintf("%x  %s\n", sha256.Sum256(data), entry.Name()))
	}
	slices.Sort(lines)
	return os.WriteFile(filepath.Join(folder, mark), []byte(strings.Join(lines, "")), 0o644)
}

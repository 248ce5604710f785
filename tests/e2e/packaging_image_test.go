//go:build linux

package e2e

import (
	"blueprintd/tests/process"
	"bytes"
	little "encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// elf returns the beginning of a program for Linux with one program header.
func elf(kind uint32) string {
	data := make([]byte, 120)
	copy(data, "\x7fELF\x02\x01\x01")
	little.LittleEndian.PutUint64(data[32:], 64)
	little.LittleEndian.PutUint16(data[54:], 56)
	little.LittleEndian.PutUint16(data[56:], 1)
	little.LittleEndian.PutUint32(data[64:], kind)
	return string(data)
}

// The folder of the image is filled only if all inputs exist, and only the script's own
// folder is emptied.
func TestImageFolder(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("roots.pem", "roots")
	put("static", elf(1))
	put("linked", elf(3))
	put("text", "#!/bin/sh\n")
	put("mine/root/notes.txt", "mine")
	put("taken", "")
	for _, step := range []struct {
		folder, program string
		want            string // part of the output; "" = success
	}{
		{"mine", "static", "mine contains other files"},
		{"/", "static", "/ contains other files"},
		{"taken", "static", "taken is not a folder"},
		{"image", "nowhere", "nowhere is not a readable file"},
		{"image", "mine", "mine is not a readable file"},
		{"image", "text", "text is not a 64-bit program for Linux"},
		{"image", "linked", "linked is not static"},
		{"image", "static", ""},
		{"image", "image/root/blueprintd", ""},
		{"image", "linked", "linked is not static"},
	} {
		script := process.File(t, "packaging/image.sh")
		cmd := exec.Command("sh", script, step.folder, step.program)
		var errs bytes.Buffer
		cmd.Dir, cmd.Stderr, cmd.Env = dir, &errs, append(os.Environ(), "CA_BUNDLE="+filepath.Join(dir, "roots.pem"))
		err := cmd.Run()
		if (err == nil) != (step.want == "") || !strings.Contains(errs.String(), step.want) || err != nil && !strings.Contains(errs.String(), "\nhint: ") {
			t.Errorf("image.sh %s %s: %v %s, want %q", step.folder, step.program, err, errs.String(), step.want)
		}
	}
	for name, want := range map[string]string{"mine/root/notes.txt": "mine", "image/root/blueprintd": elf(1), "image/root/etc/ssl/certs/ca-certificates.crt": "roots"} {
		t.Run(name, func(t *testing.T) {
			if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
				t.Errorf("%.40q %v, want %.40q", got, err, want)
			}
		})
	}
	if rest, err := filepath.Glob(filepath.Join(dir, "image", ".new*")); err != nil || len(rest) > 0 {
		t.Errorf("left: %v %v, want none", rest, err)
	}
}

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"blueprintd/tests/faultfs"
)

// checks are properties of a mounted disk, as shell commands run in its folder: a program
// must not use a disk that it serves itself.
var checks = []struct{ name, command, want string }{
	{"write and read", "echo one > a; echo two >> a; cat a", "one\ntwo"},
	{"overwrite", "printf X | dd of=a bs=1 seek=1 conv=notrunc status=none; cat a", "oXe\ntwo"},
	{"truncate", "truncate -s 2 a; cat a", "oX"},
	{"rename and remove", "mv a b; echo three > c; rm c; ls", "b"},
	{"link", "ln b d; rm b; cat d", "oX"},
	{"locks", "exec 9> lock; flock -n 9 && ! flock -n lock true && echo locked", "locked"},
}

// check verifies that a disk can be mounted and works.
func check() error {
	folder, err := os.MkdirTemp("", "sweep-check")
	if err != nil {
		return err
	}
	defer os.Remove(folder)
	d := faultfs.New(nil)
	mounted, err := faultfs.Mount(folder, d)
	if err != nil {
		return err
	}
	return errors.Join(inspect(folder, d), mounted.Unmount())
}

func inspect(folder string, d *faultfs.Disk) error {
	shell := func(command string) (string, error) {
		// The shell changes into the folder itself: this program would deadlock if it
		// started a child in a folder that it serves.
		c := exec.Command("sh", "-c", `cd "$1" && `+command, "sh", folder)
		out, err := c.CombinedOutput()
		return strings.TrimSpace(string(out)), err
	}
	for _, check := range checks {
		if got, err := shell(check.command); got != check.want || err != nil {
			return fmt.Errorf("the mounted disk fails at %s: %q, %v", check.name, got, err)
		}
	}
	if n := d.Counts()[faultfs.Truncate]; n == 0 {
		return errors.New("the mounted disk reported no truncation")
	}
	if left := d.Cut(faultfs.LoseAll, nil); len(left) != 0 {
		return fmt.Errorf("the mounted disk keeps %d files that were never synced", len(left))
	}
	if got, err := shell("sync d . && echo synced"); got != "synced" {
		return fmt.Errorf("the mounted disk cannot be synced: %q, %v", got, err)
	}
	if left := d.Cut(faultfs.LoseAll, nil); string(left["d"].Data) != "oX" {
		return fmt.Errorf("the mounted disk lost what was synced: %q", left["d"].Data)
	}
	for _, failure := range []syscall.Errno{syscall.EIO, syscall.ENOSPC} {
		d.Fail(func(faultfs.Point) faultfs.Decision { return faultfs.Decision{Error: failure} })
		if got, err := shell("LC_ALL=C dd if=/dev/zero of=d bs=9 count=1 conv=notrunc 2>&1"); err == nil {
			return fmt.Errorf("the mounted disk does not fail with %v: %q", failure, got)
		}
	}
	d.Fail(nil)
	return nil
}

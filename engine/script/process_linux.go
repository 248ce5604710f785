package script

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// executable returns this program, even when its file was replaced since.
func executable() (string, error) {
	const self = "/proc/self/exe"
	if _, err := os.Lstat(self); err == nil {
		return self, nil
	}
	path, err := os.Executable()
	if err != nil {
		err = fmt.Errorf("scripts need /proc, which is not mounted: %w", err)
	}
	return path, err
}

// attributes puts a child into its own process group, without the terminal's
// interrupts, and ends it with its parent.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

const rootFolder = "/"

// statm reports the memory mapped by this process. It stays open, since no file can be
// opened after lockDown. (The peak in getrusage starts with that of the parent.)
var statm = -1

func openStatm() (err error) {
	if statm, err = unix.Open("/proc/self/statm", unix.O_RDONLY|unix.O_CLOEXEC, 0); err != nil {
		return fmt.Errorf("/proc/self/statm: %w", err)
	}
	return nil
}

func mapped() (space, data int64) {
	var text [128]byte
	n, err := unix.Pread(statm, text[:], 0)
	if err != nil {
		return 0, 0
	}
	fields := strings.Fields(string(text[:n]))
	if len(fields) < 6 {
		return 0, 0
	}
	space, _ = strconv.ParseInt(fields[0], 10, 64)
	data, _ = strconv.ParseInt(fields[5], 10, 64)
	page := int64(os.Getpagesize())
	return space * page, data * page
}

package script

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// shedRights takes from the calling thread, and so from every program that it
// starts, what root may do beyond others: the program begins without any
// capability, and cannot gain one. The sets are those of capabilities(7).
func shedRights() error {
	_ = unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) // an older kernel has no such set
	bounded := true
	for capability := uintptr(0); ; capability++ {
		held, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, capability, 0, 0, 0)
		if err != nil {
			break // the kernel knows no more of them
		}
		if held == 1 && unix.Prctl(unix.PR_CAPBSET_DROP, capability, 0, 0, 0) != nil {
			bounded = false // who is not root, or root with less than all of it, may not
		}
	}
	// Without new rights a program gains none that this thread has not.
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("no new privileges: %w", err)
	}
	header, sets, err := capabilities()
	if err != nil {
		return err
	}
	shed := sets
	for i := range shed {
		shed[i].Inheritable = 0
		if !bounded {
			shed[i].Permitted, shed[i].Effective = 0, 0
		}
		// Otherwise they stay until the program begins: root may need them to
		// reach its file.
	}
	// Service managers forbid this call to those who have no need of it.
	if shed != sets {
		if err := unix.Capset(&header, &shed[0]); err != nil {
			return fmt.Errorf("giving up capabilities: %w", err)
		}
	}
	return nil
}

// capabilities gives those of the calling thread.
func capabilities() (header unix.CapUserHeader, sets [2]unix.CapUserData, err error) {
	header.Version = unix.LINUX_CAPABILITY_VERSION_3
	if err = unix.Capget(&header, &sets[0]); err != nil {
		err = fmt.Errorf("reading capabilities: %w", err)
	}
	return header, sets, err
}

// hasNoRights gives an error if this process has capabilities. All its threads
// have those with which it began.
func hasNoRights() error {
	_, sets, err := capabilities()
	if err == nil && sets != [2]unix.CapUserData{} {
		err = fmt.Errorf("it has capabilities: %+v", sets)
	}
	return err
}

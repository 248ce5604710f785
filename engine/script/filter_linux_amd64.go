package script

import "golang.org/x/sys/unix"

const (
	architecture = unix.AUDIT_ARCH_X86_64
	// beyondCalls is where the calls of the x32 ABI begin.
	beyondCalls = 0x40000000
)

var callsHere = []uint32{unix.SYS_TIME}

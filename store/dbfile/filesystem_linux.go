package dbfile

import (
	"syscall"
)

func kindOf(found *syscall.Statfs_t) uint32 { return uint32(found.Type) }

package dbfile

import (
	"syscall"
)

// kindOf returns Linux's number for a kind of file system; macOS identifies kinds by name.
func kindOf(found *syscall.Statfs_t) uint32 {
	var name []byte
	for _, c := range found.Fstypename {
		if c == 0 {
			break
		}
		name = append(name, byte(c))
	}
	return map[string]uint32{"nfs": 0x6969, "smbfs": 0xFE534D42, "afpfs": 0x5346414F, "macfuse": 0x65735546, "osxfuse": 0x65735546}[string(name)]
}

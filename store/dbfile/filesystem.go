package dbfile

import (
	"fmt"

	"blueprintd/blueprint"
)

// FileSystem is what is known of the file system that a database lies on.
type FileSystem struct {
	Known       bool   // the system tells at all
	Magic       uint32 // which kind it is
	ReadOnly    bool
	Free, Total int64 // bytes; free are those that this process may use
}

// trust says how far a file system may be relied upon.
type trust uint8

const (
	trusted   trust = iota
	doubtful        // it may be one that cannot be
	vanishing       // what is on it does not outlive the machine's next start
	remote          // locks and shared memory do not reach other machines
)

// Kind is a kind of file system. Name is what people call it.
type Kind struct {
	Name  string
	trust trust
}

// kinds are those that Linux knows by these numbers. A kind that is not
// here is a local disk as far as anybody can tell.
var kinds = map[uint32]Kind{
	0x00006969: {"NFS", remote},
	0x0000517B: {"SMB", remote},
	0xFE534D42: {"SMB", remote},
	0xFF534D42: {"CIFS", remote},
	0x0000564C: {"NCP", remote},
	0x01021997: {"9P", remote},
	0x5346414F: {"AFS", remote},
	0x6B414653: {"AFS", remote},
	0x73757245: {"Coda", remote},
	0x00C36400: {"Ceph", remote},
	0x0BD00BD0: {"Lustre", remote},
	0x47504653: {"GPFS", remote},
	0x19830326: {"BeeGFS", remote},
	0xAAD7AAEA: {"PanFS", remote},
	0x7461636F: {"OCFS2", remote},
	0x01161970: {"GFS2", remote},
	0x786F4256: {"a VirtualBox shared folder", remote},
	0xBACBACBC: {"a VMware shared folder", remote},
	0x7C7C6673: {"a Parallels shared folder", remote},
	0x65735546: {"FUSE", doubtful},
	0x01021994: {"tmpfs", vanishing},
	0x858458F6: {"ramfs", vanishing},
	0x794C7630: {"overlay", trusted},
	0x0000EF53: {"ext4", trusted},
	0x58465342: {"XFS", trusted},
	0x9123683E: {"Btrfs", trusted},
	0x2FC12FC1: {"ZFS", trusted},
	0xF2F52010: {"F2FS", trusted},
}

func (p FileSystem) Kind() Kind {
	if kind, listed := kinds[p.Magic]; listed {
		return kind
	}
	return Kind{Name: fmt.Sprintf("%#x", p.Magic)}
}

// Concern tells what is wrong with keeping a database in a place: an error
// that refuses it, or a warning, each with what to do.
func (p FileSystem) Concern(allowRemote bool) (warning *blueprint.Error, err error) {
	if !p.Known {
		return nil, nil
	}
	kind := p.Kind()
	say := func(hint, format string, args ...any) *blueprint.Error {
		return &blueprint.Error{Code: blueprint.CodeConflict, Message: fmt.Sprintf(format, args...), Hint: hint}
	}
	switch {
	case kind.trust == remote && !allowRemote:
		return nil, say("put the database on a local disk with --db; --allow-network-fs opens it where it is, which may destroy it when another machine opens it too",
			"the database is on a network file system (%s), where its locks cannot be relied upon", kind.Name)
	case kind.trust == remote:
		return say("put it on a local disk, and let no other machine open it",
			"the database is on a network file system (%s), where a failing network or a second machine may destroy it", kind.Name), nil
	case kind.trust == doubtful:
		return say("make sure that a local disk is behind it: sshfs and its like lose what they said was stored",
			"the database is on a %s file system, which may be a network's", kind.Name), nil
	case kind.trust == vanishing:
		return say("put it on a disk with --db; --ephemeral says that nothing has to be kept",
			"the database is in memory (%s) and is gone at the next start of the machine", kind.Name), nil
	}
	return nil, nil
}

// DefaultReserve is how much of a disk is kept free unless Options say
// otherwise; a small disk keeps a twentieth.
const DefaultReserve = 64 << 20

// Reserve is how much of a place stays free for the runs under way.
func (p FileSystem) Reserve(minFree int64) int64 {
	switch {
	case !p.Known || minFree < 0:
		return 0
	case minFree == 0:
		return min(DefaultReserve, p.Total/20)
	}
	return minFree
}

package dbfile

import (
	"fmt"

	"blueprintd/blueprint"
)

// FileSystem describes the file system that a database is on.
type FileSystem struct {
	Known       bool   // the operating system describes it
	Magic       uint32 // the number of its kind; see kinds
	ReadOnly    bool
	Free, Total int64 // bytes; Free counts those that this process may use
}

// trust is how reliable a kind of file system is for a database.
type trust uint8

const (
	trusted   trust = iota
	doubtful        // it may be remote
	vanishing       // its files are lost when the machine restarts
	remote          // locks and shared memory do not reach other machines
)

// Kind is a kind of file system, with its usual name.
type Kind struct {
	Name  string
	trust trust
}

// kinds maps Linux's magic numbers to kinds of file system. Others count as local.
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

// Kind returns the kind of the file system. The name of an unknown one is its number.
func (f FileSystem) Kind() Kind {
	if kind, listed := kinds[f.Magic]; listed {
		return kind
	}
	return Kind{Name: fmt.Sprintf("%#x", f.Magic)}
}

// Concern returns the problem with keeping a database on the file system: an error that
// refuses it, or a warning. Both have a hint.
func (f FileSystem) Concern(allowRemote bool) (warning *blueprint.Error, err error) {
	if !f.Known {
		return nil, nil
	}
	kind := f.Kind()
	say := func(hint, format string, args ...any) *blueprint.Error {
		return &blueprint.Error{Code: blueprint.CodeConflict, Message: fmt.Sprintf(format, args...), Hint: hint}
	}
	switch {
	case kind.trust == remote && !allowRemote:
		return nil, say("put the database on a local disk with --db; --allow-network-fs opens it there, but it may be destroyed if another machine opens it too",
			"the database is on a network file system (%s), where its locks cannot be relied upon", kind.Name)
	case kind.trust == remote:
		return say("put it on a local disk, and let no other machine open it",
			"the database is on a network file system (%s), where a failing network or a second machine may destroy it", kind.Name), nil
	case kind.trust == doubtful:
		return say("check that it is backed by a local disk: sshfs and similar file systems lose writes that they confirmed",
			"the database is on a %s file system, which may be a network's", kind.Name), nil
	case kind.trust == vanishing:
		return say("put it on a disk with --db, or use --ephemeral if nothing has to be kept",
			"the database is in memory (%s) and is gone at the next start of the machine", kind.Name), nil
	}
	return nil, nil
}

// defaultReserve is the number of bytes that are kept free by default; on a small disk it
// is a twentieth of the disk.
const defaultReserve = 64 << 20

// Reserve returns the bytes reserved for runs in progress. minFree is Options.MinFree.
func (f FileSystem) Reserve(minFree int64) int64 {
	switch {
	case !f.Known || minFree < 0:
		return 0
	case minFree == 0:
		return min(defaultReserve, f.Total/20)
	}
	return minFree
}

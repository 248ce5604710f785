package faultfs

import (
	"fmt"
	"io"
	"log"
	"os"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// Mounted is a disk that shows in a folder.
type Mounted struct {
	server *fuse.Server
	folder string
}

// Mount shows a disk in an empty folder, for the time until Unmount. A program
// must not open files of a disk that it serves itself: it could wait for
// itself.
func Mount(folder string, d *Disk) (*Mounted, error) {
	if _, err := os.Stat("/dev/fuse"); err != nil {
		return nil, fmt.Errorf("a disk that fails on purpose needs Linux and /dev/fuse: %w", err)
	}
	server, err := fuse.NewServer(&system{RawFileSystem: fuse.NewDefaultRawFileSystem(), disk: d}, folder, &fuse.MountOptions{
		DirectMountStrict: true, DisableXAttrs: true, FsName: "torture", Name: "torture",
		MaxWrite: 1 << 20, DisableReadDirPlus: true, Logger: log.New(io.Discard, "", 0),
		// The disk changes only through this kernel, which need not ask again.
		ExplicitDataCacheControl: true,
		DisabledCapabilities:     fuse.CAP_ATOMIC_O_TRUNC | fuse.CAP_WRITEBACK_CACHE,
	})
	if err != nil {
		return nil, fmt.Errorf("mount a disk that fails on purpose at %s (it needs Linux, /dev/fuse and the right to mount): %w", folder, err)
	}
	go server.Serve()
	return &Mounted{server, folder}, nil
}

// Unmount takes the disk away from the folder. Programs that still have files
// of it open cannot use them any more.
func (m *Mounted) Unmount() error {
	err := m.server.Unmount()
	if err != nil {
		err = syscall.Unmount(m.folder, syscall.MNT_DETACH|syscall.MNT_FORCE)
	}
	return err
}

package faultfs

import (
	"fmt"
	"io"
	"log"
	"os"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// Mounted is a mounted disk.
type Mounted struct {
	server *fuse.Server
	folder string
}

// Mount mounts a disk on an empty folder until Unmount. A program must not open files of a
// disk that it serves itself: it could deadlock.
func Mount(folder string, d *Disk) (*Mounted, error) {
	if _, err := os.Stat("/dev/fuse"); err != nil {
		return nil, fmt.Errorf("a disk that fails on purpose needs Linux and /dev/fuse: %w", err)
	}
	server, err := fuse.NewServer(&system{RawFileSystem: fuse.NewDefaultRawFileSystem(), disk: d}, folder, &fuse.MountOptions{
		DirectMountStrict: true, DisableXAttrs: true, FsName: "torture", Name: "torture",
		MaxWrite: 1 << 20, DisableReadDirPlus: true, Logger: log.New(io.Discard, "", 0),
		// The disk changes only through this kernel, so its caches stay valid.
		ExplicitDataCacheControl: true,
		DisabledCapabilities:     fuse.CAP_ATOMIC_O_TRUNC | fuse.CAP_WRITEBACK_CACHE,
	})
	if err != nil {
		return nil, fmt.Errorf("mount a disk that fails on purpose at %s (it needs Linux, /dev/fuse and the right to mount): %w", folder, err)
	}
	go server.Serve()
	return &Mounted{server, folder}, nil
}

// Unmount unmounts the disk. Programs can no longer use open files of it.
func (m *Mounted) Unmount() error {
	err := m.server.Unmount()
	if err != nil {
		err = syscall.Unmount(m.folder, syscall.MNT_DETACH|syscall.MNT_FORCE)
	}
	return err
}

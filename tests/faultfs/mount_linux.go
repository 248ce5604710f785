package faultfs

import (
	"errors"
	"fmt"
	"io"
	"log"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// Mounted is a mounted disk.
type Mounted struct {
	folder string
	served chan struct{} // closes when the kernel has dropped the disk
}

// Mount mounts a disk on an empty folder until Unmount. A program must not open files of a
// disk that it serves itself: it could deadlock.
//
// The mount is made here and not by the library, which lets children inherit its
// connection to the kernel. A server that holds the connection to its own disk keeps
// it open after the end of this program, and then hangs in the kernel forever.
func Mount(folder string, d *Disk) (*Mounted, error) {
	connection, err := syscall.Open("/dev/fuse", syscall.O_RDWR|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("a disk that fails on purpose needs Linux and /dev/fuse: %w", err)
	}
	const maxWrite = 1 << 20
	options := fmt.Sprintf("fd=%d,rootmode=%o,user_id=%d,group_id=%d,max_read=%d", connection, syscall.S_IFDIR, syscall.Geteuid(), syscall.Getegid(), maxWrite)
	if err := syscall.Mount("torture", folder, "fuse.torture", syscall.MS_NOSUID|syscall.MS_NODEV, options); err != nil {
		syscall.Close(connection)
		return nil, fmt.Errorf("mount a disk that fails on purpose at %s (it needs Linux, /dev/fuse and the right to mount): %w", folder, err)
	}
	m := &Mounted{folder, make(chan struct{})}
	// The library closes the connection.
	server, err := fuse.NewServer(&system{RawFileSystem: fuse.NewDefaultRawFileSystem(), disk: d}, fmt.Sprintf("/dev/fd/%d", connection), &fuse.MountOptions{
		DisableXAttrs: true, MaxWrite: maxWrite, DisableReadDirPlus: true, Logger: log.New(io.Discard, "", 0),
		// The disk changes only through this kernel, so its caches stay valid.
		ExplicitDataCacheControl: true,
		DisabledCapabilities:     fuse.CAP_ATOMIC_O_TRUNC | fuse.CAP_WRITEBACK_CACHE,
	})
	if err != nil {
		close(m.served)
		return nil, fmt.Errorf("serve a disk that fails on purpose at %s: %w", folder, errors.Join(err, m.Unmount()))
	}
	go func() {
		defer close(m.served)
		server.Serve()
	}()
	return m, nil
}

// Unmount unmounts the disk. Programs can no longer use open files of it.
func (m *Mounted) Unmount() error {
	for try := range 6 { // files that a killed program had open may be closed a little later
		if syscall.Unmount(m.folder, 0) == nil {
			<-m.served
			return nil
		}
		time.Sleep(5 * time.Millisecond << try)
	}
	return syscall.Unmount(m.folder, syscall.MNT_DETACH|syscall.MNT_FORCE)
}

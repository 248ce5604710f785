// Package faultfs is a disk for one folder of files that fails on purpose. For each file
// a Disk keeps the synced content and, in order, the writes since; for the folder, the
// synced names and their changes since. So it can produce what a power cut would leave
// (Cut), which a kill never shows: the kernel keeps the writes of a dead process.
//
// Each change of the disk (a write, sync, truncation, creation or change of a name) is a
// point and increments one counter. A fault function decides at each point whether the
// change succeeds. Writing back of shared memory is no point, because the kernel chooses
// its time.
//
// Mount mounts a Disk as a file system through FUSE. This needs Linux, the device
// /dev/fuse and permission to mount. Writes are not cached: each write of a program
// arrives as one write. Locks and shared memory are those of the kernel.
package faultfs

// Package faultfs is a disk that can be made to fail on purpose, for one folder of
// files. A Disk remembers of each file what was synced and, in order, what was
// written since; and of the folder which names were synced and how they changed
// since. So it can tell what a power cut would have left (Cut), which a kill
// alone never shows: the system keeps what a dead process wrote.
//
// All that changes the disk passes one counter: each write, sync, truncation,
// creation and change of a name is a point. A fault function decides at each
// point whether it goes well. Writing back of memory that processes share is
// no point, because its time is the system's choice.
//
// Mount shows a Disk as a file system through FUSE. This needs Linux, the
// device /dev/fuse and the right to mount. Nothing is written behind a
// program's back: each of its writes arrives as one write. Locks and shared
// memory are the kernel's own.
package faultfs

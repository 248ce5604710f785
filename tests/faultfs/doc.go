// Package faultfs is a disk for one folder of files that fails on purpose. For each file a
// Disk keeps the synced content and, in order, the writes since; for the folder, the synced
// names and their changes since. So it can produce what a power cut would leave (Cut),
// which a kill never shows: the kernel keeps the writes of a dead process.
package faultfs

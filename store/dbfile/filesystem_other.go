//go:build !(linux || darwin)

package dbfile

import (
	"os"

	"blueprintd/blueprint"
)

// Stat returns a FileSystem that is not Known.
func Stat(string) (FileSystem, error) { return FileSystem{}, nil }

// Writable returns nil: the first write reports whether the file is writable.
func Writable(string) error { return nil }

// CheckWritable returns nil, like Writable.
func CheckWritable(string, os.FileInfo) *blueprint.Error { return nil }

// IsOwned returns true, because owners are unknown on this system.
func IsOwned(os.FileInfo) bool { return true }

// GiveTo does nothing: the owner stays as the operating system chose it.
func GiveTo(*os.File, string) error { return nil }

// links returns 1, because the number is unknown on this system.
func links(os.FileInfo) uint64 { return 1 }

//go:build !(linux || darwin)

package store

import (
	"os"
)

// lookAround finds out nothing on this system.
func lookAround(string) (place, error) { return place{}, nil }

// writable leaves it to the first write to find out.
func writable(string) error { return nil }

func ownerOf(os.FileInfo) string { return "somebody" }

// giveTo leaves the owner as the system chose it.
func giveTo(*os.File, string) error { return nil }

// namesOf cannot be told here.
func namesOf(os.FileInfo) uint64 { return 1 }

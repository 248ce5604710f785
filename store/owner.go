package store

import "os"

// GiveTo gives an open file, which takes the place of the one at path, the owner
// of that one, as far as that is possible.
func GiveTo(file *os.File, path string) error { return giveTo(file, path) }

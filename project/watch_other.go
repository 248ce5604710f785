//go:build !linux

package project

// reportsChanges returns false: the BSDs and macOS would need an open file for each file
// of the folder, and Windows would lock the folders above against renaming.
func reportsChanges(string) bool { return false }

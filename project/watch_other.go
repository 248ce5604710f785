//go:build !linux

package project

// reportsChanges reports whether the system reports all that happens in a folder. Of
// these systems it is not asked for: the BSDs and macOS would need an open file for
// each file of the folder, and Windows would not let anybody rename a folder above.
func reportsChanges(string) bool { return false }

// Package fileio reads files and pipes within bounds, and writes files whole and
// durably.
package fileio

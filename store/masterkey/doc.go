// Package masterkey keeps the file with the key that seals the secrets of a database:
// it makes, reads and rotates it. The file stands beside the database unless it was
// named elsewhere, and only its owner may read it.
package masterkey

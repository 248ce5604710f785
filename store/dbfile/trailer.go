package dbfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"blueprintd/blueprint"
)

// A backup is one file: the pages of an SQLite database, followed by a trailer of fixed
// length. SQLite takes the number of pages from its own header and ignores the rest, so the
// file also opens as a database.
//
//	pages     the database, its journal mode not WAL
//	manifest  JSON on one line, filled up with blanks to manifestSize
//	signature "hmac-sha256 ", in hexadecimal, "\n": the HMAC, under a key that is
//	          derived from the master key, of the SHA-256 of all before it
//	digest    "sha256 ", the SHA-256 of all before it in hexadecimal, "\n"
//
// The digest covers everything except itself and is compared as text, so that any byte that
// is changed, missing or added by accident is detected. Only the holder of the master key
// can create a valid signature.
const (
	digestSize    = 72
	signatureSize = 77
	TrailerSize   = 2048
	manifestSize  = TrailerSize - signatureSize - digestSize

	backupKind = "blueprintd backup"
	// manifestStart is the beginning of every manifest.
	manifestStart = `{"kind":"` + backupKind + `"`
	backupForm    = 2 // of the trailer
)

// Manifest describes a backup. It is part of its trailer.
type Manifest struct {
	Kind     string           `json:"kind"`
	Form     int              `json:"form"`    // of the file
	Schema   int              `json:"schema"`  // of the database in it
	Version  string           `json:"version"` // of the program that wrote it
	At       blueprint.Time   `json:"at"`      // when copying began
	PageSize int64            `json:"pageSize"`
	Pages    int64            `json:"pages"`
	Rows     map[string]int64 `json:"rows"` // of each table
}

// NewManifest returns the manifest of a backup that begins.
func NewManifest(schema int, version string, at blueprint.Time) Manifest {
	return Manifest{Kind: backupKind, Form: backupForm, Schema: schema, Version: version, At: at}
}

// Encode returns the first part of the trailer.
func (m Manifest) Encode() ([]byte, error) {
	data, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	if len(data) >= manifestSize {
		return nil, fmt.Errorf("a manifest of %d bytes does not fit", len(data))
	}
	line := bytes.Repeat([]byte{' '}, manifestSize)
	copy(line, data)
	line[manifestSize-1] = '\n'
	return line, nil
}

// DigestLine returns the end of a file whose other bytes have the SHA-256 sum.
func DigestLine(sum []byte) string { return "sha256 " + hex.EncodeToString(sum) + "\n" }

// SignatureLine returns the line before the digest.
func SignatureLine(mac []byte) string { return "hmac-sha256 " + hex.EncodeToString(mac) + "\n" }

// Trailer holds the checksums in the trailer of a backup.
type Trailer struct {
	Digest  string // of the file
	Content []byte // the SHA-256 of pages and manifest
	MAC     []byte // of content
}

// AppendTrailer completes and signs a backup whose pages are in file, and returns its size
// and digest. It hashes the bytes that it reads back from the file.
func AppendTrailer(file *os.File, m Manifest, sign func(digest []byte) []byte) (size int64, digest string, err error) {
	pages := m.PageSize * m.Pages
	if info, err := file.Stat(); err != nil || info.Size() != pages {
		return 0, "", errors.Join(err, fmt.Errorf("the copy does not have %d pages", m.Pages))
	}
	line, err := m.Encode()
	if err != nil {
		return 0, "", err
	}
	hash := sha256.New()
	if _, err := io.Copy(hash, io.NewSectionReader(file, 0, pages)); err != nil {
		return 0, "", err
	}
	hash.Write(line)
	signature := SignatureLine(sign(hash.Sum(nil)))
	io.WriteString(hash, signature)
	sum := hash.Sum(nil)
	if _, err := file.WriteAt(append(line, signature+DigestLine(sum)...), pages); err != nil {
		return 0, "", err
	}
	return pages + TrailerSize, hex.EncodeToString(sum), file.Sync()
}

// ReadBackup verifies every byte of a backup against its digest (not its signature), and
// that its database has a schema version from oldest to newest. If pages is not nil, the
// pages are written to it meanwhile; they are invalid if ReadBackup returns an error. An
// error caused by the file is a *blueprint.Error with a hint.
func ReadBackup(file *os.File, pages io.Writer, oldest, newest int) (m Manifest, sums Trailer, err error) {
	info, err := file.Stat()
	if err != nil {
		return m, sums, err
	}
	name := file.Name()
	if !info.Mode().IsRegular() {
		return m, sums, blueprint.Errorf(blueprint.CodeBadRequest, "%s is not a file", name)
	}
	trailer := make([]byte, TrailerSize)
	body := info.Size() - TrailerSize
	if body < 0 {
		return m, sums, notBackup(name)
	}
	if _, err := file.ReadAt(trailer, body); err != nil {
		return m, sums, err
	}
	line, signature, given := trailer[:manifestSize], trailer[manifestSize:][:signatureSize], string(trailer[manifestSize+signatureSize:])
	if !bytes.HasPrefix(line, []byte(manifestStart)) && given[:7] != "sha256 " {
		return m, sums, notBackup(name)
	}
	hash := sha256.New()
	var to io.Writer = hash
	if pages != nil {
		to = io.MultiWriter(hash, pages)
	}
	if n, err := io.Copy(to, io.NewSectionReader(file, 0, body)); err != nil || n != body {
		return m, sums, errors.Join(err, fmt.Errorf("%d of %d bytes were read", n, body))
	}
	hash.Write(line)
	sums.Content = hash.Sum(nil)
	hash.Write(signature)
	sum := hash.Sum(nil)
	if DigestLine(sum) != given {
		return m, sums, Damaged(name, "its checksum does not match its content")
	}
	if sums.MAC, err = hex.DecodeString(string(bytes.TrimSpace(bytes.TrimPrefix(signature, []byte("hmac-sha256 "))))); err != nil {
		return m, sums, Damaged(name, "its signature cannot be read")
	}
	if err := json.Unmarshal(line, &m); err != nil {
		return m, sums, Damaged(name, "its manifest cannot be read")
	}
	switch {
	case m.Kind != backupKind:
		return m, sums, notBackup(name)
	case m.Form > backupForm || m.Schema > newest:
		return m, sums, Refusal("restore it with blueprintd "+m.Version+" or newer",
			"%s was written by the newer blueprintd %s: its database has schema version %d, and this program supports versions up to %d", name, m.Version, m.Schema, newest)
	case m.Schema < oldest:
		return m, sums, Refusal("restore it with that blueprintd, export its blueprints with it, and import them here",
			"%s was written by the older blueprintd %s: its database has schema version %d, which this program cannot upgrade to version %d", name, m.Version, m.Schema, newest)
	case m.PageSize*m.Pages != body:
		return m, sums, Damaged(name, "its size does not match its manifest")
	}
	sums.Digest = hex.EncodeToString(sum)
	return m, sums, nil
}

func notBackup(name string) error {
	return Refusal("name a file written by blueprintd backup; if it is one, copying it was interrupted, so copy it again",
		"%s is not a complete backup of blueprintd: its end is missing", name)
}

// Damaged returns the error for a backup that cannot be restored.
func Damaged(name, reason string) error {
	return Refusal("copy the file again from its source, or use another backup; nothing was changed",
		"%s is damaged: %s", name, reason)
}

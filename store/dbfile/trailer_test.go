package dbfile

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// FuzzReadBackup: no file makes the reader panic or passes without its checksum.
func FuzzReadBackup(f *testing.F) {
	m := NewManifest(7, "1", 0)
	m.Rows = map[string]int64{}
	line, err := m.Encode()
	if err != nil {
		f.Fatal(err)
	}
	line = append(line, SignatureLine(make([]byte, sha256.Size))...)
	sum := sha256.Sum256(line)
	f.Add(append(line, DigestLine(sum[:])...))
	f.Add([]byte(fmt.Sprintf("%*s", TrailerSize, DigestLine(sum[:]))))
	f.Add([]byte("SQLite format 3\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if _, _, err := ReadBackup(file, nil, 7, 7); err == nil {
			sum := sha256.Sum256(data[:len(data)-digestSize])
			if !bytes.HasSuffix(data, []byte(DigestLine(sum[:]))) {
				t.Error("a file without its checksum is accepted")
			}
		}
	})
}

package sdk

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"blueprintd/blueprint"
	"blueprintd/clients"
)

// WritePackage writes the npm package into a folder. If the folder cannot be written,
// nothing is changed.
func WritePackage(path, version string) error {
	files, err := clients.TypeScript(version)
	if err != nil {
		return err
	}
	f := &folder{path: path, language: "typescript", files: files}
	return f.write()
}

// first is the first file of a tarball, by which this command recognises its own.
const first = "package/package.json"

// WriteTarball writes the npm package as a tarball into a folder, with the name that npm
// pack gives it, and returns its path. The same version results in the same bytes.
func WriteTarball(folder, version string) (string, error) {
	files, err := clients.TypeScript(version)
	if err != nil {
		return "", err
	}
	if info, err := os.Stat(folder); err == nil && !info.IsDir() {
		return "", blueprint.InputErrorf("name a folder", "%s is a file", folder)
	}
	path := filepath.Join(folder, "blueprintd-"+clients.PackageVersion(version)+".tgz")
	if !isFreeOrOwn(path) {
		return "", blueprint.Hinted("name another folder, or move the file", "%s exists already and was not written by blueprintd sdk typescript; nothing was changed", path)
	}
	data, err := packed(files)
	if err != nil {
		return "", err
	}
	return path, writeFile(path, data)
}

// packed returns a tarball of the files, package.json first.
func packed(files map[string][]byte) ([]byte, error) {
	var out bytes.Buffer
	compressed := gzip.NewWriter(&out)
	names := slices.Sorted(maps.Keys(files))
	slices.SortStableFunc(names, func(a, b string) int { return rank(a) - rank(b) })
	for _, name := range names {
		data := files[name]
		padding := make([]byte, (block-len(data)%block)%block)
		for _, part := range [][]byte{header("package/"+name, len(data)), data, padding} {
			if _, err := compressed.Write(part); err != nil {
				return nil, err
			}
		}
	}
	_, err := compressed.Write(make([]byte, 2*block)) // the end of the archive
	err = errors.Join(err, compressed.Close())
	return out.Bytes(), err
}

func rank(name string) int {
	if "package/"+name == first {
		return 0
	}
	return 1
}

// block is the unit of a tar archive, in bytes.
const block = 512

// header returns the header of a file in the format ustar of POSIX. Package archive/tar
// would add 80 kB to the executable for this one format.
func header(name string, size int) []byte {
	const modified = 499162500 // 1985-10-26T08:15:00Z, the time that npm pack gives to all files
	head := make([]byte, block)
	copy(head, name)
	copy(head[100:], fmt.Sprintf("%07o\x00%07o\x00%07o\x00%011o\x00%011o\x00        0", 0o644, 0, 0, size, modified))
	copy(head[257:], "ustar\x0000")
	sum := 0
	for _, b := range head {
		sum += int(b)
	}
	copy(head[148:], fmt.Sprintf("%06o\x00 ", sum))
	return head
}

// isFreeOrOwn reports whether there is no file, or a tarball that this command wrote.
func isFreeOrOwn(path string) bool {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxOwn {
		return false
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return false
	}
	archive, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return false
	}
	head := make([]byte, 2*block)
	_, err = io.ReadFull(archive, head)
	name, _, _ := bytes.Cut(head, []byte{0})
	return err == nil && string(name) == first && clients.IsMarked(head[block:], "typescript")
}

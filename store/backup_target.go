package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"blueprintd/blueprint"
)

// targetPath resolves the name of a file that a backup is to be.
func targetPath(path string) (string, error) {
	refuse := func(hint, format string, args ...any) (string, error) {
		return "", &blueprint.Error{Code: blueprint.CodeBadRequest, Message: fmt.Sprintf(format, args...), Hint: hint}
	}
	const other = "create the folder, or choose another name for the backup"
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return refuse("name a file in it, such as "+filepath.Join(path, "my.backup"), "%s is a folder", path)
	}
	folder := filepath.Dir(path)
	switch info, err := os.Stat(folder); {
	case errors.Is(err, fs.ErrNotExist):
		return refuse(other, "the folder %s does not exist", folder)
	case err == nil && !info.IsDir(), errors.Is(err, syscall.ENOTDIR):
		return refuse(other, "%s is not a folder", folder)
	}
	return realPath(path)
}

// notWritable says that no file can be made where a backup is to be.
func notWritable(err error, path string) error {
	reason := ""
	switch {
	case errors.Is(err, syscall.EROFS):
		reason = "its disk is mounted read-only"
	case errors.Is(err, fs.ErrPermission):
		reason = "this user may not write there"
	default:
		return noSpace(err, path)
	}
	return &blueprint.Error{
		Code: blueprint.CodeConflict, Message: fmt.Sprintf("no backup can be written into %s: %s", filepath.Dir(path), reason), Err: err,
		Hint: "choose another place for the backup",
	}
}

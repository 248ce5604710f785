package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

type member struct {
	name string
	from string
	mode int64
}

// documents are the JSON Schemas for editors.
var documents = []string{
	"clients/schemas/blueprint.schema.json", "clients/schemas/cassette.schema.json", "clients/schemas/run.schema.json", "clients/schemas/seed.schema.json", "clients/schemas/test.schema.json",
}

// pack writes a platform's archive and returns its name. All files are in one folder.
func pack(p platform, version, program, out string, at time.Time) (string, error) {
	folder := "blueprintd_" + version + "_" + p.system + "_" + p.processor
	members := []member{
		{"LICENSE", "LICENSE", 0o644}, {"README.md", "README.md", 0o644}, {"CHANGELOG.md", "CHANGELOG.md", 0o644}, {p.program(), program, 0o755},
	}
	for _, path := range documents {
		members = append(members, member{strings.TrimPrefix(path, "clients/"), path, 0o644})
	}
	members = append(members, member{"openapi.json", "clients/openapi.json", 0o644})
	if p.system == "linux" {
		members = append(members, member{"INSTALL.md", "packaging/README.md", 0o644}, member{"blueprintd.service", "packaging/blueprintd.service", 0o644}, member{"blueprintd@.service", "packaging/blueprintd@.service", 0o644})
	}
	write, suffix := writeTar, ".tar.gz"
	if p.system == "windows" {
		write, suffix = writeZip, ".zip"
	}
	name := filepath.Join(out, folder+suffix)
	file, err := os.Create(name)
	if err != nil {
		return "", err
	}
	return name, errors.Join(write(file, folder, members, at), file.Close())
}

func writeTar(to io.Writer, folder string, members []member, at time.Time) error {
	packed, err := gzip.NewWriterLevel(to, gzip.BestCompression)
	if err != nil {
		return err
	}
	archive := tar.NewWriter(packed)
	for _, m := range members {
		data, err := os.ReadFile(m.from)
		if err != nil {
			return err
		}
		header := &tar.Header{Typeflag: tar.TypeReg, Name: folder + "/" + m.name, Mode: m.mode, Size: int64(len(data)), ModTime: at, Format: tar.FormatUSTAR}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		if _, err := archive.Write(data); err != nil {
			return err
		}
	}
	return errors.Join(archive.Close(), packed.Close())
}

func writeZip(to io.Writer, folder string, members []member, at time.Time) error {
	archive := zip.NewWriter(to)
	for _, m := range members {
		data, err := os.ReadFile(m.from)
		if err != nil {
			return err
		}
		header := &zip.FileHeader{Name: folder + "/" + m.name, Method: zip.Deflate, Modified: at}
		header.SetMode(os.FileMode(m.mode))
		entry, err := archive.CreateHeader(header)
		if err != nil {
			return err
		}
		if _, err := entry.Write(data); err != nil {
			return err
		}
	}
	return archive.Close()
}

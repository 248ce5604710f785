package main

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// addLibraries adds the npm packages that are compiled into the dashboard: those of its
// package-lock.json that are needed to run it. These are the ones whose licences
// web/scripts/licences.mjs writes.
func (b *bill) addLibraries(lock string) error {
	data, err := os.ReadFile(lock)
	if err != nil {
		return err
	}
	var content struct {
		Packages map[string]struct {
			Version   string
			Integrity string
			License   string
			Dev       bool
			Optional  bool
		}
	}
	if err := json.Unmarshal(data, &content); err != nil {
		return fmt.Errorf("%s: %w", lock, err)
	}
	for _, folder := range slices.Sorted(maps.Keys(content.Packages)) {
		p := content.Packages[folder]
		_, name, installed := strings.Cut(folder[max(0, strings.LastIndex(folder, "node_modules/")):], "node_modules/")
		if !installed || p.Dev || p.Optional || onlyTypes(name) {
			continue
		}
		url := "pkg:npm/" + strings.Replace(name, "@", "%40", 1) + "@" + p.Version
		if slices.Contains(b.libraries, url) {
			continue // in two folders
		}
		sum, known := strings.CutPrefix(p.Integrity, "sha512-")
		raw, err := base64.StdEncoding.DecodeString(sum)
		if !known || err != nil || p.License == "" {
			return fmt.Errorf("%s: %s has no SHA-512 checksum or no licence", lock, folder)
		}
		c := component{Reference: url, Type: "library", Name: name, Version: p.Version, Scope: "required", PackageURL: url}
		c.Hashes = []hash{{"SHA-512", hex.EncodeToString(raw)}}
		c.Licenses = make([]license, 1)
		c.Licenses[0].License.ID = p.License
		b.Components = append(b.Components, c)
		b.libraries = append(b.libraries, url)
	}
	if len(b.libraries) == 0 {
		return fmt.Errorf("%s: the dashboard needs no packages; is it of version 3?", lock)
	}
	return nil
}

// onlyTypes reports whether a package has nothing that is compiled.
func onlyTypes(name string) bool {
	return strings.HasPrefix(name, "@types/") || name == "typescript" || name == "type-fest"
}

package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// bill is a software bill of materials in the format CycloneDX 1.5. It lists what the built
// programs contain: Go modules, and the npm packages in the dashboard.
type bill struct {
	libraries []string // references of the npm packages, which every program contains

	Format       string       `json:"bomFormat"`
	SpecVersion  string       `json:"specVersion"`
	Serial       string       `json:"serialNumber"`
	Version      int          `json:"version"`
	Metadata     metadata     `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type metadata struct {
	Timestamp string    `json:"timestamp"`
	Component component `json:"component"`
}

type component struct {
	Reference  string      `json:"bom-ref"`
	Type       string      `json:"type"`
	Name       string      `json:"name"`
	Version    string      `json:"version"`
	Scope      string      `json:"scope,omitempty"`
	Hashes     []hash      `json:"hashes,omitempty"`
	Licenses   []license   `json:"licenses,omitempty"`
	PackageURL string      `json:"purl,omitempty"`
	Properties []property  `json:"properties,omitempty"`
	Components []component `json:"components,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type license struct {
	License struct {
		ID string `json:"id"`
	} `json:"license"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type dependency struct {
	Reference string   `json:"ref"`
	DependsOn []string `json:"dependsOn"`
}

func newBill(version string, at time.Time) *bill {
	own := component{Reference: "pkg:golang/blueprintd@" + version, Type: "application", Name: "blueprintd", Version: version, PackageURL: "pkg:golang/blueprintd@" + version}
	own.Licenses = make([]license, 1)
	own.Licenses[0].License.ID = "Apache-2.0"
	return &bill{
		Format: "CycloneDX", SpecVersion: "1.5", Version: 1,
		Metadata: metadata{Timestamp: at.Format(time.RFC3339), Component: own},
	}
}

func (b *bill) add(p platform, program string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	own := &b.Metadata.Component
	own.Components = append(own.Components, component{
		Reference: p.String(), Type: "file", Name: p.String() + "/" + p.program(), Version: own.Version,
		Hashes: []hash{{"SHA-256", fmt.Sprintf("%x", sha256.Sum256(data))}},
	})
	list := append(slices.Clone(b.libraries), b.module("std", strings.TrimPrefix(strings.Fields(info.GoVersion)[0], "go"), ""))
	for _, module := range info.Deps {
		if module.Replace != nil {
			module = module.Replace
		}
		list = append(list, b.module(module.Path, module.Version, module.Sum))
	}
	slices.Sort(list)
	b.Dependencies = append(b.Dependencies, dependency{p.String(), list})
	return nil
}

// module adds a module, unless it is listed, and returns its reference.
func (b *bill) module(path, version, sum string) string {
	url := "pkg:golang/" + path + "@" + version
	if slices.ContainsFunc(b.Components, func(c component) bool { return c.Reference == url }) {
		return url
	}
	c := component{Reference: url, Type: "library", Name: path, Version: version, Scope: "required", PackageURL: url}
	if raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(sum, "h1:")); err == nil && sum != "" {
		c.Hashes = []hash{{"SHA-256", fmt.Sprintf("%x", raw)}}
		c.Properties = []property{{"blueprintd:go.sum", sum}}
	}
	b.Components = append(b.Components, c)
	return url
}

// write writes the bill with a serial number derived from its content.
func (b *bill) write(path string) error {
	slices.SortFunc(b.Components, func(x, y component) int { return strings.Compare(x.Reference, y.Reference) })
	content, err := json.Marshal(b)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(content)
	sum[6], sum[8] = sum[6]&0x0f|0x80, sum[8]&0x3f|0x80
	b.Serial = fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
	data, err := json.MarshalIndent(b, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(data, '\n'), 0o644)
}

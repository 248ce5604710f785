package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// types are those of the files that a build makes, and whether they shrink.
var types = map[string]struct {
	name    string
	shrinks bool
}{
	".css":         {"text/css; charset=utf-8", true},
	".ico":         {"image/x-icon", false},
	".js":          {"text/javascript; charset=utf-8", true},
	".json":        {"application/json", true},
	".png":         {"image/png", false},
	".svg":         {"image/svg+xml", true},
	".txt":         {"text/plain; charset=utf-8", true},
	".webmanifest": {"application/manifest+json", true},
	".woff2":       {"font/woff2", false},
}

// file is a file of the build, made ready at its first request.
type file struct {
	once          sync.Once
	plain, packed []byte // packed is empty when it is not smaller
	tag           string // tells its content from another
}

// files are those that were asked for, by name.
var files sync.Map

// serveFile answers with a file of the build. Those in assets have a hash of
// their content in their name and never change; the others may be asked for
// again.
func serveFile(w http.ResponseWriter, r *http.Request, name string) bool {
	info, err := fs.Stat(dist, "dist/"+name)
	if err != nil || info.IsDir() {
		return false
	}
	found, _ := files.LoadOrStore(name, &file{})
	f := found.(*file)
	f.once.Do(func() { f.prepare(name) })
	content, tag := f.plain, `"`+f.tag+`"`
	h := w.Header()
	shield(h)
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("Cache-Control", "no-cache")
	if strings.HasPrefix(name, "assets/") {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	if len(f.packed) > 0 {
		h.Add("Vary", "Accept-Encoding")
		if weightOf(r.Header.Values("Accept-Encoding"), "gzip") > 0 {
			content, tag = f.packed, `"`+f.tag+`-gzip"`
			h.Set("Content-Encoding", "gzip")
		}
	}
	h.Set("ETag", tag)
	if isOneOf(r.Header.Values("If-None-Match"), tag) {
		h.Del("Content-Encoding")
		w.WriteHeader(http.StatusNotModified)
		return true
	}
	h.Set("Content-Type", typeOf(name))
	h.Set("Content-Length", strconv.Itoa(len(content)))
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodGet {
		_, _ = w.Write(content) // who leaves early needs no answer
	}
	return true
}

// prepare reads a file and packs it.
func (f *file) prepare(name string) {
	f.plain, _ = dist.ReadFile("dist/" + name)
	sum := sha256.Sum256(f.plain)
	f.tag = base64.RawURLEncoding.EncodeToString(sum[:16])
	if !types[path.Ext(name)].shrinks {
		return
	}
	var packed bytes.Buffer
	writer, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return
	}
	if _, err := writer.Write(f.plain); err != nil {
		return
	}
	if writer.Close() == nil && packed.Len() < len(f.plain) {
		f.packed = slices.Clip(packed.Bytes())
	}
}

func typeOf(name string) string {
	if known := types[path.Ext(name)].name; known != "" {
		return known
	}
	return "application/octet-stream"
}

// isOneOf tells whether a tag is among those of a header; * is every one.
func isOneOf(header []string, tag string) bool {
	for one := range strings.SplitSeq(strings.Join(header, ","), ",") {
		if one = strings.TrimPrefix(strings.TrimSpace(one), "W/"); one == tag || one == "*" {
			return true
		}
	}
	return false
}

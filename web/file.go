// Package web holds the dashboard as it was built from the sources beside it,
// and serves it: one page for all its addresses, and the files that it loads.
package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"blueprintd/foundation/ids"
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

// isOneOf reports whether a tag is among those of a header; * is every one.
func isOneOf(header []string, tag string) bool {
	for one := range strings.SplitSeq(strings.Join(header, ","), ",") {
		if one = strings.TrimPrefix(strings.TrimSpace(one), "W/"); one == tag || one == "*" {
			return true
		}
	}
	return false
}

//go:embed all:dist
var dist embed.FS

// places are the addresses that serve the page; its script chooses what to show.
// An entry that ends with a slash includes every address below it.
var places = []string{"/", "/signin", "/setup", "/blueprints", "/blueprints/", "/runs", "/runs/", "/triggers", "/triggers/", "/connections", "/connections/", "/settings", "/settings/"}

// Serve responds to a request for the page or for a file that it loads, and
// reports whether it did. Only clients that accept HTML get the page; for others
// its addresses behave as if it did not exist. random makes the nonces.
func Serve(w http.ResponseWriter, r *http.Request, random *ids.Source) bool {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false
	}
	if isPlace(r.URL.Path) {
		return acceptsHTML(r) && servePage(w, r, random, http.StatusOK)
	}
	name := strings.TrimPrefix(r.URL.Path, "/")
	if path.Clean(r.URL.Path) != r.URL.Path || name == pageName {
		return false
	}
	return serveFile(w, r, name)
}

// ServeMissing responds to a browser at an unknown address with status 404 and
// the page, which shows a message and the navigation. It reports whether it did.
func ServeMissing(w http.ResponseWriter, r *http.Request, random *ids.Source) bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) && acceptsHTML(r) && servePage(w, r, random, http.StatusNotFound)
}

func isPlace(address string) bool {
	for _, place := range places {
		if address == place || len(place) > 1 && strings.HasSuffix(place, "/") && strings.HasPrefix(address, place) {
			return true
		}
	}
	return false
}

// acceptsHTML reports whether a request asks for HTML by its name, as browsers do
// for what they show; */* asks for nothing in particular.
func acceptsHTML(r *http.Request) bool {
	return weightOf(r.Header.Values("Accept"), "text/html") > 0
}

// weightOf returns how much a header like Accept or Accept-Encoding asks for a
// thing by its name: 0 is not at all, 1 is most (RFC 9110, 12.4.2).
func weightOf(header []string, name string) float64 {
	for item := range strings.SplitSeq(strings.Join(header, ","), ",") {
		item, parameters, _ := strings.Cut(item, ";")
		if !strings.EqualFold(strings.TrimSpace(item), name) {
			continue
		}
		for parameter := range strings.SplitSeq(parameters, ";") {
			key, value, _ := strings.Cut(strings.TrimSpace(parameter), "=")
			if strings.EqualFold(key, "q") {
				weight, err := strconv.ParseFloat(value, 64)
				if err != nil || weight < 0 {
					return 0
				}
				return min(weight, 1)
			}
		}
		return 1
	}
	return 0
}

const (
	pageName = "index.html"
	// nonceMark stands in the page where the nonce of an answer belongs.
	nonceMark = "__NONCE__"
)

// policy says what the page may do: load its own files and call its own server,
// and nothing else. Styles that a script adds need the nonce of the answer.
const policy = "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-" + nonceMark + "'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'; manifest-src 'self'"

// servePage answers with the page, which is another one each time.
func servePage(w http.ResponseWriter, r *http.Request, random *ids.Source, status int) bool {
	page, err := dist.ReadFile("dist/" + pageName)
	if err != nil {
		return false
	}
	nonce := random.Token(22) // 131 bits
	page = bytes.ReplaceAll(page, []byte(nonceMark), []byte(nonce))
	h := w.Header()
	shield(h)
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", strings.ReplaceAll(policy, nonceMark, nonce))
	h.Set("Cache-Control", "no-store")
	h.Add("Vary", "Accept")
	h.Set("Content-Length", strconv.Itoa(len(page)))
	w.WriteHeader(status)
	if r.Method == http.MethodGet {
		_, _ = w.Write(page) // who leaves early needs no answer
	}
	return true
}

// shield sets what holds for all that is served here: browsers take it for what
// it says it is, tell other sites nothing, and give no other site a hold on it,
// nor it a device that it does not use.
func shield(h http.Header) {
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()")
}

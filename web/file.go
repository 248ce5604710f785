// Package web holds the dashboard as it was built from the sources beside it,
// and serves it: one page for all its addresses, and the files that it loads.
package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"io"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"

	"blueprintd/foundation/ids"
)

// types are the media types of the files that a build makes.
var types = map[string]string{
	".css":         "text/css; charset=utf-8",
	".ico":         "image/x-icon",
	".js":          "text/javascript; charset=utf-8",
	".json":        "application/json",
	".png":         "image/png",
	".svg":         "image/svg+xml",
	".txt":         "text/plain; charset=utf-8",
	".webmanifest": "application/manifest+json",
	".woff2":       "font/woff2",
}

// packedSuffix ends the names of the files that the build has compressed.
const packedSuffix = ".gz"

// serveFile answers with a file of the build. Those in assets have a hash of
// their content in their name and never change; the others may be asked for
// again. Files that the build has compressed are sent as they are to clients
// that accept gzip.
func serveFile(w http.ResponseWriter, r *http.Request, name string) bool {
	if strings.HasSuffix(name, packedSuffix) {
		return false
	}
	content, err := dist.ReadFile("dist/" + name + packedSuffix)
	packed := err == nil
	if !packed {
		if content, err = dist.ReadFile("dist/" + name); err != nil {
			return false
		}
	}
	tag := tagOf(name, content)
	h := w.Header()
	shield(h)
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("Cache-Control", "no-cache")
	if strings.HasPrefix(name, "assets/") {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	unpack := false
	if packed {
		h.Add("Vary", "Accept-Encoding")
		if unpack = weightOf(r.Header.Values("Accept-Encoding"), "gzip") == 0; !unpack {
			tag += "-gzip"
		}
	}
	tag = `"` + tag + `"`
	h.Set("ETag", tag)
	if isOneOf(r.Header.Values("If-None-Match"), tag) {
		w.WriteHeader(http.StatusNotModified)
		return true
	}
	switch {
	case unpack:
		if content, err = unpacked(content); err != nil {
			http.Error(w, "the file cannot be unpacked", http.StatusInternalServerError)
			return true
		}
	case packed:
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("Content-Type", typeOf(name))
	h.Set("Content-Length", strconv.Itoa(len(content)))
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodGet {
		_, _ = w.Write(content) // the client may have gone
	}
	return true
}

// tags holds the tags of the files that were asked for, by name.
var tags sync.Map

// tagOf returns a tag that differs whenever the content of a file does.
func tagOf(name string, content []byte) string {
	if tag, known := tags.Load(name); known {
		return tag.(string)
	}
	sum := sha256.Sum256(content)
	tag := base64.RawURLEncoding.EncodeToString(sum[:16])
	tags.Store(name, tag)
	return tag
}

func unpacked(content []byte) ([]byte, error) {
	reader, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(reader)
}

func typeOf(name string) string {
	if known := types[path.Ext(name)]; known != "" {
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
	if IsPage(r.URL.Path) {
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

// IsPage reports whether the page is served at an address.
func IsPage(address string) bool {
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

package web

import (
	"embed"
	"net/http"
	"path"
	"strings"

	"blueprintd/foundation/ids"
)

//go:embed all:dist
var dist embed.FS

// places are the addresses of the page; it finds out by itself what to show.
// Below those that end with a slash every address is one.
var places = []string{"/", "/signin", "/setup", "/blueprints", "/blueprints/", "/runs", "/runs/", "/triggers", "/triggers/", "/connections", "/connections/", "/settings", "/settings/"}

// Serve answers a request for the page or for a file that it loads, and tells
// whether it is one. The page is for who accepts HTML: programs that come to
// its addresses are told what they would be without it. The source of
// randomness makes the nonces.
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

// ServeMissing answers a browser that is at an address where nothing is, with
// the page, which says so and leads on, and tells whether it was one: 404.
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

// acceptsHTML tells whether a request asks for HTML by its name, as browsers do
// for what they show; */* asks for nothing in particular.
func acceptsHTML(r *http.Request) bool {
	return weightOf(r.Header.Values("Accept"), "text/html") > 0
}

package docs

import (
	"embed"
	"html/template"
	"net/http"
	"strings"
)

//go:embed style.css
var style []byte

// pictures are those of the pages; make pictures makes them.
//
//go:embed latency.svg pictures/*.webp
var pictures embed.FS

//go:embed page.html
var layout string

var pageTemplate = template.Must(template.New("page").Parse(layout))

// shown is the data of the page template: a page, the results of a search, or the contents.
type shown struct {
	Title    string
	Topic    string
	Query    string
	Page     *Page
	Hits     []Hit // the best of those found
	Found    int
	Searched bool
	Contents []Chapter
}

// Handler serves the pages below /docs: the contents at /docs, a page at /docs/{topic},
// and a search over all of them at /docs?q=. They hold nothing of the server and
// need neither a key nor a session. A topic without a page is 404, with the contents.
func Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /docs", serveContents)
	mux.HandleFunc("GET /docs/{$}", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/docs", http.StatusMovedPermanently)
	})
	mux.HandleFunc("GET /docs/style.css", func(w http.ResponseWriter, _ *http.Request) {
		write(w, http.StatusOK, "text/css; charset=utf-8", style)
	})
	mux.HandleFunc("GET /docs/latency.svg", servePicture("image/svg+xml"))
	mux.HandleFunc("GET /docs/pictures/{name}", servePicture("image/webp"))
	mux.HandleFunc("GET /docs/{topic}", servePage)
	return mux
}

// servePicture serves an embedded picture of this media type.
func servePicture(kind string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		picture, err := pictures.ReadFile(strings.TrimPrefix(r.URL.Path, "/docs/"))
		if err != nil {
			show(w, http.StatusNotFound, shown{Title: "Page not found"})
			return
		}
		h := w.Header()
		h.Set("Content-Type", kind)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-cache")
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'") // the style element of an SVG
		_, _ = w.Write(picture)                                                           // the client may have disconnected
	}
}

// maxHits is how many results of a search are listed.
const maxHits = 50

func serveContents(w http.ResponseWriter, r *http.Request) {
	query := strings.TrimSpace(r.URL.Query().Get("q"))
	if len(query) > 200 {
		query = query[:200]
	}
	if query == "" {
		show(w, http.StatusOK, shown{Title: "Documentation"})
		return
	}
	hits := Search(query)
	show(w, http.StatusOK, shown{Title: "Search", Query: query, Searched: true, Found: len(hits), Hits: hits[:min(len(hits), maxHits)]})
}

func servePage(w http.ResponseWriter, r *http.Request) {
	topic := strings.TrimSuffix(r.PathValue("topic"), ".md")
	page := Find(topic)
	if page == nil {
		show(w, http.StatusNotFound, shown{Title: "Page not found"})
		return
	}
	show(w, http.StatusOK, shown{Title: page.Title, Topic: topic, Page: page})
}

func show(w http.ResponseWriter, status int, s shown) {
	s.Contents = Contents()
	var body strings.Builder
	if err := pageTemplate.Execute(&body, s); err != nil {
		http.Error(w, "the page cannot be rendered", http.StatusInternalServerError)
		return
	}
	write(w, status, "text/html; charset=utf-8", []byte(body.String()))
}

func write(w http.ResponseWriter, status int, kind string, body []byte) {
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cache-Control", "no-cache")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may have disconnected
}

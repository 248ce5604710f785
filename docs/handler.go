package docs

import (
	"cmp"
	_ "embed"
	"fmt"
	"html"
	"net/http"
	"strings"
)

//go:embed style.css
var style []byte

//go:embed page.html
var layout string

// shown is what the layout shows: a page, the hits of a search, or the contents.
type shown struct {
	Title    string
	Query    string
	Page     *Page
	Hits     []Hit
	Searched bool
}

// Handler serves the pages below /docs: the contents at /docs, a page at /docs/{topic},
// and a search over titles and headings at /docs?q=. They hold nothing of the server and
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
	mux.HandleFunc("GET /docs/{topic}", servePage)
	return mux
}

func serveContents(w http.ResponseWriter, r *http.Request) {
	query := strings.TrimSpace(r.URL.Query().Get("q"))
	if len(query) > 200 {
		query = query[:200]
	}
	if query == "" {
		show(w, http.StatusOK, shown{Title: "Documentation"})
		return
	}
	show(w, http.StatusOK, shown{Title: "Search", Query: query, Searched: true, Hits: Search(query)})
}

func servePage(w http.ResponseWriter, r *http.Request) {
	topic := strings.TrimSuffix(r.PathValue("topic"), ".md")
	page := Find(topic)
	if page == nil {
		show(w, http.StatusNotFound, shown{Title: "Page not found"})
		return
	}
	show(w, http.StatusOK, shown{Title: page.Title, Page: page})
}

const current = ` aria-current="page"`

func show(w http.ResponseWriter, status int, s shown) {
	documentation := ""
	if s.Page == nil {
		documentation = current
	}
	body := strings.NewReplacer(
		"{{title}}", html.EscapeString(s.Title), "{{current}}", documentation, "{{query}}", html.EscapeString(s.Query),
		"{{main}}", s.main(), "{{headings}}", s.headings(), "{{pages}}", s.pages(),
	).Replace(layout)
	write(w, status, "text/html; charset=utf-8", []byte(body))
}

// main returns the page, the hits or the contents.
func (s shown) main() string {
	if s.Page != nil {
		return s.Page.HTML
	}
	var b strings.Builder
	fmt.Fprintf(&b, "<h1>%s</h1>\n", html.EscapeString(s.Title))
	if s.Searched {
		match := "headings match"
		if len(s.Hits) == 1 {
			match = "heading matches"
		}
		fmt.Fprintf(&b, "<p>%d %s “%s”.</p>\n<ul class=\"hits\">", len(s.Hits), match, html.EscapeString(s.Query))
		for _, hit := range s.Hits {
			address := "/docs/" + hit.Page.Topic
			if hit.Heading.ID != "" {
				address += "#" + hit.Heading.ID
			}
			fmt.Fprintf(&b, "<li>%s <span>%s</span></li>", link(address, cmp.Or(hit.Heading.Text, hit.Page.Title), ""), html.EscapeString(hit.Page.Title))
		}
		b.WriteString("</ul>")
		return b.String()
	}
	for _, chapter := range Contents() {
		fmt.Fprintf(&b, "<h2>%s</h2>\n<dl>", html.EscapeString(chapter.Title))
		for _, page := range chapter.Pages {
			fmt.Fprintf(&b, "<dt>%s</dt><dd>%s</dd>", link("/docs/"+page.Topic, page.Title, ""), html.EscapeString(page.Summary))
		}
		b.WriteString("</dl>\n")
	}
	return b.String()
}

// headings returns the list of the page's headings of the second and third level.
func (s shown) headings() string {
	if s.Page == nil || len(s.Page.Headings) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("<aside aria-label=\"On this page\">\n<p>On this page</p>\n<ul>")
	for _, heading := range s.Page.Headings {
		if heading.Level <= 3 {
			fmt.Fprintf(&b, `<li class="level%d">%s</li>`, heading.Level, link("#"+heading.ID, heading.Text, ""))
		}
	}
	b.WriteString("</ul>\n</aside>\n")
	return b.String()
}

// pages returns the list of all pages.
func (s shown) pages() string {
	var b strings.Builder
	for _, chapter := range Contents() {
		fmt.Fprintf(&b, "<p>%s</p>\n<ul>", html.EscapeString(chapter.Title))
		for _, page := range chapter.Pages {
			attribute := ""
			if page == s.Page {
				attribute = current
			}
			fmt.Fprintf(&b, "<li>%s</li>", link("/docs/"+page.Topic, page.Title, attribute))
		}
		b.WriteString("</ul>\n")
	}
	return b.String()
}

func link(address, text, attribute string) string {
	return fmt.Sprintf(`<a href="%s"%s>%s</a>`, html.EscapeString(address), attribute, html.EscapeString(text))
}

func write(w http.ResponseWriter, status int, kind string, body []byte) {
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cache-Control", "no-cache")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may have gone
}

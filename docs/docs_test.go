package docs

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/yuin/goldmark/ast"
)

// linkedFile is a link of Markdown.
var linkedFile = regexp.MustCompile(`\]\(([^)#]+)[^)]*\)`)

// TestChapters holds the order of reading against the files.
func TestChapters(t *testing.T) {
	names, err := fs.Glob(files, "*.md")
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range names {
		names[i] = strings.TrimSuffix(name, ".md")
	}
	var listed []string
	for _, c := range chapters {
		listed = append(listed, strings.Fields(c.topics)...)
	}
	slices.Sort(listed)
	if diff := cmp.Diff(names, listed); diff != "" {
		t.Errorf("the files of this folder and the chapters differ (-files +chapters):\n%s", diff)
	}
}

// TestHints checks that the pages named by hints exist.
func TestHints(t *testing.T) {
	call := regexp.MustCompile(`blueprint\.SeeDocs\([^()]*(?:\([^()]*\)[^()]*)?, "([^"]*)"\)`)
	found := 0
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (entry.Name() == "node_modules" || entry.Name() == "testdata") {
			return fs.SkipDir
		}
		if filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		source, err := os.ReadFile(path)
		for _, match := range call.FindAllSubmatch(source, -1) {
			found++
			if topic := string(match[1]); Find(topic) == nil {
				t.Errorf("%s: a hint names the page %q, which does not exist", path, topic)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if found < 15 {
		t.Errorf("found %d hints that name a page, want at least 15", found)
	}
}

func TestPages(t *testing.T) {
	for _, chapter := range Contents() {
		for _, page := range chapter.Pages {
			t.Run(page.Topic, func(t *testing.T) {
				if !strings.HasPrefix(string(page.Markdown), "# "+page.Title+"\n") {
					t.Errorf("want the title first, got %q", strings.SplitN(string(page.Markdown), "\n", 2)[0])
				}
				if page.Summary == "" {
					t.Error("want a first paragraph that says what the page is about")
				}
				seen := map[string]bool{}
				for _, heading := range page.Headings {
					if seen[heading.ID] {
						t.Errorf("two headings are %q", heading.Text)
					}
					seen[heading.ID] = true
				}
				checkLinks(t, page)
				if refused := regexp.MustCompile(`<[^>]* (style|on\w+)=[^>]*>`).FindString(string(page.HTML)); refused != "" {
					t.Errorf("the policy of the page does not allow %s", refused)
				}
			})
		}
	}
}

// checkLinks looks for what the links of a page name: pages, headings and files.
func checkLinks(t *testing.T, page *Page) {
	t.Helper()
	_ = ast.Walk(Parse(page.Markdown), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		link, ok := n.(*ast.Link)
		if !ok || !entering {
			return ast.WalkContinue, nil
		}
		address, fragment, _ := strings.Cut(string(link.Destination), "#")
		target := page
		if topic, ours := strings.CutPrefix(address, "/docs/"); ours {
			if target = Find(topic); target == nil {
				t.Errorf("a link leads to %s, which is not a page", address)
				return ast.WalkContinue, nil
			}
		} else if address != "" {
			return ast.WalkContinue, nil
		}
		if fragment != "" && !slices.ContainsFunc(target.Headings, func(h Heading) bool { return h.ID == fragment }) {
			t.Errorf("a link leads to #%s of %s, which has no such heading", fragment, target.Topic)
		}
		return ast.WalkContinue, nil
	})
	for _, match := range linkedFile.FindAllStringSubmatch(string(page.Markdown), -1) {
		if path := match[1]; !strings.Contains(path, "://") && !strings.HasPrefix(path, "/") {
			if _, err := os.Stat(filepath.Join(".", filepath.FromSlash(path))); err != nil {
				t.Errorf("a link leads to the file %s: %v", path, err)
			}
		}
	}
}

// TestPictures checks that make pictures makes every picture, that each is on a page, and that
// they stay small, because the executable contains them.
func TestPictures(t *testing.T) {
	var commands string
	for _, name := range []string{"../Makefile", "../testdata/e2e/pictures.mjs"} {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		commands += string(source)
	}
	shown := map[string][]string{} // the pages of each picture
	pages, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range append(pages, "../README.md", "../web/README.md") {
		source, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range regexp.MustCompile(`!\[([^\]]*)\]\(([^)]+)\)`).FindAllSubmatch(source, -1) {
			if len(match[1]) == 0 {
				t.Errorf("%s: the picture %s has no description", page, match[2])
			}
			name := filepath.ToSlash(filepath.Join("docs", filepath.Dir(page), string(match[2])))
			shown[name] = append(shown[name], page)
		}
	}
	stored := 0
	err = fs.WalkDir(pictures, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		picture, err := pictures.ReadFile(path)
		if name := "docs/" + path; len(shown[name]) == 0 {
			t.Errorf("%s is on no page", name)
		}
		if len(picture) > 80_000 {
			t.Errorf("%s has %d bytes, want at most 80,000", path, len(picture))
		}
		stored += len(picture)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if stored > 300_000 {
		t.Errorf("all pictures have %d bytes, want at most 300,000", stored)
	}
	for name, pages := range shown {
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(commands, name) {
				t.Errorf("%s is on %s, and make pictures does not make it", name, strings.Join(pages, ", "))
			}
			if _, err := os.Stat(filepath.Join("..", filepath.FromSlash(name))); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestHandler(t *testing.T) {
	handler := Handler()
	for _, c := range []struct {
		path   string
		status int
		want   string
	}{
		{"/docs", 200, `<a href="/docs/contributing">Contributing</a>`},
		{"/docs/contributing", 200, `<h2 id="add-a-command">Add a command</h2>`},
		{"/docs/contributing.md", 200, `<h2 id="add-a-command">`},
		{"/docs?q=add+a+COMMAND", 200, `href="/docs/contributing#add-a-command"`},
		{"/docs?q=contributing+catalogue+json", 200, `generated from the code: catalogue, procedures`},
		{"/docs?q=%3Cscript%3E+nothing", 200, `No sections match`},
		{"/docs?q=run", 200, `the first 50 are listed`},
		{"/docs/style.css", 200, `:root`},
		{"/docs/benchmarks", 200, `<img src="latency.svg"`},
		{"/docs/latency.svg", 200, `</svg>`},
		{"/docs/dashboard", 200, `<img src="pictures/run.webp"`},
		{"/docs/pictures/run.webp", 200, `WEBP`},
		{"/docs/pictures/nothing.webp", 404, `Page not found`},
		{"/docs/", 301, `/docs`},
		{"/docs/nothing", 404, `Page not found`},
		{"/docs/../docs.go", 301, ``},
	} {
		t.Run(c.path, func(t *testing.T) {
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, c.path, nil))
			if w.Code != c.status && w.Code != 307 {
				t.Errorf("status %d, want %d", w.Code, c.status)
			}
			if body := w.Body.String(); !strings.Contains(body, c.want) || strings.Contains(body, "<script") {
				t.Errorf("want %q and no script in\n%s", c.want, body)
			}
			if w.Code == 200 && !strings.Contains(w.Header().Get("Content-Security-Policy"), "default-src 'none'") {
				t.Error("want a policy that allows nothing but its own style")
			}
		})
	}
}

func TestSearch(t *testing.T) {
	if hits := Search("  "); len(hits) != 0 {
		t.Errorf("no words found %d sections, want 0", len(hits))
	}
	hits := Search("contributing")
	if len(hits) == 0 || hits[0].Heading.Text != "" || hits[0].Page.Topic != "contributing" {
		t.Errorf("want the page itself first, got %+v", hits)
	}
	for _, c := range []struct{ query, topic, heading, excerpt string }{
		{"add a Command", "contributing", "Add a command", ""}, // a heading
		{"contributing catalogue json", "contributing", "", "generated from the code: catalogue, procedures, OpenAPI, JSON Schemas"},
		{"--seed-ids", "fake-backend", "Start one", "--seed-ids 7"},                             // a block of commands
		{"user add password once", "dashboard", "Signing in", "sets a password"},                // words of the text
		{"part of a backup", "backup-and-recovery", "Make a backup", "is not part of a backup"}, // a phrase; others have the words apart
		{"contributing qwertz", "", "", ""},
	} {
		t.Run(c.query, func(t *testing.T) {
			hits := Search(c.query)
			if c.topic == "" {
				if len(hits) > 0 {
					t.Errorf("found %q, want nothing", hits[0].Page.Topic)
				}
				return
			}
			if len(hits) == 0 {
				t.Fatal("found nothing")
			}
			if got := hits[0]; got.Page.Topic != c.topic || got.Heading.Text != c.heading || !strings.Contains(got.Excerpt, c.excerpt) || len(got.Excerpt) > 200 {
				t.Errorf("the first of %d is %s, %q, %q; want %s, %q, an excerpt of at most 200 bytes with %q",
					len(hits), got.Page.Topic, got.Heading.Text, got.Excerpt, c.topic, c.heading, c.excerpt)
			}
		})
	}
}

// FuzzAround cuts texts of any kind.
func FuzzAround(f *testing.F) {
	f.Add("the quick brown fox", 4)
	f.Add(strings.Repeat("é", 300), 301)
	f.Fuzz(func(t *testing.T, text string, at int) {
		if at < 0 || at > len(text) {
			return
		}
		excerpt := around(text, at)
		if !utf8.ValidString(excerpt) || len(excerpt) > 200 {
			t.Errorf("%q is not valid, or longer than 200 bytes", excerpt)
		}
	})
}

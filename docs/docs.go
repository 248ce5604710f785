// Package docs holds the documentation: Markdown pages, one purpose each, as HTML for
// the server's /docs and as text for the terminal.
package docs

import (
	"bytes"
	"cmp"
	"embed"
	"html/template"
	"slices"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

//go:embed *.md
var files embed.FS

// chapters is the order in which pages are read.
var chapters = []struct {
	Title  string
	topics string
}{
	{"Start", "getting-started concepts"},
	{"Build", "blueprints expressions nodes triggers connections-and-sign-in approval-links testing-blueprints agents fake-backend"},
	{"Operate", "dashboard deploying scaling security upgrading backup-and-recovery reliability benchmarks"},
	{"Reference", "api cli files decisions"},
	{"Contribute", "architecture contributing"},
}

// A Page is one page of the documentation.
type Page struct {
	Topic    string // the file's name without .md, and the last part of its address
	Title    string // its first heading, as text
	Summary  string // its first paragraph, as text
	Markdown []byte
	HTML     template.HTML
	Headings []Heading
	text     string // the text before the first of the headings, without markup
}

// A Heading is one of a page below its title.
type Heading struct {
	Level    int    // 2 to 6
	ID, Text string // the fragment of its address, and what it says
	text     string // the text below it, down to the next one, without markup
}

// A Chapter is a group of pages.
type Chapter struct {
	Title string
	Pages []*Page
}

// Contents returns all pages in the order in which they are read.
var Contents = sync.OnceValue(func() []Chapter {
	var all []Chapter
	for _, c := range chapters {
		chapter := Chapter{Title: c.Title}
		for topic := range strings.FieldsSeq(c.topics) {
			source, err := files.ReadFile(topic + ".md")
			if err != nil {
				continue // the test of this package refuses a topic without a page
			}
			chapter.Pages = append(chapter.Pages, render(topic, source))
		}
		if len(chapter.Pages) > 0 {
			all = append(all, chapter)
		}
	}
	return all
})

// Find returns the page of a topic, nil where there is none.
func Find(topic string) *Page {
	for _, chapter := range Contents() {
		if i := slices.IndexFunc(chapter.Pages, func(p *Page) bool { return p.Topic == topic }); i >= 0 {
			return chapter.Pages[i]
		}
	}
	return nil
}

// Topics lists the topics in the order in which they are read.
func Topics() []string {
	var topics []string
	for _, chapter := range Contents() {
		for _, page := range chapter.Pages {
			topics = append(topics, page.Topic)
		}
	}
	return topics
}

// A Hit is a section that a search found: the heading is the zero value where it is the
// beginning of the page.
type Hit struct {
	Page    *Page
	Heading Heading
	Excerpt string // the text around the words; empty where the title or heading matches
	rank    int
}

// The ranks of hits. The level of the heading is added to those of headings.
const (
	rankTitle   = 0  // the title has all words
	rankHeading = 10 // the heading has all words
	rankPart    = 20 // the heading has some of them, the title the others
	rankPhrase  = 30 // the text has all words, one after the other
	rankText    = 40 // the text has some of them, the heading and the title the others
)

// Search returns the sections that contain every word of the query, without regard to case,
// best first: titles of pages, then headings by their level, then texts. Words of the page's
// title count for its headings, and words of both count for the texts.
func Search(query string) []Hit {
	words := strings.Fields(strings.ToLower(query))
	if len(words) == 0 {
		return nil
	}
	var hits []Hit
	for _, chapter := range Contents() {
		for _, page := range chapter.Pages {
			title := page.Title + " " + page.Topic
			if containsAll(title, words) {
				hits = append(hits, Hit{Page: page, rank: rankTitle})
			} else if hit, found := find(title, page.text, words); found {
				hit.Page = page
				hits = append(hits, hit)
			}
			for _, heading := range page.Headings {
				if containsAll(heading.Text, words) {
					hits = append(hits, Hit{Page: page, Heading: heading, rank: rankHeading + heading.Level})
				} else if _, found := find(title, heading.Text, words); found {
					hits = append(hits, Hit{Page: page, Heading: heading, rank: rankPart + heading.Level})
				} else if hit, found := find(title+" "+heading.Text, heading.text, words); found {
					hit.Page, hit.Heading = page, heading
					hits = append(hits, hit)
				}
			}
		}
	}
	slices.SortStableFunc(hits, func(a, b Hit) int { return cmp.Compare(a.rank, b.rank) })
	return hits
}

// find reports whether a text contains at least one of the words, and together with what
// stands above it all of them. It returns a hit with the text around all of them, where they
// stand one after the other, or the first of them.
func find(above, text string, words []string) (hit Hit, found bool) {
	lower := strings.ToLower(text)
	at, rank := strings.Index(lower, strings.Join(words, " ")), rankPhrase
	if at < 0 {
		rank = rankText
		for _, w := range words {
			if i := strings.Index(lower, w); i >= 0 && (at < 0 || i < at) {
				at = i
			}
		}
	}
	if at < 0 || !containsAll(above+" "+text, words) {
		return hit, false
	}
	return Hit{Excerpt: around(text, min(at, len(text))), rank: rank}, true
}

// around returns the words of a text near a byte, with "…" where it goes on.
func around(text string, at int) string {
	const before, after = 60, 120
	start, end := 0, len(text)
	if at > before {
		start = at - before + strings.IndexByte(text[at-before:at]+" ", ' ')
	}
	if end > at+after {
		end = at + after
		if i := strings.LastIndexByte(text[at:end], ' '); i > 0 {
			end = at + i
		}
	}
	excerpt := strings.TrimSpace(strings.ToValidUTF8(text[start:end], ""))
	if start > 0 {
		excerpt = "… " + excerpt
	}
	if end < len(text) {
		excerpt += " …"
	}
	return excerpt
}

// containsAll reports whether a text contains all the words, which are in lower case.
func containsAll(text string, words []string) bool {
	text = strings.ToLower(text)
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
}

// Markdown returns the parser of the pages. Heading IDs follow GitHub's rules, so links
// work both there and on a server.
func Markdown() goldmark.Markdown {
	return goldmark.New(
		goldmark.WithExtensions(
			extension.Linkify, extension.Strikethrough, extension.TaskList,
			extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)), // the policy allows no style attributes
		),
		goldmark.WithParserOptions(parser.WithAutoHeadingID(), parser.WithASTTransformers(util.Prioritized(links{}, 100))),
	)
}

// Parse returns the document of a page.
func Parse(source []byte) ast.Node { return Markdown().Parser().Parse(text.NewReader(source)) }

func render(topic string, source []byte) *Page {
	page := &Page{Topic: topic, Title: topic, Markdown: source}
	markdown := Markdown()
	document := markdown.Parser().Parse(text.NewReader(source))
	section := &page.text
	for node := document.FirstChild(); node != nil; node = node.NextSibling() {
		content := plain(node, source)
		switch n := node.(type) {
		case *ast.Heading:
			if n.Level == 1 {
				page.Title = content
				continue
			}
			id, _ := n.AttributeString("id")
			name, _ := id.([]byte)
			page.Headings = append(page.Headings, Heading{Level: n.Level, ID: string(name), Text: content})
			section = &page.Headings[len(page.Headings)-1].text
			continue
		case *ast.Paragraph:
			if page.Summary == "" {
				page.Summary = content
			}
		}
		*section = strings.TrimSpace(*section + " " + content)
	}
	var html bytes.Buffer
	if err := markdown.Renderer().Render(&html, source, document); err != nil {
		return page // only a writer's error, and this one has none
	}
	page.HTML = template.HTML(focusable.Replace(html.String()))
	return page
}

// focusable lets the keyboard scroll what is wider than the page.
var focusable = strings.NewReplacer(
	"<pre>", `<pre tabindex="0">`,
	"<table>", `<div class="scroll" role="group" aria-label="Table" tabindex="0"><table>`, "</table>", "</table></div>",
)

// plain returns the text below a node without its markup, in one line.
func plain(node ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(node, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Text:
			if entering {
				b.Write(n.Segment.Value(source))
			}
			if n.SoftLineBreak() || n.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			if entering {
				b.Write(n.Lines().Value(source))
			}
		default:
			if !entering && n.Type() == ast.TypeBlock { // an item of a list, a cell of a table
				b.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return strings.Join(strings.Fields(b.String()), " ")
}

// links turns the links between pages, which name files, into addresses of a server.
// What is a file of the sources and no page stays text.
type links struct{}

func (links) Transform(document *ast.Document, _ text.Reader, _ parser.Context) {
	var outside []*ast.Link
	_ = ast.Walk(document, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		link, ok := n.(*ast.Link)
		if !ok || !entering {
			return ast.WalkContinue, nil
		}
		address, fragment, _ := strings.Cut(string(link.Destination), "#")
		topic, isPage := strings.CutSuffix(address, ".md")
		switch {
		case strings.Contains(address, "://") || strings.HasPrefix(address, "/") || address == "":
		case isPage && !strings.Contains(topic, "/"):
			link.Destination = []byte("/docs/" + topic)
			if fragment != "" {
				link.Destination = append(link.Destination, "#"+fragment...)
			}
		default:
			outside = append(outside, link)
		}
		return ast.WalkContinue, nil
	})
	for _, link := range outside {
		parent := link.Parent()
		for child := link.FirstChild(); child != nil; child = link.FirstChild() {
			parent.InsertBefore(parent, link, child)
		}
		parent.RemoveChild(parent, link)
	}
}

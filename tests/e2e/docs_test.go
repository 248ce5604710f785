package e2e

import (
	"encoding/json"
	"fmt"
	"go/parser"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"blueprintd/tests/process"
)

// A block is a fenced block of a page. The words after its fence define its kind:
//
//	sh            commands, run by bash in the page's folder; they have to succeed
//	sh fails      the same, but the last command has to fail
//	sh server     starts a server in the background; the following blocks may call it
//	sh shown      not run: it needs another machine, root or a container
//	LANG FILE     a file that the following blocks find in the page's folder
//	yaml, json    a fragment, which has to be well formed; go too
//	text          output; after a block of commands it has to be what they printed,
//	              where ... matches anything
//	LANG shown    anything else that is only to be read
type block struct {
	line       int
	lang, kind string
	text       string
}

// blocks returns the fenced blocks of a page.
func blocks(page string) []block {
	var found []block
	var open *block
	for i, line := range strings.Split(page, "\n") {
		fence, isFence := strings.CutPrefix(line, "```")
		switch {
		case isFence && open == nil:
			lang, kind, _ := strings.Cut(strings.TrimSpace(fence), " ")
			open = &block{line: i + 2, lang: lang, kind: kind}
		case isFence:
			found, open = append(found, *open), nil
		case open != nil:
			open.text += line + "\n"
		}
	}
	return found
}

// TestDocs runs the blocks of the documentation and the README.
func TestDocs(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob(process.File(t, "docs/*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatalf("no pages in docs: %v", err)
	}
	for _, path := range append(pages, process.File(t, "README.md")) {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".md"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			tryPage(t, filepath.Base(path), blocks(string(text)))
		})
	}
}

// A stage is the folder and the server in which the blocks of one page run.
type stage struct {
	t       *testing.T
	page    string
	folder  string
	port    string
	env     []string
	printed string // output of the last block of commands
	webhook string // the address that commands printed last, "" before that
	server  *exec.Cmd
	log     process.Output // of the server
}

func tryPage(t *testing.T, page string, all []block) {
	s := &stage{t: t, page: page, folder: t.TempDir()}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, s.port, _ = net.SplitHostPort(listener.Addr().String())
	listener.Close()
	bin := t.TempDir()
	if err := os.Symlink(process.Path(t), filepath.Join(bin, "blueprintd")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(process.File(t, "testdata"), filepath.Join(s.folder, "testdata")); err != nil {
		t.Fatal(err)
	}
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	s.env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "HOME="+s.folder, "no_proxy=*", "BLUEPRINTD_ADDR=127.0.0.1:"+s.port,
		"GOCACHE="+strings.TrimSpace(string(cache)), "GOPROXY=off")
	t.Cleanup(s.stop)
	for i, b := range all {
		behindCommands := i > 0 && all[i-1].lang == "sh" && all[i-1].kind != "shown" && all[i-1].kind != "server"
		s.try(b, behindCommands)
		if t.Failed() {
			return
		}
	}
}

// sample is the address of a webhook in a page: the one that commands of the page printed
// last, or that of the sample blueprint.
var sample = regexp.MustCompile(`http://127\.0\.0\.1:\d+/webhooks/blueprint/[0-9a-f-]*\.\.\.`)

func (s *stage) try(b block, behindCommands bool) {
	s.t.Helper()
	at := fmt.Sprintf("%s:%d", s.page, b.line)
	text := strings.ReplaceAll(b.text, "127.0.0.1:8787", "127.0.0.1:"+s.port)
	text = strings.ReplaceAll(text, "go run . ", "blueprintd ") // as in the README, in a checkout
	env := s.env
	if b.lang == "sh" && s.server != nil {
		if sample.MatchString(text) {
			if s.webhook == "" {
				s.webhook = s.printedBy(at, sampleWebhook)
			}
			text = sample.ReplaceAllLiteralString(text, s.webhook)
		}
		if strings.Contains(text, "$KEY") {
			env = append(env, "KEY="+s.printedBy(at, firstKey))
		}
	}
	switch {
	case b.kind == "shown":
		if b.lang == "sh" {
			s.checkFlags(at, text)
		}
	case b.lang == "sh" && b.kind == "server":
		s.serve(at, text)
	case b.lang == "sh" && (b.kind == "" || b.kind == "fails"):
		command := exec.CommandContext(s.t.Context(), "bash", "-euo", "pipefail", "-c", text)
		command.Dir, command.Env = s.folder, env
		out, err := command.CombinedOutput()
		if s.printed = string(out); (err != nil) != (b.kind == "fails") {
			s.t.Errorf("%s: %v, want failure: %t\n%s", at, err, b.kind == "fails", out)
		}
		if printed := sampleWebhook.FindAllString(s.printed, -1); len(printed) > 0 {
			s.webhook = printed[len(printed)-1]
		}
	case b.lang == "text":
		pattern := sample.ReplaceAllString(text, "http://127.0.0.1:"+s.port+"/webhooks/blueprint/...")
		if behindCommands && !matches(pattern, s.printed) {
			s.t.Errorf("%s: want this output (... is anything):\n%s\ngot:\n%s", at, text, s.printed)
		}
	case b.kind != "":
		path := filepath.Join(s.folder, filepath.FromSlash(b.kind))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			s.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			s.t.Fatal(err)
		}
	default:
		if err := wellFormed(b.lang, text); err != nil {
			s.t.Errorf("%s: %v", at, err)
		}
	}
}

// shownCommand is a call of the program in commands that are not run.
var shownCommand = regexp.MustCompile(`(?m)^(?:[A-Z_]+=\S+ )?blueprintd ((?:[a-z-]+ ?)+)([^#\n]*)`)

// checkFlags compares commands that are not run with the help of the program.
func (s *stage) checkFlags(at, text string) {
	s.t.Helper()
	for _, call := range shownCommand.FindAllStringSubmatch(strings.ReplaceAll(text, "\\\n", ""), -1) {
		words := strings.Fields(call[1])
		help := process.Run(s.t, append(words[:min(2, len(words))], "--help")...)
		if help.Code != 0 {
			help = process.Run(s.t, words[0], "--help")
		}
		if help.Code != 0 {
			s.t.Errorf("%s: no command %q", at, call[1])
			continue
		}
		for _, flag := range regexp.MustCompile(`--[a-z-]+`).FindAllString(call[2], -1) {
			if !strings.Contains(help.Out, flag+" ") && !strings.Contains(help.Out, flag+",") {
				s.t.Errorf("%s: %s has no flag %s", at, call[1], flag)
			}
		}
	}
}

// wellFormed parses a fragment of a language.
func wellFormed(lang, text string) error {
	switch lang {
	case "json":
		var v any
		return json.Unmarshal([]byte(text), &v)
	case "yaml":
		var v any
		return yaml.Unmarshal([]byte(text), &v)
	case "go":
		if _, err := parser.ParseExpr("func() {\n" + text + "\n}"); err != nil {
			return fmt.Errorf("no statements of Go: %w", err)
		}
		return nil
	}
	return fmt.Errorf("a block of %q is neither run nor marked: name a file, or write %q", lang, lang+" shown")
}

// matches reports whether a text matches a pattern, in which ... matches anything. Trailing
// blanks are ignored.
func matches(pattern, text string) bool {
	tidy := regexp.MustCompile(`[ \t]+\n`)
	pattern, text = strings.TrimSpace(tidy.ReplaceAllString(pattern, "\n")), strings.TrimSpace(tidy.ReplaceAllString(text, "\n"))
	quoted := strings.ReplaceAll(regexp.QuoteMeta(pattern), regexp.QuoteMeta("..."), "(?s:.*?)")
	return regexp.MustCompile("^" + quoted + "$").MatchString(text)
}

// serve starts a server in its own process group and waits until it is ready. If the page
// starts another one, the first is stopped.
func (s *stage) serve(at, text string) {
	s.stop()
	s.server = exec.Command("bash", "-euo", "pipefail", "-c", text)
	s.server.Dir, s.server.Env = s.folder, s.env
	s.server.Stdout, s.server.Stderr = &s.log, &s.log
	s.server.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := s.server.Start(); err != nil {
		s.t.Fatalf("%s: %v", at, err)
	}
	for deadline := time.Now().Add(time.Minute); ; {
		if answer, err := http.Get("http://127.0.0.1:" + s.port + "/readyz"); err == nil {
			answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				break
			}
		}
		if !process.Pause(s.t.Context(), 20*time.Millisecond) || time.Now().After(deadline) {
			s.t.Fatalf("%s: the server is not ready\n%s", at, s.log.String())
		}
	}
}

// The output of a server at its first start.
var (
	sampleWebhook = regexp.MustCompile(`http://127\.0\.0\.1:\d+/webhooks/blueprint/[0-9a-f-]{36}`)
	firstKey      = regexp.MustCompile(`bpd_[A-Za-z0-9]+`)
)

// printedBy waits until the server has printed text that matches a pattern.
func (s *stage) printedBy(at string, pattern *regexp.Regexp) string {
	s.t.Helper()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); {
		if printed := pattern.FindString(s.log.String()); printed != "" {
			return printed
		}
		if !process.Pause(s.t.Context(), 10*time.Millisecond) {
			break
		}
	}
	s.t.Fatalf("%s: want %s in what the server printed\n%s", at, pattern, s.log.String())
	return ""
}

func (s *stage) stop() {
	if s.server == nil {
		return
	}
	_ = syscall.Kill(-s.server.Process.Pid, syscall.SIGTERM)
	_ = s.server.Wait() // ended by the signal
	s.server = nil
}

// TestMatches tests the comparison of outputs.
func TestMatches(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, text string
		want          bool
	}{
		{"a\nb", "a\nb\n", true},
		{"a ... c", "a b b c", true},
		{"a\n...\nc", "a\nb\nb\nc", true},
		{"a", "a\nb", false},
		{"a.c", "abc", false},
	} {
		t.Run(c.pattern, func(t *testing.T) {
			if got := matches(c.pattern, c.text); got != c.want {
				t.Errorf("matches(%q, %q) = %t, want %t", c.pattern, c.text, got, c.want)
			}
		})
	}
}

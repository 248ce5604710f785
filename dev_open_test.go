package main

import (
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDevOpen has a browser sign in by the address that is printed, and shown.
func TestDevOpen(t *testing.T) {
	bin := t.TempDir()
	shown := filepath.Join(bin, "shown")
	for _, name := range []string{"xdg-open", "open"} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\nprintf %s \"$1\" > '"+shown+".new' && mv '"+shown+".new' '"+shown+"'\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	d := startDev(t, t.TempDir(), "--open")
	link := regexp.MustCompile(`http://\S+/open/\w+`).FindString(d.until(`^  sign in   http://.*/open/\w+  \(without a password; works once, for 15 minutes\)$`))
	d.until(`^  dashboard http://.*/setup\?token=`)
	if got := string(awaited(t, shown)); got != link {
		t.Errorf("shown is %q, not %q", got, link)
	}
	jar, _ := cookiejar.New(nil)
	mine, other := looking{&http.Client{Jar: jar}, d.host}, looking{&http.Client{}, d.host}
	if code, _ := mine.query(t, "session.get", `{}`); code != http.StatusUnauthorized {
		t.Errorf("before: %d", code)
	}
	if response, err := other.Head(link); err != nil || response.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("HEAD: %v %v", response, err)
	}
	if code, _, _ := other.get(t, d.host+"/open/guessed"); code != http.StatusNotFound {
		t.Errorf("a guessed address: %d", code)
	}
	for range 2 { // the second time as the one who is signed in
		if code, path, _ := mine.get(t, link); code != http.StatusOK || path != "/" {
			t.Errorf("the address led to %d %s", code, path)
		}
	}
	if code, body := mine.query(t, "session.get", `{}`); code != http.StatusOK || !strings.Contains(body, "admin@localhost") {
		t.Errorf("signed in: %d %s", code, body)
	}
	if code, _, body := other.get(t, link); code != http.StatusGone || !strings.Contains(body, "Start blueprintd dev again") {
		t.Errorf("for somebody else: %d %s", code, body)
	}
	if code, _ := other.query(t, "session.get", `{}`); code != http.StatusUnauthorized {
		t.Errorf("it signed in twice: %d", code)
	}
	d.stop()
}

// TestOpenLinkIsFor: only who develops in memory, on this machine alone, has the
// address, and only for a while.
func TestOpenLinkIsFor(t *testing.T) {
	develops := func(o *options) { o.develops = true }
	for name, change := range map[string]func(*options){
		"serve":         func(o *options) { o.develops = false },
		"a public name": func(o *options) { o.publicURL = "https://flows.example.org" },
		"the network":   func(o *options) { o.addr = "0.0.0.0:0" },
		"a database":    func(o *options) { o.ephemeral, o.db = false, filepath.Join(t.TempDir(), "x.db") },
	} {
		if s := newService(t, develops, change); s.link != nil {
			t.Errorf("%s has one", name)
		}
	}
	s := newService(t, develops)
	if s.link == nil || s.link.until.IsZero() {
		t.Fatal("there is none, or for ever")
	}
	late := &openLink{server: s.server, token: "x", until: s.link.until.Add(-2 * openLife)}
	r := httptest.NewRequest(http.MethodGet, s.host+"/open/x", nil)
	r.SetPathValue("token", "x")
	w := httptest.NewRecorder()
	if late.visit(w, r); w.Code != http.StatusGone || !strings.Contains(w.Body.String(), "for a while only") {
		t.Errorf("too late: %d %s", w.Code, w.Body)
	}
	if code, _, _ := (looking{&http.Client{}, s.host}).get(t, s.link.url()); code != http.StatusOK {
		t.Errorf("in time: %d", code)
	}
}

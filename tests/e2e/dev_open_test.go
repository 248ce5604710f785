package e2e

import (
	"blueprintd/tests/process"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/cookiejar"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// opener installs a program in place of the one that opens addresses in a browser. It
// writes its arguments to the file shown and exits with status. settings are the
// environment variables that make the server use it.
func opener(t *testing.T, status string) (shown string, settings []string) {
	t.Helper()
	bin := t.TempDir()
	shown = filepath.Join(bin, "shown")
	for _, name := range []string{"xdg-open", "open"} {
		text := "#!/bin/sh\nprintf %s \"$*\" > '" + shown + ".new' && mv '" + shown + ".new' '" + shown + "'\nexit " + status + "\n"
		if err := os.WriteFile(filepath.Join(bin, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return shown, []string{"PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH"), "TMPDIR=" + t.TempDir()}
}

var printedAddress = regexp.MustCompile(`http://\S+/open/\w+`)

// TestDevOpen signs in a browser with the address that is printed and opened; each use
// prints another one, and the link for setting a password stays valid.
func TestDevOpen(t *testing.T) {
	t.Parallel()
	shown, settings := opener(t, "0")
	d := startDevWith(t, settings, t.TempDir(), "--open")
	link := printedAddress.FindString(d.until(`^  sign in   http://.*/open/\w+  \(without a password; works once, for 15 minutes\)$`))
	_, setup, _ := strings.Cut(d.until(`^  dashboard http://.*/setup\?token=`), "token=")
	setup, _, _ = strings.Cut(setup, " ")
	page := string(process.AwaitFile(t, shown))
	if text, err := os.ReadFile(page); err != nil || strings.Count(string(text), link) != 2 || !strings.Contains(string(text), `"no-referrer"`) {
		t.Errorf("shown is %q: %s %v, want 2 and \"no-referrer\" in it", page, text, err)
	}
	for path, want := range map[string]fs.FileMode{page: 0o600, filepath.Dir(page): 0o700} {
		t.Run(fmt.Sprint(want), func(t *testing.T) {
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
				t.Errorf("%v %v, want Perm %v", info, err, want)
			}
		})
	}
	jar, _ := cookiejar.New(nil)
	mine, other := process.Browser{Client: &http.Client{Jar: jar}, Root: d.host}, process.Browser{Client: &http.Client{}, Root: d.host}
	if code, _ := mine.Query(t, "session.get", `{}`); code != http.StatusUnauthorized {
		t.Errorf("before: %d, want %v", code, http.StatusUnauthorized)
	}
	if response, err := other.Head(link); err != nil || response.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("HEAD: %v %v, want StatusCode %v", response, err, http.StatusMethodNotAllowed)
	}
	if code, _, _ := other.Get(t, d.host+"/open/guessed"); code != http.StatusNotFound {
		t.Errorf("a guessed address: %d, want %v", code, http.StatusNotFound)
	}
	for range 2 { // each time after a sign-out
		for range 2 { // the second time while signed in
			if code, path, _ := mine.Get(t, link); code != http.StatusOK || path != "/" {
				t.Errorf("the address led to %d %s, want %v and /", code, path, http.StatusOK)
			}
		}
		if code, body := mine.Query(t, "session.get", `{}`); code != http.StatusOK || !strings.Contains(body, "admin@localhost") {
			t.Errorf("signed in: %d %s, want %v and \"admin@localhost\" in it", code, body, http.StatusOK)
		}
		if code, _, body := other.Get(t, link); code != http.StatusGone || !strings.Contains(body, "has printed another one") {
			t.Errorf("for somebody else: %d %s, want %v and \"has printed another one\" in it", code, body, http.StatusGone)
		}
		if code, _ := other.Query(t, "session.get", `{}`); code != http.StatusUnauthorized {
			t.Errorf("it signed in twice: %d, want %v", code, http.StatusUnauthorized)
		}
		if code, body := mine.Mutate(t, "session.delete", `{"everywhere":false}`); code != http.StatusOK {
			t.Errorf("signed out: %d %s, want %v", code, body, http.StatusOK)
		}
		link = printedAddress.FindString(d.until(`^  sign in again  http://.*/open/\w+  \(works once, for 15 minutes\)$`))
	}
	if code, body := other.Query(t, "session.getSetup", `{"token":"`+setup+`"}`); code != http.StatusOK || !strings.Contains(body, `"fresh":true`) {
		t.Errorf("the link to set a password: %d %s, want %v and \"fresh\":true in it", code, body, http.StatusOK)
	}
	d.stop()
	if _, err := os.Stat(filepath.Dir(page)); err == nil {
		t.Errorf("%s stays, want an error", filepath.Dir(page))
	}
}

// TestDevOpenFails checks that a failure to open the browser is reported without the address.
func TestDevOpenFails(t *testing.T) {
	t.Parallel()
	_, settings := opener(t, "3")
	d := startDevWith(t, settings, t.TempDir(), "--open")
	link := printedAddress.FindString(d.until(`^  sign in `))
	line := d.until(`cannot open the dashboard in a browser: (xdg-)?open ended with status 3; open the address above yourself`)
	if token := link[strings.LastIndex(link, "/")+1:]; token == "" || strings.Contains(line, token) {
		t.Errorf("%q after %q, want not empty and no %q", line, link, token)
	}
	d.stop()
}

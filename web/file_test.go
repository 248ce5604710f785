package web

import (
	"bytes"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"testing"

	"blueprintd/foundation/ids"
)

var random = ids.New(nil)

// ask makes a request; none tells that it was for nothing here.
func ask(t *testing.T, method, address string, headers ...string) (answer *httptest.ResponseRecorder, none bool) {
	t.Helper()
	r := httptest.NewRequest(method, "http://here/", nil)
	r.URL.Path = address
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	answer = httptest.NewRecorder()
	none = !Serve(answer, r, random)
	if none && len(answer.Header()) > 0 {
		t.Errorf("%s %s was refused with headers %v", method, address, answer.Header())
	}
	return answer, none
}

const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"

func TestPage(t *testing.T) {
	nonces := map[string]bool{}
	for _, address := range []string{"/", "/signin", "/setup", "/blueprints", "/blueprints/", "/blueprints/new", "/blueprints/1/runs", "/runs", "/runs/exec_1", "/triggers", "/triggers/1", "/connections", "/connections/1", "/settings", "/settings/keys"} {
		answer, none := ask(t, "GET", address, "Accept", browser)
		if none || answer.Code != http.StatusOK {
			t.Fatalf("%s: %d", address, answer.Code)
		}
		policy := answer.Header().Get("Content-Security-Policy")
		_, nonce, _ := strings.Cut(policy, "'nonce-")
		nonce, _, _ = strings.Cut(nonce, "'")
		body := answer.Body.String()
		if len(nonce) < 22 || nonces[nonce] || !strings.Contains(body, `content="`+nonce+`"`) || strings.Contains(body+policy, "NONCE") {
			t.Errorf("%s: the nonce is %q", address, nonce)
		}
		nonces[nonce] = true
		for name, want := range map[string]string{
			"Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin",
			"Cross-Origin-Opener-Policy": "same-origin", "Vary": "Accept",
		} {
			t.Run(name, func(t *testing.T) {
				if got := answer.Header().Get(name); got != want {
					t.Errorf("%s: %s is %q, want %v", address, name, got, want)
				}
			})
		}
		for _, part := range []string{"default-src 'none'", "script-src 'self';", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"} {
			if !strings.Contains(policy, part) {
				t.Errorf("the policy is %s, want %q in it", policy, part)
			}
		}
		if head, none := ask(t, "HEAD", address, "Accept", browser); none || head.Body.Len() > 0 || head.Header().Get("Content-Length") == "" {
			t.Errorf("HEAD %s: %d bytes", address, head.Body.Len())
		}
	}
}

func TestNothingHere(t *testing.T) {
	for _, test := range [][]string{
		{"GET", "/"}, {"GET", "/", "Accept", "*/*"}, {"GET", "/", "Accept", "text/html;q=0"}, {"GET", "/signin", "Accept", "application/json"},
		{"POST", "/", "Accept", browser}, {"POST", "/signin", "Accept", browser}, {"DELETE", "/favicon.svg"},
		{"GET", "/signin/", "Accept", browser}, {"GET", "/blueprintsx", "Accept", browser}, {"GET", "/api/trpc", "Accept", browser}, {"GET", "/app/x", "Accept", browser},
		{"GET", "/index.html", "Accept", browser}, {"GET", "/assets", "Accept", browser}, {"GET", "/assets/", "Accept", browser}, {"GET", "/assets/nothing.js"},
		{"GET", "/../page.go"}, {"GET", "/assets/../favicon.svg"}, {"GET", "//favicon.svg"}, {"GET", "/./favicon.svg"}, {"GET", "/dist/index.html"}, {"GET", `/assets\x`}, {"GET", ""},
	} {
		if answer, none := ask(t, test[0], test[1], test[2:]...); !none {
			t.Errorf("%q: %d %s", test, answer.Code, answer.Body)
		}
	}
}

// TestFiles asks for every file of the build.
func TestFiles(t *testing.T) {
	err := fs.WalkDir(dist, "dist", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Base(name) == pageName {
			return err
		}
		want, err := dist.ReadFile(name)
		if err != nil {
			return err
		}
		name, compressed := strings.CutSuffix(name, packedSuffix)
		sent := want
		if compressed {
			if want, err = unpacked(want); err != nil {
				t.Fatal(err)
			}
			if _, none := ask(t, "GET", strings.TrimPrefix(name, "dist")+packedSuffix); !none {
				t.Errorf("%s is served under the name of its packed file", name)
			}
		}
		address := strings.TrimPrefix(name, "dist")
		if _, known := types[path.Ext(name)]; !known {
			t.Errorf("the type of %s is not known", address)
		}
		plain, none := ask(t, "GET", address)
		if none || !bytes.Equal(plain.Body.Bytes(), want) || plain.Header().Get("Content-Encoding") != "" || plain.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Fatalf("%s: %d, %d bytes, %v; want %v", address, plain.Code, plain.Body.Len(), plain.Header(), want)
		}
		caching := "no-cache"
		if strings.HasPrefix(address, "/assets/") {
			caching = "public, max-age=31536000, immutable"
		}
		packed, _ := ask(t, "GET", address, "Accept-Encoding", "br, GZIP;q=0.5")
		again, _ := ask(t, "GET", address, "Accept-Encoding", "gzip")
		content := packed.Body.Bytes()
		if packed.Header().Get("Content-Encoding") == "gzip" {
			if len(content) >= len(want) || packed.Header().Get("Vary") != "Accept-Encoding" || packed.Header().Get("Etag") == plain.Header().Get("Etag") {
				t.Errorf("%s packed: %d bytes of %d, %v", address, len(content), len(want), packed.Header())
			}
			if !bytes.Equal(content, sent) {
				t.Errorf("%s is not sent as it was built, want %v", address, sent)
			}
			if content, err = unpacked(content); err != nil {
				return err
			}
		} else if compressed || len(want) > 1000 {
			t.Errorf("%s is not packed, want %v", address, want)
		}
		if !bytes.Equal(content, want) || !bytes.Equal(again.Body.Bytes(), packed.Body.Bytes()) || packed.Header().Get("Cache-Control") != caching {
			t.Errorf("%s: another content, or %v; want %v", address, packed.Header(), want)
		}
		for _, tag := range []string{plain.Header().Get("Etag"), "W/" + plain.Header().Get("Etag"), `"other", ` + plain.Header().Get("Etag"), "*"} {
			if same, _ := ask(t, "GET", address, "If-None-Match", tag); same.Code != http.StatusNotModified || same.Body.Len() > 0 || same.Header().Get("Etag") == "" {
				t.Errorf("%s with %s: %d, want %v, nothing and Etag not empty", address, tag, same.Code, http.StatusNotModified)
			}
		}
		if other, _ := ask(t, "GET", address, "If-None-Match", `"other"`); other.Code != http.StatusOK {
			t.Errorf("%s: %d, want %v", address, other.Code, http.StatusOK)
		}
		if head, _ := ask(t, "HEAD", address); head.Body.Len() > 0 || head.Header().Get("Content-Length") != plain.Header().Get("Content-Length") {
			t.Errorf("HEAD %s: %v", address, head.Header())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestWeight(t *testing.T) {
	for _, test := range []struct {
		header string
		want   float64
	}{
		{"gzip", 1}, {"GZip", 1}, {"br, gzip", 1}, {"gzip;q=0.5", 0.5}, {"gzip; q=0", 0}, {"gzip;q=x", 0}, {"gzip;q=7", 1}, {"gzip;a=b;q=0.2", 0.2}, {"br", 0}, {"xgzip", 0}, {"*", 0}, {"", 0},
	} {
		t.Run(test.header, func(t *testing.T) {
			if got := weightOf([]string{test.header}, "gzip"); got != test.want {
				t.Errorf("%v, want %v", got, test.want)
			}
		})
	}
	if weightOf([]string{"br", "gzip"}, "gzip") != 1 || weightOf(nil, "gzip") != 0 {
		t.Error("several headers are not one")
	}
}

func TestMissing(t *testing.T) {
	for _, test := range []struct {
		method, accept string
		page           bool
	}{{"GET", browser, true}, {"HEAD", browser, true}, {"GET", "*/*", false}, {"GET", "", false}, {"POST", browser, false}} {
		t.Run(test.method+" "+test.accept, func(t *testing.T) {
			r := httptest.NewRequest(test.method, "http://here/nowhere", nil)
			r.Header.Set("Accept", test.accept)
			answer := httptest.NewRecorder()
			if got := ServeMissing(answer, r, random); got != test.page || got && (answer.Code != http.StatusNotFound || answer.Header().Get("Content-Security-Policy") == "") {
				t.Errorf("%s, accepting %q: %t, %d", test.method, test.accept, got, answer.Code)
			}
		})
	}
}

package connections_test

import (
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// FuzzCallback sends arbitrary queries to the two public routes. They respond with a page
// that does not repeat the query, and change nothing.
func FuzzCallback(f *testing.F) {
	for _, seed := range []string{
		"", "state=a&code=b", "state=a&state=b", "error=access_denied&state=x", "iss=https%3A%2F%2Fx&state=1&code=<script>",
		"ticket=AAAA", "ticket=" + strings.Repeat("A", 43), "ticket=" + strings.Repeat("A", 43) + "&go=1", "%zz", ";", "state=%00&code=%ff", "&&&=",
	} {
		f.Add(seed)
	}
	w, p := newEnv(f), newProvider(f)
	id := w.login(p, "")
	w.paused(ann, id)
	f.Fuzz(func(t *testing.T, query string) {
		for path, serve := range map[string]func(*httptest.ResponseRecorder, string){
			"/oauth/start": func(r *httptest.ResponseRecorder, agent string) {
				request := httptest.NewRequest("GET", "/", nil)
				request.URL = &url.URL{Path: "/oauth/start", RawQuery: query}
				request.Header.Set("User-Agent", agent)
				w.service.Start(r, request)
			},
			"/oauth/callback": func(r *httptest.ResponseRecorder, agent string) {
				request := httptest.NewRequest("GET", "/", nil)
				request.URL = &url.URL{Path: "/oauth/callback", RawQuery: query}
				request.Header.Set("User-Agent", agent)
				w.service.Callback(r, request)
			},
		} {
			for _, agent := range []string{"", browser} {
				recorder := httptest.NewRecorder()
				serve(recorder, agent)
				if recorder.Code != 400 || strings.Contains(recorder.Body.String(), "<script") || recorder.Header().Get("Location") != "" {
					t.Errorf("%s?%s: %d %s, want 400, no \"<script\" and Location nothing", path, query, recorder.Code, recorder.Body)
				}
			}
		}
		if len(w.store.tokens) > 0 || len(w.store.signIns) != 1 || len(w.resumed) > 0 || p.serial > 0 {
			t.Errorf("%q changed something, want none, length 1, none and serial at most 0", query)
		}
	})
}

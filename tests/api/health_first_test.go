package api

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"blueprintd/server"
	"blueprintd/server/limits"
)

// How the server is can be asked while it has as many requests as it takes.
func TestHealthIsAnsweredWhateverElseIsUnderWay(t *testing.T) {
	t.Parallel()
	s := &server.Server{}
	s.Ready.Store(true)
	ask := func(handler http.Handler, method, path string) int {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(method, path, nil))
		return w.Code
	}
	var handler http.Handler
	handler = s.HealthFirst(limits.Requests(1, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		for request, want := range map[[2]string]int{
			{http.MethodGet, "/healthz"}: http.StatusOK, {http.MethodHead, "/healthz"}: http.StatusOK, {http.MethodGet, "/readyz"}: http.StatusOK,
			{http.MethodPost, "/healthz"}: http.StatusServiceUnavailable, {http.MethodGet, "/"}: http.StatusServiceUnavailable,
		} {
			if got := ask(handler, request[0], request[1]); got != want {
				t.Errorf("%s: status %d, want %d", request, got, want)
			}
		}
	})))
	ask(handler, http.MethodGet, "/busy")
}

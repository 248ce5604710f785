package process

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// Browser follows addresses as a browser does, and calls the procedures of the dashboard
// with its cookies.
type Browser struct {
	*http.Client
	Root string // http://host:port
}

// Get opens an address and returns the status, the final path and the page.
func (b Browser) Get(t testing.TB, address string) (status int, path, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept", "text/html, application/json")
	response, err := b.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, response.Request.URL.Path, string(data)
}

// Query calls a query; input is JSON.
func (b Browser) Query(t testing.TB, name, input string) (int, string) {
	t.Helper()
	status, _, body := b.Get(t, b.Root+"/app/trpc/"+name+"?input="+url.QueryEscape(`{"json":`+input+`}`))
	return status, body
}

// Mutate calls a mutation; input is JSON.
func (b Browser) Mutate(t testing.TB, name, input string) (int, string) {
	t.Helper()
	response, err := b.Post(b.Root+"/app/trpc/"+name, "application/json", strings.NewReader(`{"json":`+input+`}`))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	data, _ := io.ReadAll(response.Body)
	return response.StatusCode, string(data)
}

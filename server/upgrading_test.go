package server

import (
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// While the database is upgraded the server says so, and then serves on the same address.
func TestUpgrading(t *testing.T) {
	listener, err := listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	var told []string
	u := &upgrading{
		site:   &site{Listener: listener, Options: Options{Logger: slog.New(slog.DiscardHandler)}},
		notify: func(state string) { told = append(told, state) },
	}
	client := &http.Client{Transport: &http.Transport{}}
	get := func(path string) (status int, retry, body string) {
		t.Helper()
		response, err := client.Get("http://" + listener.Addr().String() + path)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		data, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, response.Header.Get("Retry-After"), string(data)
	}
	u.stage("check")
	u.stage("copy")
	for _, test := range []struct {
		path        string
		status      int
		retry, body string
	}{
		{"/healthz", http.StatusOK, "", `{"status":"ok"}`},
		{"/readyz", http.StatusServiceUnavailable, "2", `{"status":"not ready"}`},
		{"/webhooks/blueprint/x", http.StatusServiceUnavailable, "2", "it upgrades the database"},
	} {
		t.Run(test.path, func(t *testing.T) {
			status, retry, body := get(test.path)
			if status != test.status || retry != test.retry || !strings.Contains(body, test.body) {
				t.Errorf("%d %q %s, want %d %q %s", status, retry, body, test.status, test.retry, test.body)
			}
		})
	}
	u.end()
	if want := "STATUS=upgrading the database: copy"; len(told) != 2 || !slices.Contains(strings.Split(told[1], "\n"), want) {
		t.Errorf("systemd was told %q, want %q in the second", told, want)
	}

	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusAccepted) })}
	go s.Serve(listener)
	t.Cleanup(func() { s.Close() })
	if status, _, _ := get("/healthz"); status != http.StatusAccepted {
		t.Errorf("the server answers %d after the upgrade, want %d", status, http.StatusAccepted)
	}
}

// Without an upgrade nothing is answered.
func TestNotUpgrading(t *testing.T) {
	(&upgrading{}).end()
}

package e2e

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"blueprintd/foundation/clock"
	"blueprintd/foundation/ids"
	"blueprintd/store"
	"blueprintd/tests/process"
)

// A session survives the kill of a server, and ends at the next call after another process
// ended it. No secret is on the disk.
func TestSessionOutlivesTheServer(t *testing.T) {
	t.Parallel()
	database := filepath.Join(t.TempDir(), "my.db")
	link := func(email string) (token string) {
		t.Helper()
		text := process.Command(t, "user", "link", "--email", email, "--db", database)
		_, token, found := strings.Cut(strings.TrimSpace(text), "/setup?token=")
		if !found {
			t.Fatalf("user link printed %q", text)
		}
		return token
	}
	token := ""
	signedIn := func(p *process.Server) bool {
		_, port, _ := strings.Cut(strings.TrimPrefix(p.Host, "http://"), ":")
		request, err := http.NewRequest(http.MethodGet, p.Host+"/app/trpc"+"/session.get", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.AddCookie(&http.Cookie{Name: "blueprintd_" + port, Value: token})
		status, _ := p.Do(request, "")
		return status == http.StatusOK
	}
	setup := func(p *process.Server, link, password string) {
		t.Helper()
		body, err := json.Marshal(object{"json": object{"token": link, "email": "ada@example.org", "name": "Ada", "password": password}})
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.Post(p.Host+"/app/trpc"+"/session.setup", "application/json", bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		cookies := answer.Cookies()
		if answer.StatusCode != http.StatusOK || len(cookies) != 2 {
			t.Fatalf("session.setup: %s, cookies %v; want StatusCode %v and length 2", answer.Status, cookies, http.StatusOK)
		}
		token = cookies[0].Value
	}
	const firstPassword = "correct horse battery"
	first := process.Serve(t, "--db", database)
	link1 := link("admin@localhost")
	setup(first, link1, firstPassword)
	first.Kill()
	second := process.Serve(t, "--db", database)
	if !signedIn(second) {
		t.Fatal("the session is gone with the server")
	}
	old := token
	link2 := link("ADA@example.org")
	if !signedIn(second) {
		t.Error("a link alone ended a session")
	}
	setup(second, link2, "another password")
	if !signedIn(second) {
		t.Error("not signed in")
	}
	fresh := token
	if token = old; signedIn(second) {
		t.Error("the earlier session still works")
	}
	token = fresh
	withPassword(t, database, "ada@example.org")
	if signedIn(second) {
		t.Error("another process ended the session and it still works")
	}
	second.Kill()
	for _, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(database + suffix)
		if err != nil && suffix == "" {
			t.Fatal(err)
		}
		for _, secret := range []string{firstPassword, "another password", old, fresh, link1, link2} {
			if bytes.Contains(data, []byte(secret)) || strings.Contains(first.Log.String()+second.Log.String(), secret) {
				t.Errorf("%s is in the database%s or in the log", secret, suffix)
			}
		}
	}
}

// withPassword sets the password of a user, like a command in another process.
func withPassword(t testing.TB, database, email string) {
	t.Helper()
	stored, err := store.Open(t.Context(), store.Options{Path: database, Schema: presentSchema(t), Clock: clock.Real{}, IDs: ids.New(nil)})
	if err != nil {
		t.Fatal(err)
	}
	defer stored.Close()
	user, err := stored.UserByEmail(t.Context(), email)
	if err == nil {
		err = stored.SetPassword(t.Context(), user.ID, "$argon2id$x")
	}
	if err != nil {
		t.Fatal(err)
	}
}

package api

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/tests/process"
	"blueprintd/tests/servertest"
)

func TestKeys(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon)
	ada, ben := s.NewUser(t, "ada"), s.NewUser(t, "ben")
	s.Advance(t, "1m")
	const record = `{"id": "<ulid>", "name": %s, "last4": %q, "scopes": ["admin", "read", "run", "write"], "createdAt": %q, "expiresAt": null, "lastUsedAt": %s, "revokedAt": %s}`
	made := ada.OK(t, "apiKey.create", object{
		"name": "  laptop ", "key": "chosen-by-the-caller", "id": "x", "last4": "0000", "userId": ben.ID, "user_id": ben.ID, "createdAt": noonText, "revokedAt": noonText, "lastUsedAt": noonText,
	})
	key, _ := at(made, "key").(string)
	if !regexp.MustCompile(`^bpd_[0-9A-Za-z]{40,}$`).MatchString(key) {
		t.Fatalf("the key is %q", key)
	}
	const created = "2030-05-01T12:01:00.000Z"
	fresh := fmt.Sprintf(record, `"laptop"`, key[len(key)-4:], created, "null", "null")
	servertest.Shape(t, "created", made, strings.TrimSuffix(fresh, "}")+fmt.Sprintf(`, "key": %q}`, key))

	// The list is the caller's own, without any key, oldest first.
	first := fmt.Sprintf(record, `"key of ada"`, "only", noonText, `"`+created+`"`, "null")
	servertest.Shape(t, "listed", ada.OK(t, "apiKey.list", nil), "["+first+","+fresh+"]")
	if list := ben.OK(t, "apiKey.list", object{}).([]any); len(list) != 1 || at(list[0], "name") != "key of ben" {
		t.Errorf("ben's list is %v, want length 1 and name key of ben", list)
	}
	laptop := servertest.Caller{Server: s, User: ada.User, Authorization: "Bearer " + key}
	s.Advance(t, "1m")
	laptop.OK(t, "blueprint.list", nil)
	used := fmt.Sprintf(record, `"laptop"`, key[len(key)-4:], created, `"2030-05-01T12:02:00.000Z"`, "null")
	if list := ada.OK(t, "apiKey.list", nil).([]any); len(list) == 2 {
		servertest.Shape(t, "used", list[1], used)
	}

	id := at(made, "id")
	ben.Refused(t, blueprint.CodeNotFound, "apiKey.revoke", object{"id": id})
	ada.Refused(t, blueprint.CodeNotFound, "apiKey.revoke", object{"id": "nothing"})
	laptop.OK(t, "blueprint.list", nil)
	servertest.Shape(t, "revoked", ada.OK(t, "apiKey.revoke", object{"id": id}), `{"success": true}`)
	laptop.Refused(t, blueprint.CodeUnauthorized, "blueprint.list", nil)
	laptop.Refused(t, blueprint.CodeUnauthorized, "apiKey.revoke", object{"id": id})
	s.Advance(t, "1m")
	ada.OK(t, "apiKey.revoke", object{"id": id}) // again changes nothing
	servertest.Shape(t, "in the end", ada.OK(t, "apiKey.list", nil).([]any)[1], strings.Replace(used, `"revokedAt": null`, `"revokedAt": "2030-05-01T12:02:00.000Z"`, 1))

	// A key that revokes itself is invalid from the next call on.
	own := at(ada.OK(t, "apiKey.list", nil).([]any)[0], "id")
	ada.OK(t, "apiKey.revoke", object{"id": own})
	ada.Refused(t, blueprint.CodeUnauthorized, "apiKey.list", nil)
	if answer := ada.Send(t, http.MethodPost, "/clock/advance", `{"by": "0s"}`); answer.Status != http.StatusUnauthorized {
		t.Errorf("the clock is moved with a revoked key: %d, want %v", answer.Status, http.StatusUnauthorized)
	}
}

// TestKeysOfHeaders sends a valid key in supported and unsupported ways.
func TestKeysOfHeaders(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	for header, status := range map[string]int{
		"Bearer " + testKey: 200, "bearer " + testKey: 200, "BEARER   " + testKey + " ": 200,
		"": 401, testKey: 401, "Basic " + testKey: 401, "Bearer": 401, "Bearer ": 401, "Bearer " + testKey + "x": 401, "Bearer " + testKey[1:]: 401,
		"Bearer " + strings.ToUpper(testKey): 401, "Bearer " + testKey + "," + testKey: 401, `Bearer "` + testKey + `"`: 401, "Bearer ' OR 1=1 --": 401,
	} {
		t.Run(header, func(t *testing.T) {
			p := servertest.Caller{Server: s, Authorization: header}
			if answer := p.Call(t, "blueprint.list", nil); answer.Status != status || status == 401 && answer.Code() != "UNAUTHORIZED" {
				t.Errorf("%d %s", answer.Status, answer.Text)
			}
		})
	}
	for _, path := range []string{"/api/trpc/blueprint.list?key=" + testKey, "/api/trpc/blueprint.list?authorization=Bearer%20" + testKey, `/api/trpc/blueprint.list?connectionParams={"authorization":"Bearer%20` + testKey + `"}`} {
		if answer := (servertest.Caller{Server: s}).Send(t, http.MethodGet, path, ""); answer.Status != 401 {
			t.Errorf("%s: %d, want 401", path, answer.Status)
		}
	}
}

// TestKeyRevokedByAnotherProcess revokes a key on the command line that a running server
// has cached.
func TestKeyRevokedByAnotherProcess(t *testing.T) {
	t.Parallel()
	program := process.Path(t)
	path := filepath.Join(t.TempDir(), "keys.db")
	s := servertest.New(t, servertest.OnFile(path))
	blueprintd := func(args ...string) string {
		t.Helper()
		command := exec.Command(program, append(args, "--db", path)...)
		command.Stderr = os.Stderr
		out, err := command.Output()
		if err != nil {
			t.Fatalf("blueprintd %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return strings.TrimSpace(string(out))
	}
	blueprintd("user", "add", "--email", "eva@example.org", "--name", "Eva")
	key := blueprintd("key", "create", "--user", "eva@example.org", "--name", "other process")
	eva := servertest.Caller{Server: s, Authorization: "Bearer " + key}
	made := eva.OK(t, "blueprint.create", object{"title": "t"})
	servertest.Shape(t, "the keys", eva.OK(t, "apiKey.list", nil).([]any)[0].(object)["last4"], fmt.Sprintf("%q", key[len(key)-4:]))
	id := at(eva.OK(t, "apiKey.list", nil).([]any)[0], "id").(string)
	for range 3 {
		eva.OK(t, "blueprint.get", object{"id": at(made, "id")})
	}
	blueprintd("key", "revoke", id)
	eva.Refused(t, blueprint.CodeUnauthorized, "blueprint.get", object{"id": at(made, "id")})
	again := blueprintd("key", "create", "--user", "eva@example.org", "--name", "another")
	eva.Authorization = "Bearer " + again
	eva.OK(t, "blueprint.get", object{"id": at(made, "id")})
}

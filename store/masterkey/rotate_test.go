package masterkey_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/command"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/ids"
	"blueprintd/foundation/secret"
	"blueprintd/server"
	"blueprintd/store"
	"blueprintd/store/masterkey"
	"blueprintd/tests/servertest"
)

// sealedFile is a database file with something of everything that is encrypted,
// closed; read starts a server on it, wherever it lies, and sees that all of it
// can be read.
func sealedFile(t *testing.T) (path string, read func(t *testing.T, path string)) {
	path = filepath.Join(t.TempDir(), "sealed.db")
	s := servertest.New(t, servertest.OnFile(path), servertest.AtNoon)
	const token, hook = "canary-of-the-variable", "canary-of-the-hook"
	id := s.Root.IDOf(t, "blueprint.create", object{
		"title": "sealed", "blueprint_map": object{"nodes": []any{
			node("ask", "human", object{"prompt": "say"}),
			node("tell", "template", object{"text": "{{token}} {{nodes.ask.output.word}}"}),
		}},
		"environment_variables": []any{object{"name": "token", "secret": true, "default": token}},
	})
	trigger := s.Root.IDOf(t, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": "webhook", "config": object{"secret": hook}})
	connection := s.Root.IDOf(t, "connection.create", object{"name": "c", "type": "slack", "config": object{"botToken": "canary-of-slack"}})
	start := func() string {
		run, _ := at(s.Root.OK(t, "blueprint.execute", object{"id": id}), "executionId").(string)
		return run
	}
	waiting, ended := start(), start()
	s.Root.OK(t, "execution.resume", object{"executionId": ended, "input": object{"word": "ended"}})
	s.Advance(t, "0s")
	s.Stop()
	return path, func(t *testing.T, path string) {
		t.Helper()
		s := servertest.New(t, servertest.OnFile(path), servertest.AtNoon)
		defer s.Stop()
		if got := at(at(s.Root.OK(t, "blueprint.get", object{"id": id}), "environment_variables").([]any)[0], "default"); got != token {
			t.Errorf("the variable is %v, want %v", got, token)
		}
		if got := at(s.Root.OK(t, "blueprintTriggers.getWebhookUrl", object{"triggerId": trigger}), "secret"); got != hook {
			t.Errorf("the webhook's secret is %v, want %v", got, hook)
		}
		if c, err := s.Store.ConnectionForUse(t.Context(), blueprint.Authority{PrincipalID: s.Root.ID}, connection); err != nil || c.Config["botToken"] != "canary-of-slack" {
			t.Errorf("the connection is %v, %v; want botToken canary-of-slack", c, err)
		}
		s.Root.OK(t, "execution.resume", object{"executionId": waiting, "input": object{"word": "resumed"}})
		again, _ := at(s.Root.OK(t, "execution.retry", object{"executionId": ended, "fromNodeId": "tell"}), "executionId").(string)
		s.Advance(t, "0s")
		for id, want := range map[string]string{waiting: "*** resumed", again: "*** ended"} {
			status := s.Root.OK(t, "execution.getExecutionStatus", object{"executionId": id})
			if text := servertest.Encoded(t, status); at(status, "status") != "completed" || !strings.Contains(text, want) {
				t.Errorf("a run came to %s, want %q", text, want)
			}
		}
	}
}

// rotating is a rotation of the key of a database.
func rotating(t *testing.T, path string) *masterkey.Rotation {
	t.Helper()
	logger := slog.New(slog.DiscardHandler)
	key, err := masterkey.Read(path, "", logger)
	if err != nil || key.Sealer == nil {
		t.Fatalf("the key: %v", err)
	}
	return &masterkey.Rotation{Key: key, Store: store.Options{Path: path, Schema: schema, Clock: clock.Real{}, IDs: ids.New(nil), Logger: logger}}
}

// powerCut copies what would be on the disk after a power cut: all files but
// the index of the log, which is never synced.
func powerCut(t *testing.T, from string) string {
	t.Helper()
	to := t.TempDir()
	entries, err := os.ReadDir(from)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if strings.HasSuffix(entry.Name(), "-shm") {
			continue
		}
		data, err := os.ReadFile(filepath.Join(from, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(to, entry.Name()), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return to
}

// TestRotateCutOff ends a rotation after each of its steps, as a kill or a power
// cut would: whatever comes next finds everything readable, and the rotation can
// be finished.
func TestRotateCutOff(t *testing.T) {
	t.Parallel()
	path, read := sealedFile(t)
	folder, name := filepath.Dir(path), filepath.Base(path)
	before, err := os.ReadFile(path + ".key")
	if err != nil {
		t.Fatal(err)
	}
	states := map[string]string{}
	var steps []string
	r := rotating(t, path)
	r.After = func(step string) error {
		steps = append(steps, step)
		states[step] = powerCut(t, folder)
		return nil
	}
	report, err := r.Run(t.Context())
	if err != nil || report.Values < 6 || report.Finished {
		t.Fatalf("report %+v, %v; want Values at least 6 and not Finished", report, err)
	}
	if want := []string{"new", "switch", "name"}; !slices.Equal(steps, want) {
		t.Fatalf("steps %q, want %q", steps, want)
	}
	for step, state := range states {
		path := filepath.Join(state, name)
		switched := step == "switch" || step == "name"
		t.Run("then a server after "+step, func(t *testing.T) {
			copied := filepath.Join(powerCut(t, state), name)
			read(t, copied)
			key, err := os.ReadFile(copied + ".key")
			if err != nil || switched == (string(key) == string(before)) {
				t.Errorf("the key is not the one of the database: %v", err)
			}
			if _, err := os.Stat(copied + ".key" + masterkey.NewSuffix); (err == nil) == switched {
				t.Errorf("the new key beside it: %v, want other than %v", err, switched)
			}
		})
		t.Run("then a rotation after "+step, func(t *testing.T) {
			report, err := rotating(t, path).Run(t.Context())
			if err != nil || report.Finished != (step == "switch") {
				t.Fatalf("report %+v, %v", report, err)
			}
			read(t, path)
		})
	}
	t.Run("to the end", func(t *testing.T) {
		kept, err := os.ReadFile(path + ".key")
		if lines := strings.SplitAfter(string(kept), "\n"); err != nil || len(lines) != 3 || lines[1] != string(before) || report.OldKeys != 1 {
			t.Errorf("the old key is not kept: %+v %v, want length 3, %v and OldKeys 1", report, err, string(before))
		}
		if info, err := os.Stat(path + ".key"); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("the key file: %v, %v; want Perm %v", info, err, 0o600)
		}
		read(t, path)
	})
}

// TestRotateTidiesUp removes what a rotation left that was killed while it wrote
// the new key, leaves what is no such thing or of a process that goes on, and
// tells how many old keys there are until it is to forget them.
func TestRotateTidiesUp(t *testing.T) {
	t.Parallel()
	path, read := sealedFile(t)
	gone := exec.Command(os.Args[0], "-test.run=^$")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	stale := fmt.Sprintf("%s.key.new.%d.123456.tmp", path, gone.Process.Pid)
	kept := []string{
		fmt.Sprintf("%s.key.new.%d.tmp", path, os.Getppid()), fmt.Sprintf("%s.key.new.0%d.tmp", path, gone.Process.Pid),
		fmt.Sprintf("%s.key.new.%d.x.tmp", path, gone.Process.Pid), path + ".key.new.-1.tmp", path + ".key.new.0.tmp", path + ".key.new.x.tmp", path + ".key.new.tmp", path + ".key.old-notes",
		fmt.Sprintf("%s2.key.new.%d.tmp", path, gone.Process.Pid),
	}
	for _, name := range append(kept, stale) {
		if err := os.WriteFile(name, []byte("half a key"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	first, err := rotating(t, path).Run(t.Context())
	if err != nil || !slices.Equal(first.Removed, []string{stale}) || first.OldKeys != 1 {
		t.Fatalf("first %+v, %v; want %v and OldKeys 1", first, err, []string{stale})
	}
	for _, name := range kept {
		if _, err := os.Stat(name); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(stale); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is there: %v, want %v", stale, err, fs.ErrNotExist)
	}
	second, err := rotating(t, path).Run(t.Context())
	if err != nil || len(second.Removed) > 0 || second.OldKeys != 2 {
		t.Errorf("second %+v, %v; want none and OldKeys 2", second, err)
	}
	if err := os.WriteFile(stale, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var out, failure strings.Builder
	code := run([]string{"blueprintd", "master-key", "rotate", "--db", path}, strings.NewReader(""), &out, &failure)
	for _, want := range []string{"removed " + stale, "3 old keys"} {
		if code != 0 || !strings.Contains(out.String(), want) {
			t.Errorf("%d, without %q: %s%s", code, want, out.String(), failure.String())
		}
	}
	// One that was cut off is finished, and forgets what it would have kept.
	cutRotation(t, path)
	for _, finished := range []bool{true, false} {
		forgetful := rotating(t, path)
		forgetful.Forget = true
		report, err := forgetful.Run(t.Context())
		if err != nil || report.Finished != finished || report.OldKeys != 0 {
			t.Errorf("forgetful %+v, %v; want Finished %v and OldKeys 0", report, err, finished)
		}
		if data, err := os.ReadFile(path + ".key"); err != nil || strings.Count(string(data), "\n") != 1 {
			t.Errorf("the key file has %d lines, %v; want 1", strings.Count(string(data), "\n"), err)
		}
	}
	read(t, path)
}

func TestRotateRefuses(t *testing.T) {
	t.Parallel()
	path, read := sealedFile(t)
	before := powerCut(t, filepath.Dir(path))
	cutOff := errors.New("cut off")
	for name, test := range map[string]struct {
		spoil func(r *masterkey.Rotation) context.Context
		want  string
	}{
		"a wrong key": {func(r *masterkey.Rotation) context.Context {
			r.Key.Sealer, _ = secret.NewSealer(secret.NewKey())
			return t.Context()
		}, "encrypted with another master key"},
		"interrupted": {func(*masterkey.Rotation) context.Context {
			ctx, end := context.WithCancel(t.Context())
			end()
			return ctx
		}, "context canceled"},
		"cut off": {func(r *masterkey.Rotation) context.Context {
			r.After = func(string) error { return cutOff }
			return t.Context()
		}, "cut off"},
	} {
		t.Run(name, func(t *testing.T) {
			r := rotating(t, path)
			if _, err := r.Run(test.spoil(r)); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
	s := servertest.New(t, servertest.OnFile(path), servertest.AtNoon)
	_, err := rotating(t, path).Run(t.Context())
	if message, hint := blueprint.DescribeError(err); !strings.Contains(message, "another server has the database open") || !strings.Contains(hint, "stop that server first") {
		t.Errorf("beside a server: %q, %q; want \"another server has the database open\" in it and \"stop that server first\" in it", message, hint)
	}
	s.Stop()
	was, _ := os.ReadFile(filepath.Join(before, filepath.Base(path)+".key"))
	if is, err := os.ReadFile(path + ".key"); string(was) != string(is) || err != nil {
		t.Errorf("the key was changed: %v, want %v", err, string(is))
	}
	read(t, path)
}

// TestRotateCommand rotates as people do, through a link to the key, and lets
// doctor look at what a rotation that was cut off leaves.
func TestRotateCommand(t *testing.T) {
	t.Parallel()
	path, read := sealedFile(t)
	elsewhere := filepath.Join(t.TempDir(), "key")
	if err := errors.Join(os.Rename(path+".key", elsewhere), os.Symlink(elsewhere, path+".key")); err != nil {
		t.Fatal(err)
	}
	called := func(args ...string) (int, string) {
		var out, failure strings.Builder
		code := run(append([]string{"blueprintd"}, args...), strings.NewReader(""), &out, &failure)
		return code, out.String() + failure.String()
	}
	cutRotation(t, path)
	const fits = "ok       master key   it belongs to the database"
	if _, text := called("doctor", "--db", path); !strings.Contains(text, fits) || !strings.Contains(text, "a rotation of the master key was interrupted") {
		t.Errorf("doctor: %s, want %q in it and \"a rotation of the master key was interrupted\" in it", text, fits)
	}
	if code, text := called("master-key", "rotate", "--db", path); code != 0 || !strings.Contains(text, "finished an interrupted rotation: "+elsewhere) {
		t.Errorf("the first: %d %s, want 0 and %q in it", code, text, "finished an interrupted rotation: "+elsewhere)
	}
	code, text := called("master-key", "rotate", "--db", path, "--json")
	if value := servertest.Decoded(t, text); code != 0 || at(value, "key") != elsewhere || fmt.Sprint(at(value, "oldKeys")) != "2" {
		t.Errorf("the second: %d %s, want 0, key %v and 2", code, text, elsewhere)
	}
	if info, err := os.Lstat(path + ".key"); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v, want other than 0", err)
	}
	if _, text := called("doctor", "--db", path); !strings.Contains(text, fits) || strings.Contains(text, "cut off") {
		t.Errorf("doctor: %s, want %q in it and no \"cut off\"", text, fits)
	}
	read(t, path)
	for _, wrong := range [][]string{{"--db", path + "x"}, {"--db", path, "--master-key-file", path + "x"}} {
		if code, text := called(append([]string{"master-key", "rotate"}, wrong...)...); code != command.ExitFailed || !strings.Contains(text, "hint: ") {
			t.Errorf("%q: %d %s, want %v and \"hint: \" in it", wrong, code, text, command.ExitFailed)
		}
	}
}

// cutRotation begins a rotation that ends after the switch to the new key.
func cutRotation(t *testing.T, path string) {
	t.Helper()
	cut := rotating(t, path)
	cut.After = func(step string) error {
		if step == "switch" {
			return io.ErrUnexpectedEOF
		}
		return nil
	}
	if _, err := cut.Run(t.Context()); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatalf("%v, want %v", err, io.ErrUnexpectedEOF)
	}
}

// refusal returns the error of a server that opens a database with a key.
func refusal(t *testing.T, key masterkey.Key, path string) error {
	t.Helper()
	_, err := key.Open(func(sealer *secret.Sealer) (*store.Store, error) {
		return store.Open(t.Context(), store.Options{Path: path, Server: true, Schema: schema, Sealer: sealer, Clock: clock.Real{}, IDs: ids.New(nil), Logger: slog.New(slog.DiscardHandler)})
	})
	return err
}

// TestNoKeyBesideAnOpenDatabase starts a second server, without the key of the first one. It leaves
// no other key.
func TestNoKeyBesideAnOpenDatabase(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "open.db")
	servertest.New(t, servertest.OnFile(path), func(o *server.Options) { o.MasterKeyFile = path + ".elsewhere" })
	second, err := masterkey.Open(path, "", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	err = refusal(t, second, path)
	if err == nil || !strings.Contains(err.Error(), "another server has the database open") {
		t.Errorf("the second server: %v, want \"another server has the database open\"", err)
	}
	if _, err := os.Stat(path + ".key"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("its master key: %v, want none", err)
	}
}

// TestNewKeyOfTheFasterServer starts two servers at once where there is no database yet. One
// creates the master key; the other one reads it and is the first to open the database.
func TestNewKeyOfTheFasterServer(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "new.db")
	slower, err := masterkey.Open(path, "", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	s := servertest.New(t, servertest.OnFile(path))
	err = refusal(t, slower, path)
	if err == nil || !strings.Contains(err.Error(), "another server has the database open") {
		t.Errorf("the slower server: %v, want \"another server has the database open\"", err)
	}
	s.Stop()
	if _, err := os.Stat(path + ".key"); err != nil {
		t.Errorf("the master key of the faster server: %v", err)
	}
}

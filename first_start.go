package main

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/blueprint/file"
)

// sample is the blueprint that a first start comes with.
//
//go:embed testdata/blueprints/hello.blueprint.yaml
var sample []byte

// welcome is what a start has to tell: what is new on a first one.
type welcome struct {
	apiKey  string // made or given at this start
	made    bool   // made: shown this once
	hook    string // trigger of the sample blueprint
	fresh   bool   // there was no user before
	keyless bool   // the first user has no key to use
	setup   string // link with which the first user sets a password; "" when somebody has one
	account blueprint.User
}

// firstStart makes the first user, a key and the sample blueprint where there
// is nobody yet, gives a key from the command line to the first user, and makes
// the link with which they set a password as long as nobody has one. The audit log
// has no lines of it: nobody did it.
func (s *server) firstStart(ctx context.Context) (w welcome, err error) {
	if w, err = s.firstKey(ctx); err != nil {
		return w, err
	}
	some, err := s.store.AnyPassword(ctx)
	if err == nil && !some {
		w.setup, err = s.accounts.NewLink(ctx, w.account.ID)
	}
	return w, err
}

func (s *server) firstKey(ctx context.Context) (w welcome, err error) {
	w.account, err = s.store.FirstUser(ctx)
	if blueprint.CodeOf(err) == blueprint.CodeNotFound {
		w.fresh = true
		w.account, err = s.store.CreateUser(ctx, "admin@localhost", "Admin")
	}
	if err != nil {
		return w, err
	}
	switch {
	case s.options.apiKey != "":
		w.apiKey = s.options.apiKey
	case w.fresh:
		w.apiKey, w.made = newKey(), true
	default:
		keys, err := s.store.Keys(ctx, blueprint.Principal{UserID: w.account.ID})
		w.keyless = !slices.ContainsFunc(keys, func(key blueprint.APIKey) bool { return key.RevokedAt == 0 })
		return w, err
	}
	if _, err := s.store.CreateKey(ctx, w.account.ID, "first key", w.apiKey); err != nil {
		return w, err
	}
	if w.made && !s.options.ephemeral {
		w.hook, err = s.addSample(ctx, w.account)
	}
	return w, err
}

// addSample stores the sample blueprint and gives the id of its webhook trigger.
func (s *server) addSample(ctx context.Context, owner blueprint.User) (string, error) {
	document, err := file.Parse("hello.blueprint.yaml", sample)
	if err != nil {
		return "", err
	}
	r := &fileReader{b: &blueprintFile{document: document}}
	r.read()
	principal := blueprint.Principal{UserID: owner.ID}
	id, err := importBlueprint(ctx, s.store, principal, r.b)
	if err != nil {
		return "", err
	}
	found, err := s.store.ListTriggers(ctx, principal, id)
	if err != nil || len(found) == 0 {
		return "", err
	}
	return found[0].ID, nil
}

// announce says where things are and what to paste next, and writes the ready
// file.
func (s *server) announce() error {
	host, w := s.apiHost(), s.welcome
	var text strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&text, format+"\n", args...) }
	say("blueprintd %s is ready on %s", version, host)
	if s.options.ephemeral {
		say("  database  in memory; nothing is kept")
	} else {
		say("  database  %s (master key: %s; keep copies of both, apart)", absolute(s.options.db), absolute(masterKeyFile(s.options.db, s.options.masterKeyFile)))
	}
	if s.options.publicURL != "" || s.certificates != nil {
		say("  listens   %s://%s", s.scheme(), s.listener.Addr())
	}
	if s.certificates != nil {
		say("  TLS       %s", s.certificates.about())
	}
	say("  API       %s/api/trpc", host)
	if w.setup == "" {
		say("  dashboard %s/", host)
	} else {
		say("  dashboard %s%s  (sets your password; works once, for 24 hours)", host, w.setup)
	}
	if at := s.smtpAddress(); at != "" {
		say("  mail      SMTP on %s, for addresses @%s", at, s.mailDomain())
	}
	if danger := s.exposed(); danger != "" {
		say("  WARNING   %s; %s", danger, exposedHint)
	}
	if w.made {
		say("  API key   %s  (shown this once; it belongs to %s)", w.apiKey, w.account.Email)
	}
	if w.keyless {
		keyFile := s.options.masterKeyFile
		if keyFile != "" {
			keyFile = absolute(keyFile)
		}
		say("  API key   %s has none yet; make one: %s", w.account.Email, keyCommand(w.account.Email, absolute(s.options.db), keyFile))
	}
	if w.hook != "" {
		say("\nTry the sample blueprint:\n")
		say("  curl -H 'Content-Type: application/json' -d '{\"name\": \"Ada\"}' %s/webhooks/blueprint/%s\n", host, w.hook)
		say("and see its run:\n")
		say("  curl -H 'Authorization: Bearer %s' %s/api/trpc/execution.listRecentExecutions\n", w.apiKey, host)
	}
	if _, err := s.options.out.Write([]byte(text.String())); err != nil {
		return err
	}
	return s.writeReadyFile()
}

func absolute(path string) string {
	if full, err := filepath.Abs(path); err == nil {
		return full
	}
	return path
}

// writeReadyFile tells programs that wait for the server where it is.
func (s *server) writeReadyFile() error {
	if s.options.readyFile == "" {
		return nil
	}
	ready := struct {
		BaseURL      string `json:"baseUrl"`
		APIHost      string `json:"apiHost"`
		DashboardURL string `json:"dashboardUrl"`
		SMTPAddr     string `json:"smtpAddr,omitempty"`
		APIKey       string `json:"apiKey,omitempty"`
		PID          int    `json:"pid"`
	}{s.apiHost() + "/api/trpc", s.apiHost(), s.apiHost() + "/", s.smtpAddress(), s.welcome.apiKey, os.Getpid()}
	data, err := indented(ready)
	if err != nil {
		return err
	}
	if err := writeFile(s.options.readyFile, data, false); err != nil {
		return failed("name a file in a folder that exists", "the ready file %s cannot be written: %s", s.options.readyFile, cause(err))
	}
	return nil
}

// removeReadyFile takes the ready file away at the end, unless another server
// has written its own there meanwhile.
func (s *server) removeReadyFile() {
	if s.options.readyFile == "" {
		return
	}
	data, err := readFile(s.options.readyFile, 1<<16)
	if err == nil && strings.Contains(string(data), fmt.Sprintf("\"pid\": %d\n", os.Getpid())) {
		os.Remove(s.options.readyFile)
	}
}

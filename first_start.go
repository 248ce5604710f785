package main

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/blueprint/document"
	"blueprintd/foundation/fileio"
	"blueprintd/foundation/ids"
	"blueprintd/project"
	"blueprintd/rpc"
	"blueprintd/store/masterkey"
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
	keyless bool   // the owner has no key to use
	setup   string // link with which the owner sets a password; "" when somebody has one
	account blueprint.User
	seeded  *seeded // what the seed file made or found; nil = there is none
}

// firstStart creates the server's owner, a key and the sample blueprint where there
// is nobody yet, gives a key from the command line to the owner, and makes
// the link with which they set a password as long as nobody has one: all of it, or
// nothing, so that a start that is cut off is a first one again. The audit log has
// no lines of it: nobody did it.
func (s *server) firstStart(ctx context.Context) (w welcome, err error) {
	err = s.store.Transact(ctx, func() (err error) {
		w, err = s.settle(ctx)
		return err
	})
	return w, err
}

func (s *server) settle(ctx context.Context) (w welcome, err error) {
	var sower *sower
	if s.options.seed != nil {
		sower = newSower(s)
		_, first := s.store.ServerOwner(ctx)
		w.fresh = blueprint.CodeOf(first) == blueprint.CodeNotFound
		if err := sower.sowUsers(ctx); err != nil {
			return w, sower.failed(err)
		}
	}
	if w, err = s.firstKey(ctx, w, sower); err != nil {
		return w, err
	}
	if sower != nil {
		if err := sower.sow(ctx); err != nil {
			return w, sower.failed(err)
		}
		w.seeded = sower.done
	}
	some, err := s.store.AnyPassword(ctx)
	if err == nil && !some && s.guessable() == "" {
		w.setup, err = s.accounts.NewLink(ctx, w.account.ID)
	}
	return w, err
}

// firstKey creates the server's owner, unless there is one, and their key at the first
// start, unless the seed has given them one.
func (s *server) firstKey(ctx context.Context, w welcome, from *sower) (_ welcome, err error) {
	w.account, err = s.store.ServerOwner(ctx)
	if blueprint.CodeOf(err) == blueprint.CodeNotFound {
		w.fresh = true
		w.account, err = s.store.CreateUser(ctx, "admin@localhost", "Admin")
	}
	if err != nil {
		return w, err
	}
	given := ""
	if from != nil {
		given = from.keyOf(w.account.Email)
		if has, err := s.store.HasKey(ctx, w.account.ID, given); err != nil || !has {
			given = "" // they were there before the seed, or it was revoked
			if err != nil {
				return w, err
			}
		}
	}
	switch {
	case s.options.apiKey != "":
		w.apiKey = s.options.apiKey
	case given != "":
		w.apiKey = given
		return w, nil
	case w.fresh:
		w.apiKey, w.made = newKey(s.ids.Stream("first key")), true
	default:
		keys, err := s.store.Keys(ctx, blueprint.Principal{UserID: w.account.ID})
		w.keyless = !slices.ContainsFunc(keys, func(key blueprint.APIKey) bool { return key.RevokedAt == 0 })
		return w, err
	}
	if _, err := s.store.CreateKey(ctx, w.account.ID, "first key", w.apiKey); err != nil {
		return w, err
	}
	if w.made && !s.options.ephemeral && from == nil {
		w.hook, err = s.addSample(ctx, w.account)
	}
	return w, err
}

// addSample stores the sample blueprint and gives the id of its webhook trigger.
func (s *server) addSample(ctx context.Context, owner blueprint.User) (string, error) {
	doc, err := document.Parse("hello.blueprint.yaml", sample)
	if err != nil {
		return "", err
	}
	r := &project.Reader{Blueprint: &project.Blueprint{Document: doc}}
	r.Read()
	principal := blueprint.Principal{UserID: owner.ID}
	id, err := importBlueprint(ctx, s.store, principal, r.Blueprint)
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
	if s.options.readyFile == readyOnOutput {
		return s.announceToProgram()
	}
	host, w := s.apiHost(), s.welcome
	var text strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&text, format+"\n", args...) }
	say("blueprintd %s is ready on %s", s.options.version, host)
	if s.options.ephemeral {
		say("  database  in memory; nothing is kept")
	} else {
		say("  database  %s (master key: %s; keep copies of both, apart)", fileio.Absolute(s.options.db), fileio.Absolute(masterkey.File(s.options.db, s.options.masterKeyFile)))
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
	if s.fakes != nil {
		say("  SANDBOX   nothing real is reached: fakes answer all that goes out; see %s/sandbox/calls", host)
	}
	if virtual := s.options.virtual(); virtual != nil {
		say("  CLOCK     virtual: it stands at %s until POST %s/clock/advance moves it", blueprint.TimeOf(virtual.Now()), host)
	}
	if danger := s.exposed(); danger != "" {
		say("  WARNING   %s; %s", danger, exposedHint)
	}
	if danger := s.guessable(); danger != "" {
		say("  WARNING   %s; %s", danger, guessableHint)
	}
	if w.made {
		say("  API key   %s  (shown this once; it belongs to %s)", w.apiKey, w.account.Email)
	}
	if w.keyless {
		keyFile := s.options.masterKeyFile
		if keyFile != "" {
			keyFile = fileio.Absolute(keyFile)
		}
		say("  API key   %s has none yet; make one: %s", w.account.Email, keyCommand(w.account.Email, fileio.Absolute(s.options.db), keyFile))
	}
	if w.seeded != nil {
		say("%s", w.seeded.table(s.options.seed.Name))
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

// keyCommand is the command that makes a key for a user.
func keyCommand(email, db, masterKeyFile string) string {
	text := "blueprintd key create --user " + blueprint.ShellWord(email) + " --name laptop --db " + blueprint.ShellWord(db)
	if masterKeyFile != "" {
		text += " --master-key-file " + blueprint.ShellWord(masterKeyFile)
	}
	return text
}

// newKey makes an API key.
func newKey(source *ids.Source) string { return rpc.KeyPrefix + source.Token(rpc.KeyLength) }

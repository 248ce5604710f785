package server

import (
	"context"
	_ "embed"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/blueprint/document"
	"blueprintd/foundation/fileio"
	"blueprintd/project"
	"blueprintd/server/accounts"
	"blueprintd/store/masterkey"
)

// sample is the blueprint of a first start.
//
//go:embed sample.blueprint.yaml
var sample []byte

type bootstrapped struct {
	APIKey    string // created or given at this start
	Made      bool   // the key was created, and is shown only now
	webhookID string // trigger of the sample blueprint
	Fresh     bool   // there was no user before
	keyless   bool   // the owner has no usable key
	Setup     string // link with which the owner sets a password; "" if any user has one
	Account   blueprint.User
	Seeded    *seeded // nil = no seed file
}

// firstStart creates the server's owner, a key and the sample blueprint if there is no user
// yet, stores a key from the command line, and creates the link for the owner's password as
// long as no user has one, unless another process of the server is running. It is one
// transaction, so that an interrupted first start is repeated. It writes no audit entries.
func (s *Server) firstStart(ctx context.Context) (w bootstrapped, err error) {
	err = s.Store.Transact(ctx, func() (err error) {
		w, err = s.bootstrap(ctx)
		return err
	})
	return w, err
}

func (s *Server) bootstrap(ctx context.Context) (w bootstrapped, err error) {
	var seeder *seeder
	if s.Options.Seed != nil {
		seeder = newSeeder(s)
		_, first := s.Store.ServerOwner(ctx)
		w.Fresh = blueprint.CodeOf(first) == blueprint.CodeNotFound
		if err := seeder.addUsers(ctx); err != nil {
			return w, seeder.failed(err)
		}
	}
	if w, err = s.ownerKey(ctx, w, seeder); err != nil {
		return w, err
	}
	if seeder != nil {
		if err := seeder.apply(ctx); err != nil {
			return w, seeder.failed(err)
		}
		w.Seeded = seeder.done
	}
	some, err := s.Store.AnyPassword(ctx)
	if err != nil || some || s.predictableKeys() != "" {
		return w, err
	}
	// A new link invalidates the one that another process has printed. Of processes that start
	// together, the one that created the owner makes it.
	alone, err := s.Store.IsAlone(ctx)
	if err == nil && (alone || w.Fresh) {
		w.Setup, err = s.Accounts.NewLink(ctx, w.Account.ID)
	}
	return w, err
}

// ownerKey creates the server's owner if there is none, and at the first start a key unless
// the seed has one.
func (s *Server) ownerKey(ctx context.Context, w bootstrapped, from *seeder) (_ bootstrapped, err error) {
	w.Account, err = s.Store.ServerOwner(ctx)
	if blueprint.CodeOf(err) == blueprint.CodeNotFound {
		w.Fresh = true
		w.Account, err = s.Store.CreateUser(ctx, "admin@localhost", "Admin")
	}
	if err != nil {
		return w, err
	}
	given := ""
	if from != nil {
		given = from.keyOf(w.Account.Email)
		if has, err := s.Store.HasKey(ctx, w.Account.ID, given); err != nil || !has {
			given = "" // the user existed before the seed, or the key is revoked
			if err != nil {
				return w, err
			}
		}
	}
	switch {
	case s.Options.APIKey != "":
		w.APIKey = s.Options.APIKey
	case given != "":
		w.APIKey = given
		return w, nil
	case w.Fresh:
		w.APIKey, w.Made = s.IDs.Stream("first key").APIKey(), true
	default:
		keys, err := s.Store.Keys(ctx, blueprint.Principal{UserID: w.Account.ID})
		w.keyless = !slices.ContainsFunc(keys, func(key blueprint.APIKey) bool { return key.RevokedAt == 0 })
		return w, err
	}
	if _, err := s.Store.CreateKey(ctx, w.Account.ID, "first key", w.APIKey); err != nil {
		return w, err
	}
	if w.Made && !s.Options.Ephemeral && from == nil {
		w.webhookID, err = s.addSample(ctx, w.Account)
	}
	return w, err
}

// addSample stores the sample blueprint and returns the id of its webhook trigger.
func (s *Server) addSample(ctx context.Context, owner blueprint.User) (string, error) {
	doc, err := document.Parse("hello.blueprint.yaml", sample)
	if err != nil {
		return "", err
	}
	r := &project.Reader{Blueprint: &project.Blueprint{Document: doc}}
	r.Read()
	principal := blueprint.Principal{UserID: owner.ID}
	id, err := ImportBlueprint(ctx, s.Store, principal, r.Blueprint)
	if err != nil {
		return "", err
	}
	found, err := s.Store.ListTriggers(ctx, principal, id)
	if err != nil || len(found) == 0 {
		return "", err
	}
	return found[0].ID, nil
}

// Announce prints the addresses of the server, and writes the ready file.
func (s *Server) Announce() error {
	if s.Options.ReadyFile == ReadyOnOutput {
		return s.announceToProgram()
	}
	host, w := s.APIHost(), s.Bootstrap
	var text strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&text, format+"\n", args...) }
	say("blueprintd %s is ready on %s", s.Options.Version, host)
	if s.Options.Ephemeral {
		say("  database  in memory; nothing is stored")
	} else {
		key := fileio.Absolute(masterkey.File(s.Options.DB, s.Options.MasterKeyFile))
		if masterkey.IsCredential(key) { // a copy in memory, which is gone when the service stops
			key = "the file that the service loads as credential " + filepath.Base(key)
		}
		say("  database  %s (master key: %s; keep copies of both in separate places)", s.Store.Name(), key)
	}
	if s.Options.URL != "" {
		say("  commits   an acknowledged run survives %s", s.Store.Durability())
	}
	if s.Options.PublicURL != "" || s.Certificates != nil {
		say("  listens   %s://%s", s.scheme(), s.Listener.Addr())
	}
	if s.Certificates != nil {
		say("  TLS       %s", s.Certificates.About())
	}
	say("  API       %s/api/trpc", host)
	if w.Setup == "" {
		say("  dashboard %s/", host)
	} else {
		say("  dashboard %s%s  (sets your password; works once, for 24 hours)", host, w.Setup)
	}
	if at := s.SMTPAddress(); at != "" {
		say("  mail      SMTP on %s, for addresses @%s", at, s.mailDomain())
	}
	if s.sandbox != nil {
		say("  SANDBOX   no real service is reached: fakes answer all outbound calls; see %s/sandbox/calls", host)
	}
	if virtual := s.Options.Virtual(); virtual != nil {
		say("  CLOCK     virtual: stays at %s until POST %s/clock/advance moves it", blueprint.TimeOf(virtual.Now()), host)
	}
	if danger := s.exposed(); danger != "" {
		say("  WARNING   %s; %s", danger, exposedHint)
	}
	if limit := s.underPath(); limit != "" {
		say("  WARNING   %s; %s", limit, underPathHint)
	}
	if danger := s.predictableKeys(); danger != "" {
		say("  WARNING   %s; %s", danger, predictableKeysHint)
	}
	if w.Made {
		say("  API key   %s  (shown only once; it belongs to %s)", w.APIKey, w.Account.Email)
	}
	if w.keyless {
		keyFile := s.Options.MasterKeyFile
		if keyFile != "" {
			keyFile = fileio.Absolute(keyFile)
		}
		say("  API key   %s has none yet; create one: %s", w.Account.Email, accounts.KeyCommand(w.Account.Email, s.Store.Name(), keyFile))
	}
	if w.Seeded != nil {
		say("%s", w.Seeded.table(s.Options.Seed.Name))
	}
	if w.webhookID != "" {
		say("\nTry the sample blueprint:\n")
		say("  curl -H 'Content-Type: application/json' -d '{\"name\": \"Ada\"}' %s%s\n", host, blueprint.KindOf(blueprint.TriggerWebhook).PathTo(w.webhookID))
		say("and see its run:\n")
		say("  curl -H 'Authorization: Bearer %s' %s/api/trpc/execution.listRecentExecutions\n", w.APIKey, host)
	}
	if _, err := s.Options.Out.Write([]byte(text.String())); err != nil {
		hint := "free some space, if it goes to a file"
		if w.Made {
			hint = "create another key: " + accounts.KeyCommand(w.Account.Email, s.Store.Name(), fileio.Absolute(masterkey.File(s.Options.DB, s.Options.MasterKeyFile)))
		}
		s.Options.Logger.Warn("addresses cannot be printed", "error", err, "hint", hint)
	}
	return s.writeReadyFile()
}

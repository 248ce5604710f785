package blueprint_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
)

// Only versions of the principal need no grant, whatever their order.
func TestAuthorityOthers(t *testing.T) {
	mine, yours := blueprint.VersionRef{BlueprintID: "b1", Version: "1.0.0", Author: "ada"}, blueprint.VersionRef{BlueprintID: "b2", Version: "2.0.0", Author: "bob"}
	authorless := blueprint.VersionRef{BlueprintID: "b3"}
	for name, test := range map[string]struct{ versions, want []blueprint.VersionRef }{
		"none":             {nil, nil},
		"own":              {[]blueprint.VersionRef{mine}, nil},
		"other":            {[]blueprint.VersionRef{yours}, []blueprint.VersionRef{yours}},
		"parent of other":  {[]blueprint.VersionRef{yours, mine}, []blueprint.VersionRef{yours}},
		"without author":   {[]blueprint.VersionRef{mine, authorless}, []blueprint.VersionRef{authorless}},
		"several by other": {[]blueprint.VersionRef{yours, mine, yours}, []blueprint.VersionRef{yours, yours}},
	} {
		t.Run(name, func(t *testing.T) {
			got := blueprint.Authority{PrincipalID: "ada", Versions: test.versions}.Others()
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("versions that need a grant (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMissingGrantMessage(t *testing.T) {
	named := blueprint.Author{ID: "u", Name: "Bob", Email: "bob@example.org"}
	resource := func(kind blueprint.ResourceKind, name string) blueprint.Resource {
		return blueprint.Resource{Kind: kind, ID: "id-1", Name: name}
	}
	for name, test := range map[string]struct {
		author   blueprint.Author
		resource blueprint.Resource
		want     string
	}{
		"named connection":   {named, resource(blueprint.ResourceConnection, "CRM"), `version 1.2.3 by Bob (bob@example.org) may not use connection "CRM"`},
		"hidden connection":  {named, resource(blueprint.ResourceConnection, ""), `version 1.2.3 by Bob (bob@example.org) may not use a connection (id-1)`},
		"named sign-in":      {named, resource(blueprint.ResourceSignIn, "CRM"), `version 1.2.3 by Bob (bob@example.org) may not use the sign-in of connection "CRM"`},
		"hidden sign-in":     {named, resource(blueprint.ResourceSignIn, ""), `version 1.2.3 by Bob (bob@example.org) may not use the sign-in of a connection (id-1)`},
		"named secret":       {named, resource(blueprint.ResourceSecret, "key"), `version 1.2.3 by Bob (bob@example.org) may not use the secret variable "key"`},
		"hidden secret":      {named, resource(blueprint.ResourceSecret, ""), `version 1.2.3 by Bob (bob@example.org) may not use a secret variable`},
		"named blueprint":    {named, resource(blueprint.ResourceBlueprint, "Bills"), `version 1.2.3 by Bob (bob@example.org) may not use blueprint "Bills"`},
		"hidden file":        {named, resource(blueprint.ResourceFile, ""), `version 1.2.3 by Bob (bob@example.org) may not use a file (id-1)`},
		"author with a name": {blueprint.Author{ID: "u", Name: "Bob"}, resource(blueprint.ResourceFile, ""), `version 1.2.3 by Bob may not use a file (id-1)`},
		"author with email":  {blueprint.Author{ID: "u", Email: "b@e"}, resource(blueprint.ResourceFile, ""), `version 1.2.3 by b@e may not use a file (id-1)`},
		"hidden author":      {blueprint.Author{ID: "u"}, resource(blueprint.ResourceFile, ""), `version 1.2.3 by another user may not use a file (id-1)`},
	} {
		t.Run(name, func(t *testing.T) {
			grant := &blueprint.MissingGrant{BlueprintID: "b1", Version: "1.2.3", Author: test.author, Resource: test.resource}
			if got, _, _ := strings.Cut(grant.Error(), ": it has not been granted"); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// What has no version cannot be granted: the message and the hint must not offer it.
func TestMissingGrantOfPassedNodes(t *testing.T) {
	stored := &blueprint.MissingGrant{BlueprintID: "b1", Version: "1.2.3"}
	passed := &blueprint.MissingGrant{BlueprintID: "b1", Author: blueprint.Author{Name: "Bob"}, Resource: blueprint.Resource{Kind: blueprint.ResourceFile, ID: "f"}}
	if want := `blueprint.grant {"id": "b1", "version": "1.2.3"}`; !strings.Contains(stored.Hint(), want) {
		t.Errorf("the hint for a version is %q, without %s", stored.Hint(), want)
	}
	if got := passed.Hint(); strings.Contains(got, "blueprint.grant") || !strings.Contains(got, "save the nodes as a version") {
		t.Errorf("the hint for passed nodes is %q: want to save them, which can be granted, not to grant them now", got)
	}
	if got, want := passed.Message(), "nodes passed by Bob may not use a file (f) on behalf of another user"; got != want {
		t.Errorf("the message for passed nodes is %q, want %q", got, want)
	}
}

// A failure is stored, and read by users who may not know the names in it.
func TestFailureOfMissingGrantHidesNames(t *testing.T) {
	for kind, keeps := range map[blueprint.ResourceKind]bool{
		blueprint.ResourceConnection: false, blueprint.ResourceSignIn: false, blueprint.ResourceBlueprint: false, blueprint.ResourceFile: false,
		blueprint.ResourceSecret: true, // every reader of the blueprint sees the names of its variables
	} {
		t.Run(string(kind), func(t *testing.T) {
			full := blueprint.MissingGrant{BlueprintID: "b1", Version: "1.2.3", Author: blueprint.Author{ID: "u", Name: "Bob", Email: "bob@example.org"}, Resource: blueprint.Resource{Kind: kind, ID: "r", Name: "hush"}}
			bare := full
			bare.Author.Email = ""
			if !keeps {
				bare.Resource.Name = ""
			}
			given := full
			got := given.Failure()
			want := &blueprint.Failure{Code: blueprint.CodeNeedsGrant, Message: bare.Message(), Hint: bare.Hint(), Grant: &bare, Permanent: true, NotSent: true}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("failure (-want +got):\n%s", diff)
			}
			if strings.Contains(got.Message+got.Hint, "bob@example.org") || strings.Contains(got.Message, "hush") != keeps {
				t.Errorf("the message is %q; want the name of the resource: %v, the email: never", got.Message, keeps)
			}
			if diff := cmp.Diff(full, given); diff != "" {
				t.Errorf("Failure changed the grant (-want +got):\n%s", diff)
			}
		})
	}
}

// The message of a stored failure is completed for readers who may know the names.
func TestReplaceMessageOfMissingGrant(t *testing.T) {
	full := &blueprint.MissingGrant{BlueprintID: "b1", Version: "1.2.3", Author: blueprint.Author{ID: "u", Name: "Bob", Email: "bob@example.org"}, Resource: blueprint.Resource{Kind: blueprint.ResourceConnection, ID: "r", Name: "CRM"}}
	bare := full.Failure().Grant
	text := "node a: " + bare.Message() + "; again: " + bare.Message()
	if got, want := bare.ReplaceMessage(full, text), "node a: "+full.Message()+"; again: "+full.Message(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := bare.ReplaceMessage(full, "another error"); got != "another error" {
		t.Errorf("a text without the message became %q, want another error", got)
	}
}

func TestActor(t *testing.T) {
	if got := blueprint.ActorOf(context.Background()); got != nil {
		t.Errorf("the actor of a context without one is %+v, want nil", got)
	}
	actor := &blueprint.Actor{UserID: "ada", Via: blueprint.ViaAPI, Action: "blueprint.create"}
	got := blueprint.ActorOf(blueprint.WithActor(context.Background(), actor))
	if got != actor {
		t.Errorf("the actor of the context is %+v, want the given one", got)
	}
	if actor.Audited() {
		t.Error("an actor without an entry counts as audited")
	}
	if actor.MarkAudited(); !got.Audited() {
		t.Error("an actor with an entry does not count as audited")
	}
}

func TestActorDetail(t *testing.T) {
	entry := map[string]any{"fields": "title"}
	if diff := cmp.Diff(entry, (&blueprint.Actor{}).WithDetail(entry)); diff != "" {
		t.Errorf("the detail of an actor without any (-want +got):\n%s", diff)
	}
	actor := &blueprint.Actor{Detail: map[string]any{"agent": "a", "fields": "all"}}
	if diff := cmp.Diff(map[string]any{"agent": "a", "fields": "title"}, actor.WithDetail(entry)); diff != "" {
		t.Errorf("the detail of both, in which the entry takes precedence (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]any{"agent": "a", "fields": "all"}, actor.Detail); diff != "" {
		t.Errorf("the detail of the actor afterwards (-want +got):\n%s", diff)
	}
}

func TestKeyScopesAllow(t *testing.T) {
	read, run, write, admin := blueprint.ScopeRead, blueprint.ScopeRun, blueprint.ScopeWrite, blueprint.ScopeAdmin
	all := blueprint.AllScopes()
	for name, test := range map[string]struct{ has, want blueprint.KeyScopes }{
		"none":          {nil, blueprint.KeyScopes{}},
		"read":          {blueprint.KeyScopes{read}, blueprint.KeyScopes{read}},
		"run":           {blueprint.KeyScopes{run}, blueprint.KeyScopes{read, run}},
		"write":         {blueprint.KeyScopes{write}, blueprint.KeyScopes{read, write}},
		"run and write": {blueprint.KeyScopes{run, write}, blueprint.KeyScopes{read, run, write}},
		"admin":         {blueprint.KeyScopes{admin}, all},
		"all":           {all, all},
	} {
		t.Run(name, func(t *testing.T) {
			allowed := blueprint.KeyScopes{}
			for _, scope := range all {
				if test.has.Allow(scope) {
					allowed = append(allowed, scope)
				}
			}
			if diff := cmp.Diff(test.want, allowed); diff != "" {
				t.Errorf("allowed scopes (-want +got):\n%s", diff)
			}
			for _, unknown := range []blueprint.KeyScope{"", "owner", "READ"} {
				if test.has.Allow(unknown) {
					t.Errorf("%s allows the unknown scope %q", test.has, unknown)
				}
			}
		})
	}
}

func TestParseScopes(t *testing.T) {
	for text, want := range map[string]string{
		"read":               "read",
		"write,read":         "read,write",
		" run , read ,run":   "read,run",
		"admin,read,run":     "admin,read,run",
		"":                   `unknown ""`,
		"read,":              `unknown ""`,
		"read,owner,nothing": `unknown "owner"`,
		"Read":               `unknown "Read"`,
	} {
		t.Run(text, func(t *testing.T) {
			scopes, unknown, ok := blueprint.ParseScopes(text)
			got := scopes.String()
			if !ok {
				got = `unknown "` + unknown + `"`
			}
			if got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

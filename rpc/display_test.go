package rpc

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"blueprintd/blueprint"
)

// TestOnePointOfDisplay finds runs and blueprints that are returned without a check of whose
// data they hold.
func TestOnePointOfDisplay(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	reads := regexp.MustCompile(`(Runner|runs)\.(View|ViewWithin|Summary|Recording)\b|([Ss]tore|contents)\.(GetBlueprint|ListBlueprints)\b`)
	found := 0
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, use := range reads.FindAllString(string(text), -1) {
			if name != "display.go" && !strings.HasSuffix(name, "_test.go") {
				t.Errorf("%s uses %s: use what display.go has", name, use)
			}
			found++
		}
	}
	if found < 6 {
		t.Errorf("only %d uses are found, want at least 6", found)
	}
}

// Only the run's principal learns where to sign in, and for which connection.
func TestHideSignIn(t *testing.T) {
	asked := &blueprint.AwaitingInput{NodeID: "a", Kind: blueprint.AwaitOAuth, URL: "https://here/oauth/start", Prompt: "for mine"}
	other := &blueprint.AwaitingInput{NodeID: "b", Kind: blueprint.AwaitHuman}
	for user, want := range map[string]string{"ann": "https://here/oauth/start", "bob": ""} {
		t.Run(user, func(t *testing.T) {
			x := &blueprint.Execution{UserID: "ann"}
			x.AwaitingInputs = []*blueprint.AwaitingInput{asked, other}
			x.AwaitingInput = asked
			hideSignIn(x, user)
			if prompt := x.AwaitingInput.Prompt; (prompt == "for mine") != (user == "ann") || prompt == "" {
				t.Errorf("%s reads %q", user, prompt)
			}
			if x.AwaitingInput.URL != want || x.AwaitingInputs[0].URL != want || x.AwaitingInputs[0].NodeID != "a" || x.AwaitingInputs[1] != other {
				t.Errorf("%s sees %+v, want URL %v, URL %v, NodeID a and AwaitingInputs %v", user, x.AwaitingInput, want, want, other)
			}
		})
	}
	if asked.URL == "" {
		t.Error("what others share was changed")
	}
}

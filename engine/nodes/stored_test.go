package nodes

import (
	"testing"

	"blueprintd/tests/stored"
)

// A conversation that is stored in a pause may be continued by a process of another version.
func TestStoredMembersHaveAForm(t *testing.T) {
	stored.Check(t, "../..", stored.Members(dialogue{}))
}

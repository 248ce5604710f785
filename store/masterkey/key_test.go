package masterkey

import (
	"fmt"
	"io/fs"
	"os"
	"testing"
)

// A key file is protected if only its owner can read it, or the group of a process that does
// not own it.
func TestProtect(t *testing.T) {
	give := fmt.Sprintf("as root: chown %d k && chmod 600 k", os.Geteuid())
	for _, test := range []struct {
		mode  fs.FileMode
		owned bool
		want  string
	}{
		{0o600, true, ""}, {0o400, true, ""}, {0o640, true, "chmod 600 k"}, {0o604, true, "chmod 600 k"},
		{0o440, false, ""}, {0o640, false, ""}, {0o460, false, give}, {0o444, false, give}, {0o644, false, give},
	} {
		t.Run(fmt.Sprintf("%o %v", test.mode, test.owned), func(t *testing.T) {
			if got := protect(test.mode, test.owned, "k"); got != test.want {
				t.Errorf("the command is %q, want %q", got, test.want)
			}
		})
	}
}

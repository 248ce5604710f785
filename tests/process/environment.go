package process

import (
	"os"
	"strings"
	"syscall"
)

func init() {
	// The umask and the variables of the user who runs the tests do not matter, except for those
	// of tests.
	syscall.Umask(0o022)
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		if strings.HasPrefix(name, "BLUEPRINTD_") && !strings.HasPrefix(name, "BLUEPRINTD_TEST_") && name != "BLUEPRINTD_BINARY" {
			_ = os.Unsetenv(name)
		}
	}
}

package process

import (
	"os"
	"strings"
	"syscall"
)

func init() {
	// Tests run the same with any umask, and whatever BLUEPRINTD_ variables the user has set for
	// a server.
	syscall.Umask(0o022)
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		if strings.HasPrefix(name, "BLUEPRINTD_") && !strings.HasPrefix(name, "BLUEPRINTD_TEST_") && name != "BLUEPRINTD_BINARY" {
			_ = os.Unsetenv(name)
		}
	}
}

package server

import (
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"

	"blueprintd/blueprint"
)

func TestCannotListen(t *testing.T) {
	for _, test := range []struct {
		number        syscall.Errno
		message, hint string
	}{
		{syscall.EACCES, "cannot listen on 127.0.0.1:80: bind: permission denied", "choose a port above 1023 with --addr"},
		{syscall.EADDRNOTAVAIL, "cannot listen on 127.0.0.1:80: bind: " + syscall.EADDRNOTAVAIL.Error(), "choose an address of this machine with --addr"},
		{syscall.EADDRINUSE, "cannot listen on 127.0.0.1:80: bind: " + syscall.EADDRINUSE.Error(), "choose another one with --addr, or stop what listens there"},
	} {
		t.Run(fmt.Sprint(test.number), func(t *testing.T) {
			err := cannotListen("--addr", "127.0.0.1:80", &net.OpError{Op: "listen", Net: "tcp", Err: os.NewSyscallError("bind", test.number)})
			if message, hint := blueprint.DescribeError(err); message != test.message || !strings.HasPrefix(hint, test.hint) {
				t.Errorf("%q, %q; want %q, %q", message, hint, test.message, test.hint)
			}
		})
	}
}

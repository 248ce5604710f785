package front

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// admitNoMore has the kernel leave new connections unanswered. Those whose
// handshake is over wait in a queue and would be reset when the listener is
// closed; from now on the queue only becomes shorter. Who is left unanswered
// tries again a second later and finds the door shut, before anything is sent.
func admitNoMore(listener net.Listener) {
	socket, ok := listener.(syscall.Conn)
	if !ok {
		return
	}
	control, err := socket.SyscallConn()
	if err != nil {
		return
	}
	_ = control.Control(func(descriptor uintptr) {
		drop := unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K} // keep 0 bytes of every packet
		_ = unix.SetsockoptSockFprog(int(descriptor), unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{Len: 1, Filter: &drop})
	})
}

package limits

import (
	"math"
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// unsent bounds the unsent bytes that the kernel buffers for a connection. Without it,
// each client that does not read would use megabytes of the TCP memory of the machine.
const unsent = 128 << 10

// prepare sets socket options, which accepted connections inherit.
func prepare(listener net.Listener) {
	control(listener, func(descriptor int) {
		_ = unix.SetsockoptInt(descriptor, unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, unsent)
	})
}

// refuseNew makes the kernel refuse new connections of a listener that is still open.
// Closing it at once would reset the connections in its accept queue and those whose final
// ACK is in flight. So it is bound to a network interface that does not exist: a new SYN
// finds no listener, whereas a handshake that has begun belongs to its listener already.
// It needs Linux 5.7, or the privilege CAP_NET_RAW.
func refuseNew(listener net.Listener) {
	control(listener, func(descriptor int) {
		_ = unix.SetsockoptInt(descriptor, unix.SOL_SOCKET, unix.SO_BINDTOIFINDEX, math.MaxInt32)
	})
}

// control calls do with the file descriptor of a listener, if it has one.
func control(listener net.Listener, do func(descriptor int)) {
	socket, ok := listener.(syscall.Conn)
	if !ok {
		return
	}
	if raw, err := socket.SyscallConn(); err == nil {
		_ = raw.Control(func(descriptor uintptr) { do(int(descriptor)) })
	}
}

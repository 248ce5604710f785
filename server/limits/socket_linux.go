package limits

import (
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

// dropNewSYNs attaches a packet filter that drops new SYNs. Closing a listener resets the
// connections in its accept queue and those whose final ACK is in flight; the filter lets
// that ACK pass, so the queue can be drained before the listener is closed. A client whose
// SYN was dropped retransmits it a second later and is refused before it sends anything.
func dropNewSYNs(listener net.Listener) {
	const flags, syn = 13, 0x02 // in the TCP header, where the filter's data begins (RFC 9293)
	program := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_B | unix.BPF_ABS, K: flags},
		{Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, K: syn, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K}, // keep 0 bytes of it
		{Code: unix.BPF_RET | unix.BPF_K, K: 1 << 18},
	}
	control(listener, func(descriptor int) {
		_ = unix.SetsockoptSockFprog(descriptor, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]})
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

package limits

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// unsent is how many bytes of an answer the kernel takes ahead of what it can
// send. It would else take megabytes for each client that does not read, from
// the memory that all connections of the machine share.
const unsent = 128 << 10

// prepare sets what holds for all connections of a listener.
func prepare(listener net.Listener) {
	control(listener, func(descriptor int) {
		_ = unix.SetsockoptInt(descriptor, unix.IPPROTO_TCP, unix.TCP_NOTSENT_LOWAT, unsent)
	})
}

// admitNoMore has the kernel leave whoever asks for a connection from now on
// unanswered. Those whose handshake is over wait in a queue and would be reset
// when the listener is closed, as would those who have our half of it and whose
// last word is under way: that is still let in, so the queue soon only becomes
// shorter. Who is left unanswered tries again a second later and finds the door
// shut, before anything is sent.
func admitNoMore(listener net.Listener) {
	const flags, syn = 13, 0x02 // in the TCP header, with which a filter's view of a packet begins (RFC 9293)
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

// control does something to the socket of a listener that has one.
func control(listener net.Listener, do func(descriptor int)) {
	socket, ok := listener.(syscall.Conn)
	if !ok {
		return
	}
	if raw, err := socket.SyscallConn(); err == nil {
		_ = raw.Control(func(descriptor uintptr) { do(int(descriptor)) })
	}
}

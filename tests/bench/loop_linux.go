package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"syscall"
	"time"
)

// loop waits for many connections in one thread. It bypasses Go's network poller, whose
// goroutine switches cost more than the rest of the load generator and would take CPU from
// the server.
type loop struct {
	poll   int
	events []syscall.EpollEvent
	open   map[int32]*connection
	ready  []*connection
}

func newLoop(connections int) (*loop, error) {
	poll, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	if err != nil {
		return nil, err
	}
	return &loop{poll: poll, events: make([]syscall.EpollEvent, connections), open: make(map[int32]*connection, connections)}, nil
}

func (l *loop) close() {
	for descriptor := range l.open {
		syscall.Close(int(descriptor))
	}
	syscall.Close(l.poll)
}

// connect opens a connection to an IPv4 address.
func (l *loop) connect(address string) (*connection, error) {
	host, portText, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	ip := net.ParseIP(host).To4()
	port, err := strconv.Atoi(portText)
	if ip == nil || err != nil {
		return nil, fmt.Errorf("%s: want an IPv4 address with a port", address)
	}
	descriptor, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	c := &connection{descriptor: descriptor, buffer: make([]byte, 16<<10)}
	c.received = c.buffer[:0]
	l.open[int32(descriptor)] = c
	if err := syscall.Connect(descriptor, &syscall.SockaddrInet4{Port: port, Addr: [4]byte(ip)}); err != nil {
		return nil, err
	}
	if err := syscall.SetsockoptInt(descriptor, syscall.IPPROTO_TCP, syscall.TCP_NODELAY, 1); err != nil {
		return nil, err
	}
	if err := syscall.SetNonblock(descriptor, true); err != nil {
		return nil, err
	}
	event := syscall.EpollEvent{Events: syscall.EPOLLIN, Fd: int32(descriptor)}
	return c, syscall.EpollCtl(l.poll, syscall.EPOLL_CTL_ADD, descriptor, &event)
}

// forget ends the watching of a connection, which the server may close then.
func (l *loop) forget(c *connection) error {
	return syscall.EpollCtl(l.poll, syscall.EPOLL_CTL_DEL, c.descriptor, nil)
}

// wait returns the connections with received data.
func (l *loop) wait(most time.Duration) ([]*connection, error) {
	n, err := syscall.EpollWait(l.poll, l.events, int(most.Milliseconds()))
	if err != nil && !errors.Is(err, syscall.EINTR) {
		return nil, err
	}
	l.ready = l.ready[:0]
	for i := range max(n, 0) {
		l.ready = append(l.ready, l.open[l.events[i].Fd])
	}
	return l.ready, nil
}

// write sends a request in one call: it is small and nothing else is pending, so it fits
// into the socket's buffer.
func (l *loop) write(c *connection) error {
	for {
		n, err := syscall.Write(c.descriptor, c.request)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return fmt.Errorf("send: %w", err)
		case n != len(c.request):
			return fmt.Errorf("only %d bytes of a request of %d could be sent at once", n, len(c.request))
		default:
			return nil
		}
	}
}

func (l *loop) read(c *connection) error {
	if len(c.received) == len(c.buffer) {
		c.buffer = append(c.buffer, make([]byte, len(c.buffer))...)
	}
	n, err := syscall.Read(c.descriptor, c.buffer[len(c.received):])
	switch {
	case errors.Is(err, syscall.EAGAIN), errors.Is(err, syscall.EINTR):
		return nil
	case err != nil:
		return fmt.Errorf("receive: %w", err)
	case n == 0:
		return io.ErrUnexpectedEOF
	}
	c.received = c.buffer[:len(c.received)+n]
	return nil
}

// ownCPUTime returns the CPU time of this process.
func ownCPUTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// familyCPUTime returns the CPU time of this process and of its children that have ended.
func familyCPUTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &usage); err != nil {
		return 0
	}
	return ownCPUTime() + time.Duration(usage.Utime.Nano()+usage.Stime.Nano())
}

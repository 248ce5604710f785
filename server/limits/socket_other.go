//go:build !linux

package limits

import "net"

// admitNoMore does nothing: who connects between the last look at the queue
// and the end of the listener is reset.
func admitNoMore(net.Listener) {}

// prepare leaves to the system how much it takes of an answer.
func prepare(net.Listener) {}

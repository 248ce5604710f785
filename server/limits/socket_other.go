//go:build !linux

package limits

import "net"

// refuseNew does nothing: connections accepted by the kernel between the last Accept and the
// close of the listener are reset.
func refuseNew(net.Listener) {}

func prepare(net.Listener) {}

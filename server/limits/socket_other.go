//go:build !linux

package limits

import "net"

// dropNewSYNs does nothing: connections accepted by the kernel between the last Accept and
// the close of the listener are reset.
func dropNewSYNs(net.Listener) {}

func prepare(net.Listener) {}

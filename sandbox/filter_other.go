//go:build linux && !amd64 && !arm64

package sandbox

// filterCalls does nothing: nobody has written the filter of this architecture.
func filterCalls() error { return nil }

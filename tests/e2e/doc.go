// Package e2e tests the real program: built, started as a process, called over the network,
// signalled, killed and restarted. The responses to each call are tested without a process,
// in tests/api.
package e2e

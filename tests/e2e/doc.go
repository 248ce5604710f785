// Package e2e tests the real program as its users have it: built, started as a
// process, called over the network, signalled, killed and started again. What a
// server answers to each call is tested elsewhere, without a process.
package e2e

// Package process is what the tests of the real program share: they run it as a
// process, call its procedures, read from /proc what it costs. Serve, Run and
// their companions are for tests, package e2e above all; Program, Client and
// Memory for the tools beside it, crash, faults, overload and bench, which judge
// what they see themselves.
package process

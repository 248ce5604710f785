// Package api tests the API of a server in the test's own process: each procedure and
// route, the rules of access, and bad input. It starts no process; tests/e2e does.
package api

// Package api tries the API of a server in the test's own process: each procedure and
// address, who may do what, and what bad input does. Nothing here starts a process; for
// that there is tests/e2e.
package api

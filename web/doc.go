// Package web holds the dashboard as it was built from the sources beside it,
// and serves it: one page for all its addresses, and the files that it loads.
package web

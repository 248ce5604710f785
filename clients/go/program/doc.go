// Package program finds the program blueprintd, or builds it, and runs it as a
// process: it starts it, waits until it is ready, stops it or kills it. Package
// blueprintdtest stands on it, and so do the tests of blueprintd itself.
package program

//go:build race

package script

// slow says that the interpreter runs under the race detector: thirty times
// slower, and with several times the memory, so that a bomb may meet another of
// its bounds first.
const slow = true

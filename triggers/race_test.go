//go:build race

package triggers

// slowdown is by how much less long tests look at: the race detector takes its
// time.
const slowdown = 8

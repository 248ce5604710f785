//go:build !race

package triggers

const slowdown = 1

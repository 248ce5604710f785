package simulation

import (
	"encoding/binary"
	"math/rand/v2"
)

// random draws everything that a world decides.
type random struct{ *rand.Rand }

func newRandom(seed, stream uint64) random { return random{rand.New(rand.NewPCG(seed, stream))} }

// chance is true in so many cases of a hundred.
func (r random) chance(percent int) bool { return r.IntN(100) < percent }

// between gives a number from low to high, both included.
func (r random) between(low, high int) int { return low + r.IntN(high-low+1) }

// Read fills p, for the source of identifiers.
func (r random) Read(p []byte) (int, error) {
	var word [8]byte
	for i := range p {
		if i%8 == 0 {
			binary.LittleEndian.PutUint64(word[:], r.Uint64())
		}
		p[i] = word[i%8]
	}
	return len(p), nil
}

// mix gives a number that depends on all of its arguments and on nothing else.
func mix(key uint64, texts ...string) uint64 {
	const prime = 1099511628211
	h := key ^ 14695981039346656037
	for _, text := range texts {
		for i := range len(text) {
			h = (h ^ uint64(text[i])) * prime
		}
		h = (h ^ 0xff) * prime
	}
	h ^= h >> 31
	h *= 0x9e3779b97f4a7c15
	return h ^ h>>29
}

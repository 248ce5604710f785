package ids

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
	"strconv"
	"strings"
)

// Seeded returns a source whose every part follows from a number: for tests, never
// for anything that is to be secret.
func Seeded(seed int64) *Source {
	return seeded("blueprintd " + strconv.FormatInt(seed, 10))
}

func seeded(name string) *Source {
	s := New(rand.NewChaCha8(sha256.Sum256([]byte(name))))
	s.seed = name
	return s
}

// IsSeeded reports whether what the source gives follows from a number.
func (s *Source) IsSeeded() bool { return s.seed != "" }

// Stream returns a source for one purpose. Of a seeded source it is one whose parts
// follow from the seed and the names alone, whatever else is drawn meanwhile, and
// it begins anew each time that it is asked for; any other source gives itself.
func (s *Source) Stream(names ...string) *Source {
	if s.seed == "" {
		return s
	}
	var name strings.Builder
	name.WriteString(s.seed)
	for _, part := range names {
		var size [4]byte
		binary.BigEndian.PutUint32(size[:], uint32(len(part)))
		name.Write(size[:]) // so that "a", "bc" is not "ab", "c"
		name.WriteString(part)
	}
	return seeded(name.String())
}

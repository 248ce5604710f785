// Package ids generates all identifiers, keys and random values of the program from
// one source of randomness, which a test can replace by a seed.
package ids

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"io"
	"math/bits"
	mathrand "math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"
)

// Source generates identifiers. It is safe for concurrent use.
type Source struct {
	mu     sync.Mutex
	random io.Reader
	seed   string // "" = not seeded
	uses   uses   // of At
	order  order  // of ExecutionID
}

// New returns a Source that reads from random; nil means crypto/rand.
func New(random io.Reader) *Source {
	if random == nil {
		random = rand.Reader
	}
	return &Source{random: random}
}

// Bytes returns n random bytes. It panics if the source fails: nothing would be secure.
func (s *Source) Bytes(n int) []byte {
	out := make([]byte, n)
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := io.ReadFull(s.random, out); err != nil {
		panic("ids: the source of randomness failed: " + err.Error())
	}
	return out
}

// UUID returns a random UUID (RFC 9562, version 4) in lower case.
func (s *Source) UUID() string {
	b := s.Bytes(16)
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	text := hex.EncodeToString(b)
	return text[:8] + "-" + text[8:12] + "-" + text[12:16] + "-" + text[16:20] + "-" + text[20:]
}

// ULID returns an identifier that sorts by time: 48 bits of milliseconds and 80
// random bits in 26 upper-case characters.
func (s *Source) ULID(now time.Time) string { return newULID(now, [10]byte(s.Bytes(10))).String() }

func newULID(now time.Time, entropy [10]byte) (id ulid.ULID) {
	if err := id.SetTime(ulid.Timestamp(now)); err != nil {
		panic("ids: no ULID for the year " + strconv.Itoa(now.Year()) + ": " + err.Error())
	}
	copy(id[6:], entropy[:])
	return id
}

// ExecutionID returns exec_{unix milliseconds}_{lower-case ULID}. Those of one source and
// millisecond sort in the order of the calls, as those of a clock that stands still must.
// With names, a seeded source takes the random part from At.
func (s *Source) ExecutionID(now time.Time, names ...string) string {
	from := s
	if len(names) > 0 {
		from = s.At(now, names...)
	}
	id := newULID(now, s.order.next(now.UnixMilli(), [10]byte(from.Bytes(10))))
	return "exec_" + strconv.FormatInt(now.UnixMilli(), 10) + "_" + strings.ToLower(id.String())
}

// order is the monotonic random part of the ULIDs of one millisecond
// (https://github.com/ulid/spec). It is safe for concurrent use.
type order struct {
	mu        sync.Mutex
	ms        int64
	high, low uint64 // the last 80 bits
}

// next returns the 80 bits with the highest one cleared, so that increments find room. After
// another call in the same millisecond it returns the bits of that call plus 64 of these.
func (o *order) next(ms int64, entropy [10]byte) [10]byte {
	high, low := uint64(binary.BigEndian.Uint16(entropy[:])&0x7fff), binary.BigEndian.Uint64(entropy[2:])
	o.mu.Lock()
	defer o.mu.Unlock()
	if ms == o.ms {
		var carry uint64
		low, carry = bits.Add64(o.low, max(low, 1), 0)
		high = o.high + carry
	}
	o.ms, o.high, o.low = ms, high, low
	binary.BigEndian.PutUint16(entropy[:], uint16(high))
	binary.BigEndian.PutUint64(entropy[2:], low)
	return entropy
}

// base32 is the alphabet of RFC 4648 in lower case, without 0 and 1.
const base32 = "abcdefghijklmnopqrstuvwxyz234567"

// Address returns a random local part of a mail address: 26 of [a-z2-7], 130 bits.
func (s *Source) Address() string {
	out := s.Bytes(26)
	for i, b := range out {
		out[i] = base32[b%32]
	}
	return string(out)
}

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// Token returns a random text of n characters of [0-9A-Za-z], 5.95 bits each.
func (s *Source) Token(n int) string {
	out := make([]byte, 0, n)
	for len(out) < n {
		for _, b := range s.Bytes(n) {
			// 248 is the largest multiple of 62 in a byte; the others would favour the
			// first letters.
			if b < 248 && len(out) < n {
				out = append(out, base62[b%62])
			}
		}
	}
	return string(out)
}

// KeyPrefix begins every API key, so that scanners can recognize leaked ones.
const KeyPrefix = "bpd_"

// keyLength is the number of base62 characters after the prefix: 256 bits.
const keyLength = 43

func (s *Source) APIKey() string { return KeyPrefix + s.Token(keyLength) }

// usesKept is the minimum time, by the clock, for which counts of At are kept.
const usesKept = time.Minute

// uses counts the calls of At with the same time and names. Old counts are dropped, so
// that it does not grow without bound.
type uses struct {
	mu      sync.Mutex
	since   time.Time
	present map[string]int
	past    map[string]int
}

// At returns a source for values that belong to a time and names. From a seeded source it
// depends only on the seed, the time, the names, and the number of earlier calls with the
// same ones, but not on other goroutines. An unseeded source returns itself.
func (s *Source) At(now time.Time, names ...string) *Source {
	if s.seed == "" {
		return s
	}
	of := s.Stream(append([]string{strconv.FormatInt(now.UnixMilli(), 10)}, names...)...)
	if n := s.uses.count(now, of.seed); n > 0 {
		return of.Stream(strconv.Itoa(n))
	}
	return of
}

// count returns the number of earlier calls for a name.
func (t *uses) count(now time.Time, name string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.present == nil || now.Sub(t.since) >= usesKept {
		t.past, t.present, t.since = t.present, map[string]int{}, now
	}
	n, known := t.present[name]
	if !known {
		n = t.past[name]
	}
	t.present[name] = n + 1
	return n
}

// Seeded returns a deterministic source for tests, never for secrets.
func Seeded(seed int64) *Source {
	return seeded("blueprintd " + strconv.FormatInt(seed, 10))
}

func seeded(name string) *Source {
	s := New(mathrand.NewChaCha8(sha256.Sum256([]byte(name))))
	s.seed = name
	return s
}

// IsSeeded reports whether the source is deterministic.
func (s *Source) IsSeeded() bool { return s.seed != "" }

// Stream returns a source for one purpose. From a seeded source it depends only on the seed
// and the names and starts over with each call. An unseeded source returns itself.
func (s *Source) Stream(names ...string) *Source {
	if s.seed == "" {
		return s
	}
	var name strings.Builder
	name.WriteString(s.seed)
	for _, part := range names {
		var size [4]byte
		binary.BigEndian.PutUint32(size[:], uint32(len(part)))
		name.Write(size[:]) // "a", "bc" must differ from "ab", "c"
		name.WriteString(part)
	}
	return seeded(name.String())
}

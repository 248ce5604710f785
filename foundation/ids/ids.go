// Package ids makes every identifier, key and random part of the service from
// one source of randomness, so that a test can replace that source by a seed.
package ids

import (
	"crypto/rand"
	"encoding/hex"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"
)

// Source makes identifiers. It is safe for concurrent use.
type Source struct {
	mu     sync.Mutex
	random io.Reader
	seed   string // what everything follows from; "" = chance
	turns  turns  // of At
}

// New takes the source of randomness; nil means crypto/rand.
func New(random io.Reader) *Source {
	if random == nil {
		random = rand.Reader
	}
	return &Source{random: random}
}

// Bytes returns n random bytes. A source that fails stops the program: nothing
// that the service makes would be safe without one.
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
func (s *Source) ULID(now time.Time) string {
	var id ulid.ULID
	if err := id.SetTime(ulid.Timestamp(now)); err != nil {
		panic("ids: no ULID for the year " + strconv.Itoa(now.Year()) + ": " + err.Error())
	}
	copy(id[6:], s.Bytes(10))
	return id.String()
}

// ExecutionID returns exec_{unix milliseconds}_{lower-case ULID}.
func (s *Source) ExecutionID(now time.Time) string {
	return "exec_" + strconv.FormatInt(now.UnixMilli(), 10) + "_" + strings.ToLower(s.ULID(now))
}

// base32 has no letter that differs from another by its case alone, and no digit
// that looks like a letter.
const base32 = "abcdefghijklmnopqrstuvwxyz234567"

// Address returns a random local part of a mail address: 26 characters of
// [a-z2-7], 130 bits.
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
			// 248 is the largest multiple of 62 in a byte; the rest would favour the first letters.
			if b < 248 && len(out) < n {
				out = append(out, base62[b%62])
			}
		}
	}
	return string(out)
}

// KeyPrefix begins every key that the service makes, so that scanners for
// leaked secrets can tell one.
const KeyPrefix = "bpd_"

// keyLength is how many characters of base62 follow the prefix: 256 bits.
const keyLength = 43

// APIKey returns a new API key.
func (s *Source) APIKey() string { return KeyPrefix + s.Token(keyLength) }

// turnsKept is for how long, by the clock, a source remembers how often it was
// asked for a purpose at an instant.
const turnsKept = time.Minute

// turns counts how often a seeded source was asked for each purpose at each
// instant. What is older than turnsKept is forgotten, so that it does not grow
// for as long as the program runs.
type turns struct {
	mu      sync.Mutex
	since   time.Time
	present map[string]int
	past    map[string]int
}

// At returns a source for something that is made at an instant and that the names
// tell from whatever else is made then: of a seeded source one whose parts follow
// from the seed, the instant, the names, and how often they were given before at
// that instant. Whatever is drawn for other names meanwhile, by whichever
// goroutine, plays no part. Any other source gives itself.
func (s *Source) At(now time.Time, names ...string) *Source {
	if s.seed == "" {
		return s
	}
	of := s.Stream(append([]string{strconv.FormatInt(now.UnixMilli(), 10)}, names...)...)
	if n := s.turns.count(now, of.seed); n > 0 {
		return of.Stream(strconv.Itoa(n))
	}
	return of
}

// count returns how often it was asked about a name before.
func (t *turns) count(now time.Time, name string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.present == nil || now.Sub(t.since) >= turnsKept {
		t.past, t.present, t.since = t.present, map[string]int{}, now
	}
	n, known := t.present[name]
	if !known {
		n = t.past[name]
	}
	t.present[name] = n + 1
	return n
}

package accounts

import (
	"cmp"
	"context"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/argon2"

	"blueprintd/blueprint"
)

// The cost of argon2id as in OWASP's Password Storage Cheat Sheet.
const (
	hashMemory = 19 << 10 // KiB
	hashPasses = 2
	hashLanes  = 1
	saltSize   = 16
	hashSize   = 32
)

// The maximum cost of a stored hash.
const (
	maxMemory = 64 << 10 // KiB
	maxPasses = 10
)

// hasher hashes passwords, within the limits of a fairQueue. It is safe for concurrent use.
type hasher struct {
	queue  *fairQueue
	memory uint32 // KiB that a new hash takes
}

// newHasher returns a hasher. A memory of 0 means hashMemory.
func newHasher(memory uint32) *hasher { return &hasher{newFairQueue(), cmp.Or(memory, hashMemory)} }

// hash returns the PHC string of a password's hash, for a caller of a network.
func (h *hasher) hash(ctx context.Context, network, password string, salt []byte) (string, error) {
	done, err := h.queue.take(ctx, network)
	if err != nil {
		return "", err
	}
	defer done()
	return phc{h.memory, hashPasses, hashLanes, salt, argon2.IDKey([]byte(password), salt, hashPasses, h.memory, hashLanes, hashSize)}.String(), nil
}

// none returns a hash that matches no password and takes as long to compare as others.
func (h *hasher) none() string {
	return phc{h.memory, hashPasses, hashLanes, make([]byte, saltSize), make([]byte, hashSize)}.String()
}

// matches reports whether a password matches a hash, for a caller of a network.
func (h *hasher) matches(ctx context.Context, network, password, hash string) (bool, error) {
	want, err := parsePHC(hash)
	if err != nil {
		return false, err
	}
	done, err := h.queue.take(ctx, network)
	if err != nil {
		return false, err
	}
	defer done()
	got := argon2.IDKey([]byte(password), want.salt, want.passes, want.memory, want.lanes, uint32(len(want.hash)))
	return subtle.ConstantTimeCompare(got, want.hash) == 1, nil
}

// phc is a hash with its parameters, as in the PHC string format.
type phc struct {
	memory, passes uint32
	lanes          uint8
	salt, hash     []byte
}

// String writes $argon2id$v=19$m=M,t=T,p=P$salt$hash.
func (p phc) String() string {
	base64 := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, p.memory, p.passes, p.lanes, base64.EncodeToString(p.salt), base64.EncodeToString(p.hash))
}

// parsePHC parses the output of String, of any cost within the bounds. An error means that
// the stored hash is damaged.
func parsePHC(text string) (p phc, err error) {
	wrong := fmt.Errorf("accounts: a stored password hash is damaged")
	parts := strings.Split(text, "$")
	if len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" || parts[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return p, wrong
	}
	if n, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &p.memory, &p.passes, &p.lanes); n != 3 || err != nil {
		return p, wrong
	}
	var saltErr, hashErr error
	p.salt, saltErr = base64.RawStdEncoding.DecodeString(parts[4])
	p.hash, hashErr = base64.RawStdEncoding.DecodeString(parts[5])
	sound := p.memory > 0 && p.memory <= maxMemory && p.passes > 0 && p.passes <= maxPasses && p.lanes > 0 && len(p.salt) > 0 && len(p.hash) >= 16 && len(p.hash) <= 64
	if saltErr != nil || hashErr != nil || !sound || p.String() != text {
		return p, wrong
	}
	return p, nil
}

const (
	maxHashing     = 2               // concurrent hashes: each takes memory and a processor
	networkSlots   = 2               // callers of a network that hash or wait for it, so that a flood does not fill the queue
	networkWaiting = 32              // callers of a network, including those that wait for its slots
	maxWaiting     = 8192            // callers in all
	maxQueueWait   = 5 * time.Second // wait of a caller, in real time
)

// fairQueue limits concurrent hashing and shares it fairly among networks. It is safe for
// concurrent use.
type fairQueue struct {
	hashing chan struct{} // semaphore of the hashing callers
	maxWait time.Duration

	mu       sync.Mutex
	all      int                 // callers
	networks map[string]*network // with callers, by name
}

type network struct {
	slots chan struct{} // semaphore of the callers that hash or wait to hash
	all   int           // callers
}

func newFairQueue() *fairQueue {
	return &fairQueue{hashing: make(chan struct{}, min(maxHashing, runtime.GOMAXPROCS(0))), maxWait: maxQueueWait, networks: map[string]*network{}}
}

// take waits until a caller of a network may hash. The error is CodeUnavailable if too many
// wait, or if it takes too long.
func (t *fairQueue) take(ctx context.Context, from string) (done func(), err error) {
	of := t.enter(from)
	if of == nil {
		return nil, errBusy()
	}
	waiting, cancel := context.WithTimeout(ctx, t.maxWait)
	defer cancel()
	if acquireSlot(waiting, of.slots) {
		if acquireSlot(waiting, t.hashing) {
			return func() {
				<-t.hashing
				<-of.slots
				t.leave(from, of)
			}, nil
		}
		<-of.slots
	}
	t.leave(from, of)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return nil, errBusy()
}

func errBusy() error {
	return &blueprint.Error{Code: blueprint.CodeUnavailable, Message: "too many sign-ins at once; try again", RetryAfter: time.Second}
}

// acquireSlot acquires a semaphore, and reports whether it succeeded before ctx ended.
func acquireSlot(ctx context.Context, slots chan struct{}) bool {
	select {
	case slots <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// enter adds a caller; nil if there are too many.
func (t *fairQueue) enter(from string) *network {
	t.mu.Lock()
	defer t.mu.Unlock()
	of := t.networks[from]
	if t.all >= maxWaiting || of != nil && of.all >= networkWaiting {
		return nil
	}
	if of == nil {
		of = &network{slots: make(chan struct{}, networkSlots)}
		t.networks[from] = of
	}
	t.all++
	of.all++
	return of
}

func (t *fairQueue) leave(from string, of *network) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all--
	if of.all--; of.all == 0 {
		delete(t.networks, from)
	}
}

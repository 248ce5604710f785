package accounts

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"sync"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/secret"
)

// An account with maxFailures failed attempts within failureSpan is throttled until the first
// of them is older than that. So is an address with addressFailures, so that one address
// cannot throttle many accounts. A device on which an account has signed in before is counted
// separately.
const (
	failureSpan     = 5 * time.Minute
	maxFailures     = 10
	addressFailures = 50
	// maxThrottled limits the number of counted accounts, and of addresses.
	maxThrottled = 10_000
)

// throttle limits failed password attempts. It is safe for concurrent use.
type throttle struct {
	clock clock.Clock

	mu        sync.Mutex
	accounts  failures
	addresses failures
}

func newThrottle(c clock.Clock) *throttle {
	return &throttle{clock: c, accounts: failures{limit: maxFailures, of: map[key][]time.Time{}}, addresses: failures{limit: addressFailures, of: map[key][]time.Time{}}}
}

// begin counts an attempt as failed, so that concurrent attempts count like consecutive
// ones; forget undoes that. An address of "" is that of a known device: it is neither
// counted nor throttled. If the account or the address is throttled, the error is
// CodeTooManyRequests and the attempt is not counted.
func (b *throttle) begin(account, address string) (forget func(), err error) {
	by, from := keyOf(account), keyOf(address)
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.clock.Now()
	wait := b.accounts.wait(by, now)
	if address != "" {
		wait = max(wait, b.addresses.wait(from, now))
	}
	if wait > 0 {
		return nil, throttled(wait)
	}
	b.accounts.add(by, now)
	if address != "" {
		b.addresses.add(from, now)
	}
	return sync.OnceFunc(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.accounts.remove(by, now)
		if address != "" {
			b.addresses.remove(from, now)
		}
	}), nil
}

func throttled(wait time.Duration) error {
	return &blueprint.Error{
		Code: blueprint.CodeTooManyRequests, RetryAfter: wait,
		Message: fmt.Sprintf("too many failed attempts; try again in %d s", int64((wait+time.Second-1)/time.Second)),
	}
}

// begin is throttle.begin for all processes on the database. The count of this process comes
// first: it is at most that of all, and costs no query.
func (s *Service) begin(ctx context.Context, account, address string) (forget func(), err error) {
	forgetHere, err := s.throttle.begin(account, address)
	if err != nil {
		return nil, err
	}
	by, from := keyOf(account), keyOf(address)
	limits := map[string]int{string(by[:]): maxFailures}
	if address != "" {
		limits[string(from[:])] = addressFailures
	}
	attempt, wait, err := s.Store.CountAttempt(ctx, limits, failureSpan)
	if wait > 0 {
		err = throttled(wait)
	}
	if err != nil {
		forgetHere()
		return nil, err
	}
	return func() {
		forgetHere()
		// If this fails, the attempt counts as failed.
		_ = s.Store.ForgetAttempt(context.WithoutCancel(ctx), attempt)
	}, nil
}

// key is the hash of an account or address, of the same size for every name.
type key [sha256.Size]byte

func keyOf(text string) key { return sha256.Sum256([]byte(text)) }

// failures are the times of failed attempts, the oldest first.
type failures struct {
	limit int
	of    map[key][]time.Time
}

// wait returns the time to wait. It removes expired failures.
func (f *failures) wait(k key, now time.Time) time.Duration {
	list := slices.DeleteFunc(f.of[k], func(at time.Time) bool { return !now.Before(at.Add(failureSpan)) })
	if len(list) == 0 {
		delete(f.of, k)
		return 0
	}
	f.of[k] = list
	if len(list) < f.limit {
		return 0
	}
	return list[len(list)-f.limit].Add(failureSpan).Sub(now)
}

func (f *failures) add(k key, at time.Time) {
	if _, known := f.of[k]; !known && len(f.of) >= maxThrottled {
		f.evict(at)
	}
	f.of[k] = append(f.of[k], at)
}

func (f *failures) remove(k key, at time.Time) {
	list := f.of[k]
	if i := slices.Index(list, at); i >= 0 {
		list = slices.Delete(list, i, i+1)
	}
	if f.of[k] = list; len(list) == 0 {
		delete(f.of, k)
	}
}

// evict removes expired entries, or else a tenth of the entries that are not throttled. An
// attacker cannot fill the table with throttled entries: that takes more hashes than can be
// computed within failureSpan.
func (f *failures) evict(now time.Time) {
	for k := range f.of {
		f.wait(k, now)
	}
	excess := len(f.of) - maxThrottled + maxThrottled/10
	for _, waits := range []bool{false, true} {
		for k, list := range f.of {
			if excess <= 0 || len(f.of) < maxThrottled && waits {
				return
			}
			if waits || len(list) < f.limit {
				delete(f.of, k)
				excess--
			}
		}
	}
}

const (
	maxToken    = 200       // bytes of a device token
	maxAccounts = 5         // of a device; those that signed in longest ago are dropped
	devicePlace = "devices" // the place for which device tokens are sealed
)

// device is the content of a device token: a browser in which users have signed in. It has
// counts of wrong passwords of its own; see Service.SignIn.
type device struct {
	id       [16]byte
	accounts []deviceAccount // the latest last
}

// deviceAccount identifies an account by a hash of its email.
type deviceAccount [16]byte

func accountOnDevice(email string) deviceAccount {
	sum := sha256.Sum256([]byte(blueprint.FoldEmail(email)))
	return deviceAccount(sum[:16])
}

// Device returns the device token for a browser in which the account has signed in, valid
// for blueprint.DeviceLifetime; before is its previous token or "". Wrong passwords on other
// devices do not delay a known device. The token grants no access. It is "" if the service
// has no sealer.
func (s *Service) Device(email, before string) string {
	if s.Sealer == nil {
		return ""
	}
	d, known := s.device(before)
	if !known {
		d.id = [16]byte(s.IDs.Bytes(16))
	}
	account := accountOnDevice(email)
	d.accounts = append(slices.DeleteFunc(d.accounts, func(other deviceAccount) bool { return other == account }), account)
	d.accounts = d.accounts[max(0, len(d.accounts)-maxAccounts):]
	plain := binary.BigEndian.AppendUint64(nil, uint64(s.Clock.Now().Add(blueprint.DeviceLifetime).Unix()))
	plain = append(plain, d.id[:]...)
	for _, account := range d.accounts {
		plain = append(plain, account[:]...)
	}
	return secret.EncodeToken(s.Sealer.Seal(plain, devicePlace))
}

// DeviceID returns the id of the device of a token, "" if the token is invalid or expired.
func (s *Service) DeviceID(token string) string {
	d, known := s.device(token)
	if !known {
		return ""
	}
	return hex.EncodeToString(d.id[:])
}

// deviceOf is DeviceID for a device where the account with an email has signed in.
func (s *Service) deviceOf(token, email string) string {
	if d, _ := s.device(token); slices.Contains(d.accounts, accountOnDevice(email)) {
		return hex.EncodeToString(d.id[:])
	}
	return ""
}

// device opens a token. known is false if it is invalid or expired.
func (s *Service) device(token string) (d device, known bool) {
	if s.Sealer == nil || token == "" || len(token) > maxToken {
		return d, false
	}
	sealed, err := secret.DecodeToken(token)
	if err != nil {
		return d, false
	}
	plain, err := s.Sealer.Open(sealed, devicePlace)
	if err != nil || len(plain) < 8+len(d.id) || s.Clock.Now().Unix() >= int64(binary.BigEndian.Uint64(plain)) {
		return d, false
	}
	rest := plain[8+copy(d.id[:], plain[8:]):]
	for account := range slices.Chunk(rest, len(deviceAccount{})) {
		if len(account) == len(deviceAccount{}) {
			d.accounts = append(d.accounts, deviceAccount(account))
		}
	}
	return d, true
}

package triggers

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"blueprintd/blueprint"
)

// Mails of one Message-ID and author are the same, whatever else differs: senders
// that repeat one make it anew at times. But a Message-ID is whatever its sender
// wrote: somebody who knows one that is on its way could use it first, and keep
// the real mail out. So a mail for which a domain answers is the same as another
// only if that domain answers for both, or if their authors and bodies are the
// same. The first mail of a Message-ID has that alone for its key; another one
// has its long key, which says what is in it.

// identify gives a mail its key and what tells it from others of that key; and
// its long key. A mail without a Message-ID stands for itself.
func (a *activation) identify(received *blueprint.ReceivedMail) (long string) {
	m := received.Mail
	if m.MessageID == "" {
		return ""
	}
	body, bare := bytes.CutPrefix(received.Raw, []byte("\r\n"))
	if !bare {
		_, body, _ = bytes.Cut(received.Raw, []byte("\r\n\r\n"))
	}
	author := sha256.New()
	for _, from := range m.From {
		fmt.Fprintf(author, "%q ", strings.ToLower(from.Address))
	}
	by := hex.EncodeToString(author.Sum(nil))[:32]
	sum := sha256.Sum256(append([]byte(by), body...))
	digest := hex.EncodeToString(sum[:])
	a.firing.Key, a.firing.BodyHash, a.keyed = mailKey(m.MessageID), by+" "+digest+" "+received.Check.Domain, true
	long = a.firing.Key + " sha256:" + digest[:16]
	if len(long) > maxKey {
		long = mailKey(long)
	}
	return long
}

// mailKey returns the key of a Message-ID. A key has a blank only where it is a
// long one.
func mailKey(messageID string) string {
	if len(messageID) <= maxKey && !strings.Contains(messageID, " ") {
		return messageID
	}
	sum := sha256.Sum256([]byte(messageID))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// isSameMail holds what identify found of a mail against what it found of the
// first one of its Message-ID.
func isSameMail(first, mail string) bool {
	was, is := strings.SplitN(first, " ", 3), strings.SplitN(mail, " ", 3)
	if len(was) != 3 || len(is) != 3 {
		return true
	}
	const author, content, domain = 0, 1, 2
	if is[domain] == "" {
		return was[author] == is[author]
	}
	return was[domain] == is[domain] || was[content] == is[content]
}

// sameMail looks whether a mail has started a run before. When another one of
// its Message-ID has, it gets its long key.
func (t *Service) sameMail(ctx context.Context, a *activation, long string) *blueprint.DuplicateFiringError {
	if !a.keyed {
		return nil
	}
	key := a.firing.Key
	for _, a.firing.Key = range []string{long, key} {
		first, err := t.Store.StartedFiring(ctx, a.firing.TriggerID, a.firing.Key)
		switch {
		case err != nil || first.ExecutionID == nil:
		case isSameMail(first.BodyHash, a.firing.BodyHash):
			return &blueprint.DuplicateFiringError{FiringID: first.ID, ExecutionID: *first.ExecutionID}
		default:
			a.firing.Key = long
			return nil
		}
	}
	return nil
}

// startMail starts the run of a mail, or gives the firing that did. When another
// mail of its Message-ID was quicker, it is started under its long key.
func (t *Service) startMail(ctx context.Context, a *activation, long string) (first *blueprint.DuplicateFiringError, err error) {
	again := *a.firing
	_, err = t.start(ctx, a)
	if !errors.As(err, &first) || !a.keyed {
		return first, withoutDuplicate(err)
	}
	a.firing = &again
	if first = t.sameMail(ctx, a, long); first != nil {
		return first, nil
	}
	a.firing.Key = long
	_, err = t.start(ctx, a)
	errors.As(err, &first)
	return first, withoutDuplicate(err)
}

func withoutDuplicate(err error) error {
	var duplicate *blueprint.DuplicateFiringError
	if errors.As(err, &duplicate) {
		return nil
	}
	return err
}

// Whoever knows the address of a mailbox can write to it, and the ledger keeps
// what starts a run, once as it came and once as the run's input. So a trigger
// has mailBurst bytes of that to spare and gets mailRate of them back in each
// mailSpan: 8.5 GB in a day. A mail is let in while any of it is left, whatever
// its size, and owes what it takes beyond.
const (
	mailBurst = 64 << 20
	mailRate  = 1 << 20
	mailSpan  = 10 * time.Second
)

// mailBudget bounds the bytes of accepted mail. Its zero value is one in which
// nothing was taken.
type mailBudget struct {
	mu    sync.Mutex
	taken map[string]mailTaken // by trigger; one that took nothing lately is dropped
	swept time.Time            // when such were looked for last
}

// mailTaken is what a trigger took.
type mailTaken struct {
	bytes float64
	at    time.Time // when that was right
}

// take counts a mail for its trigger; not ok when nothing is left for it. Back
// gives back what it took.
func (b *mailBudget) take(a *activation, now time.Time) (back func(), ok bool) {
	input, err := blueprint.Encode(a.input)
	if err != nil {
		input = nil // starting it says so
	}
	id, size := a.firing.TriggerID, float64(len(a.firing.Delivery.Body)+len(input))
	b.mu.Lock()
	defer b.mu.Unlock()
	if passed := now.Sub(b.swept); passed < 0 || passed >= mailSpan {
		b.swept = now
		for other := range b.taken {
			b.put(other, b.at(other, now))
		}
	}
	have := b.at(id, now)
	if have.bytes >= mailBurst {
		return nil, false
	}
	have.bytes += size
	b.put(id, have)
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		have := b.taken[id]
		have.bytes -= size
		b.put(id, have)
	}, true
}

// at returns what a trigger took as it stands now.
func (b *mailBudget) at(id string, now time.Time) mailTaken {
	have, there := b.taken[id]
	if passed := now.Sub(have.at); there && passed > 0 {
		have.bytes = max(0, have.bytes-mailRate*float64(passed)/float64(mailSpan))
	}
	have.at = now
	return have
}

func (b *mailBudget) put(id string, have mailTaken) {
	if b.taken == nil {
		b.taken = map[string]mailTaken{}
	}
	if have.bytes <= 0 {
		delete(b.taken, id)
		return
	}
	b.taken[id] = have
}

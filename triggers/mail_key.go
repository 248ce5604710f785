package triggers

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"blueprintd/blueprint"
)

// A Message-ID is whatever its sender wrote: somebody who knows one that is on
// its way could use it first, and keep the real mail out. So two mails are the
// same when they have one Message-ID and, besides, either the domain that
// answers for both, or their authors and bodies. Other fields do not count: each
// server on the way adds some. The first mail of a Message-ID has that alone for
// its key; another one has its long key, which says what is in it.

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
	sum := sha256.New()
	for _, from := range m.From {
		fmt.Fprintf(sum, "%q ", from.Address)
	}
	sum.Write(body)
	digest := hex.EncodeToString(sum.Sum(nil))
	a.firing.Key, a.firing.BodyHash, a.keyed = mailKey(m.MessageID), digest+" "+received.Check.Domain, true
	long = a.firing.Key + " sha256:" + digest[:16]
	if len(long) > maxKey {
		long = mailKey(long)
	}
	return long
}

// mailKey gives the key of a Message-ID. A key has a blank only where it is a
// long one.
func mailKey(messageID string) string {
	if len(messageID) <= maxKey && !strings.Contains(messageID, " ") {
		return messageID
	}
	sum := sha256.Sum256([]byte(messageID))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// isSameMail holds what identify found of two mails of one Message-ID against
// each other.
func isSameMail(one, other string) bool {
	digest, domain, _ := strings.Cut(one, " ")
	otherDigest, otherDomain, _ := strings.Cut(other, " ")
	return digest == otherDigest || domain != "" && domain == otherDomain
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

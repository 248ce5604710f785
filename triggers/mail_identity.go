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

// Mails with the same Message-ID and author are duplicates, even if they differ
// otherwise, because some senders rebuild a mail when they retry. But a sender can
// use any Message-ID, also one of a mail in transit, to suppress that mail. So an
// authenticated mail is a duplicate only if the same domain authenticated both, or
// if author and body are equal. The key of the first mail with a Message-ID is that
// id; another mail with it gets a long key, which includes a digest of the content.

// setMailKey sets the key of the firing and the digests that isSameMail compares,
// and returns the long key. A mail without a Message-ID is never a duplicate.
func (a *activation) setMailKey(received *blueprint.ReceivedMail) (longKey string) {
	m := received.Mail
	if m.MessageID == "" {
		return ""
	}
	body, noHeader := bytes.CutPrefix(received.Raw, []byte("\r\n"))
	if !noHeader {
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
	longKey = a.firing.Key + " sha256:" + digest[:16]
	if len(longKey) > maxKey {
		longKey = mailKey(longKey)
	}
	return longKey
}

// mailKey returns the key of a Message-ID. Only long keys contain a blank.
func mailKey(messageID string) string {
	if len(messageID) <= maxKey && !strings.Contains(messageID, " ") {
		return messageID
	}
	sum := sha256.Sum256([]byte(messageID))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// isSameMail compares the digests of two mails with the same Message-ID.
func isSameMail(first, mail string) bool {
	a, b := strings.SplitN(first, " ", 3), strings.SplitN(mail, " ", 3)
	if len(a) != 3 || len(b) != 3 {
		return true
	}
	const author, content, domain = 0, 1, 2
	if b[domain] == "" {
		return a[author] == b[author]
	}
	return a[domain] == b[domain] || a[content] == b[content]
}

// earlierMail returns the firing with which a mail has already started a run. If a
// different mail used its key, it sets the long key.
func (t *Service) earlierMail(ctx context.Context, a *activation, longKey string) *blueprint.DuplicateFiringError {
	if !a.keyed {
		return nil
	}
	key := a.firing.Key
	for _, a.firing.Key = range []string{longKey, key} {
		first, err := t.Store.StartedFiring(ctx, a.firing.TriggerID, a.firing.Key)
		switch {
		case err != nil || first.ExecutionID == nil:
		case isSameMail(first.BodyHash, a.firing.BodyHash):
			return &blueprint.DuplicateFiringError{FiringID: first.ID, ExecutionID: *first.ExecutionID}
		default:
			a.firing.Key = longKey
			return nil
		}
	}
	return nil
}

// startMail starts the run of a mail, or returns the firing that already did. If a
// different mail used the key concurrently, it uses the long key.
func (t *Service) startMail(ctx context.Context, a *activation, longKey string) (first *blueprint.DuplicateFiringError, err error) {
	firing := *a.firing
	_, err = t.start(ctx, a)
	if errors.As(err, &first) && a.keyed {
		a.firing, first = &firing, nil
		if first = t.earlierMail(ctx, a, longKey); first != nil {
			return first, nil
		}
		a.firing.Key = longKey
		_, err = t.start(ctx, a)
	}
	if errors.As(err, &first) {
		return first, nil
	}
	return nil, err
}

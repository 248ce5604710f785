package triggers

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"blueprintd/blueprint"
)

type emailConfig struct {
	AllowFrom   senderList `key:"allowFrom" doc:"the allowed senders: addresses, and domains such as @example.org"`
	Attachments text       `key:"attachments" enum:"store|ignore" doc:"whether attachments are stored (the default) or ignored"`
	RequireAuth boolean    `key:"requireAuth" doc:"whether the sender's domain must authenticate the mail"`
	Address     assigned   `key:"address" doc:"the address, which the server generates"`
}

func emailKind() *Kind {
	return define[emailConfig](blueprint.TriggerEmail, Kind{
		Title:       "Mail",
		Description: "Provides a mail address. Each message starts a run with its text and attachments.",
		Input:       `inputData is {"messageId", "from", "to", "subject", "text", "html", "date", "headers", "attachments"}.`,
		NeverFired:  "see that the server listens for mail (--smtp-addr), and that mail is sent to the address in its config",
		judge:       (*Service).judgeRawMail,
		guard: func(key string) string {
			switch {
			case guards(key, "auth", "verify", "signature"):
				return `"requireAuth", and "allowFrom" for the senders`
			case guards(key, "sender", "from", "allow", "domain", "filter"):
				return `"allowFrom"`
			}
			return ""
		},
	})
}

// senderList is a list of addresses and @domains.
type senderList []string

func (senderList) check(c *checker, f *field) {
	value := c.config[f.key]
	if value == nil {
		return
	}
	list, ok := value.([]any)
	if !ok {
		c.refuse("must be a list of addresses and @domains", f.key)
	}
	for i, element := range list {
		text, _ := element.(string)
		_, domain, found := strings.Cut(text, "@")
		if !found || domain == "" || len(text) > maxText || strings.ContainsAny(text, " \t\r\n<>,") {
			c.refuse("write @example.org for a domain, ada@example.org for an address", f.key, i)
		}
	}
}

func (senderList) schema(*field) map[string]any {
	return map[string]any{"type": []any{"array", "null"}, "items": map[string]any{"type": "string", "pattern": "@."}}
}

// MailOptions configure email triggers; the zero value disables them.
type MailOptions struct {
	Domain string // of every mailbox
	// Mailbox returns the trigger of a local part in lower case, or CodeNotFound.
	Mailbox func(ctx context.Context, local string) (triggerID string, err error)
	// Parse parses a mail. The error is CodeBadRequest.
	Parse   func(raw []byte) (*blueprint.Mail, error)
	FileURL func(id string) string
}

// noMailbox is returned for unknown, deleted and inactive triggers: it reveals nothing.
func noMailbox() *blueprint.Error {
	return blueprint.Errorf(blueprint.CodeNotFound, "no mailbox here: the trigger does not exist, was deleted, or is not active")
}

// Mailbox returns nil if a trigger accepts mail at a local part, which is in lower
// case: it is active, and its creator can still manage the blueprint. Otherwise the
// error is CodeNotFound, or CodeUnavailable during a pause after failures. The
// refused delivery of an existing trigger gets a row.
func (t *Service) Mailbox(ctx context.Context, local string, envelope *blueprint.Envelope) error {
	_, err := t.mailbox(ctx, local, unreceived(envelope, local, 0))
	return err
}

// RefuseMail records a mail for a local part that the server refuses itself. Size is
// the number of bytes known to be in it.
func (t *Service) RefuseMail(ctx context.Context, local string, envelope *blueprint.Envelope, size int64, why blueprint.Reason) {
	ctx = context.WithoutCancel(ctx)
	delivery := unreceived(envelope, local, size)
	binding, err := t.mailbox(ctx, local, delivery)
	if err != nil { // it has a row, or there is no trigger
		return
	}
	firing := t.newFiring(binding.Trigger.ID, blueprint.SourceEmail)
	firing.Delivery = delivery
	t.refuseDelivery(ctx, firing, &refusal{why: why})
}

// mailbox returns the binding of a mailbox, or records the delivery as refused.
func (t *Service) mailbox(ctx context.Context, local string, delivery *blueprint.Delivery) (*blueprint.Binding, error) {
	if t.Mail.Mailbox == nil {
		return nil, noMailbox()
	}
	id, err := t.Mail.Mailbox(ctx, local)
	var binding *blueprint.Binding
	if err == nil {
		binding, err = t.Store.Binding(ctx, id)
	}
	answer, why := noMailbox(), blueprint.Reason{}
	switch {
	case blueprint.CodeOf(err) == blueprint.CodeNotFound:
		return nil, noMailbox()
	case err != nil:
		return nil, t.failure(id, err)
	case binding.Trigger.Type != blueprint.TriggerEmail:
		return nil, noMailbox()
	case !binding.CanManage:
		why = lostAccess
	case binding.Tripped != nil: // may be active again before the sender stops retrying
		if answer = t.pause(binding); answer == nil && binding.RetryAt != 0 {
			return binding, nil
		}
		answer = cmp.Or(answer, blueprint.Errorf(blueprint.CodeUnavailable, "this mailbox is paused: try again later"))
		why = offReason(binding)
	case !binding.Trigger.IsActive:
		why = offReason(binding)
	default:
		return binding, nil
	}
	firing := t.newFiring(id, blueprint.SourceEmail)
	firing.Delivery = delivery
	t.refuseDelivery(ctx, firing, &refusal{answer: answer, why: why})
	return nil, answer
}

// ReceiveMail decides about a mail for a local part. It returns nil once the decision
// is durable: the mail started a run, now or earlier, or a filter skipped it.
//
// Errors: CodeNotFound as Mailbox; CodeBadRequest if the blueprint cannot run;
// CodeUnavailable, CodeTooManyRequests and CodeInternal are temporary.
func (t *Service) ReceiveMail(ctx context.Context, local string, received *blueprint.ReceivedMail) error {
	ctx = context.WithoutCancel(ctx) // the decision is made even if the sender disconnects
	delivery := mailDelivery(local, received)
	binding, err := t.mailbox(ctx, local, delivery)
	if err != nil {
		return err
	}
	a := &activation{binding: binding, firing: t.newFiring(binding.Trigger.ID, blueprint.SourceEmail), patience: atOnce}
	a.firing.Delivery = delivery
	longKey := a.setMailKey(received)
	if first := t.earlierMail(ctx, a, longKey); first != nil {
		t.recordDuplicate(ctx, a, first)
		return nil
	}
	if refused := t.judgeMail(a, received.Mail, a.firing.ReceivedAt.Time()); refused != nil {
		return t.rejectMail(ctx, a, refused)
	}
	var paused *blueprint.Error
	switch a.binding, a.resumed, paused = t.resume(ctx, binding); {
	case paused != nil:
		a.firing.Files = nil
		return t.rejectMail(ctx, a, &refusal{answer: paused, why: offReason(binding)})
	case !a.binding.Trigger.IsActive: // switched off concurrently
		a.firing.Files = nil
		return t.rejectMail(ctx, a, &refusal{answer: noMailbox(), why: blueprint.NewReason(blueprint.ReasonInactive)})
	case a.resumed:
		a.firing.SetReason(a.firing.Why.With("letIn", true))
	}
	undo, ok := t.mails.take(a, t.Clock.Now(), t.Nodes())
	if !ok {
		a.firing.Files, delivery.Body = nil, nil // the sender keeps the mail and retries
		return t.rejectMail(ctx, a, &refusal{answer: blueprint.Errorf(blueprint.CodeTooManyRequests, "too much mail for this address now")})
	}
	first, err := t.startMail(ctx, a, longKey)
	if err == nil && first == nil {
		return nil
	}
	undo()
	switch {
	case first != nil:
		t.recordDuplicate(ctx, a, first)
		return nil
	case isLimited(err):
		return t.rejectMail(ctx, a, &refusal{why: shown(err).FiringReason()})
	}
	a.firing.Files = nil
	return t.rejectMail(ctx, a, &refusal{answer: t.failure(a.firing.TriggerID, err)})
}

// rejectMail records a mail that starts nothing and returns the error for the
// sender, nil for a skipped mail once its row is durable.
func (t *Service) rejectMail(ctx context.Context, a *activation, refused *refusal) error {
	if refused.answer != nil {
		t.refuseDelivery(ctx, a.firing, refused)
		return refused.answer
	}
	if !t.mayRecord(a.firing, refused.why) {
		return nil
	}
	decide(a.firing, blueprint.DecisionSkipped, refused.why)
	a.firing.Files = nil
	if err := t.Store.RecordFirings(ctx, a.firing.TriggerID, []blueprint.Firing{*a.firing}, 0); err != nil {
		return t.failure(a.firing.TriggerID, err)
	}
	t.counts.firings.Add(string(a.firing.Source), string(a.firing.Decision))
	return nil
}

// Pseudo-headers under which the ledger stores the envelope of a mail and the result
// of authenticating the sender. A redelivery uses that result: DNS records change.
const (
	envelopeFrom  = "envelope-from"
	envelopeTo    = "envelope-to"
	envelopeHello = "envelope-helo"
	envelopeTLS   = "envelope-tls"
	senderResults = "authentication-results"
	senderCheck   = "sender-check" // senderPassed, senderFailed or senderUndecided
	senderSPF     = "spf"
	senderDKIM    = "dkim"
	senderDMARC   = "dmarc"
	senderDomain  = "sender-domain"   // of the author, if authenticated
	senderTwice   = "repeated-header" // a field that the mail must not repeat

	senderPassed    = "pass"
	senderFailed    = "fail"
	senderUndecided = "temperror"
)

func envelopeHeader(envelope *blueprint.Envelope, local string) map[string][]string {
	tls := "no"
	if envelope.TLS {
		tls = "yes"
	}
	return map[string][]string{
		envelopeFrom: valid([]string{envelope.From}), envelopeTo: {local}, envelopeHello: valid([]string{envelope.Hello}), envelopeTLS: {tls},
	}
}

// unreceived returns the delivery of a mail that was refused before it was received
// and so cannot be redelivered.
func unreceived(envelope *blueprint.Envelope, local string, size int64) *blueprint.Delivery {
	d := &blueprint.Delivery{From: envelope.Remote, Header: envelopeHeader(envelope, local), Size: size}
	d.AddFact(factReceived, false)
	return d
}

// factReceived is false for a mail that was refused before it was received.
const factReceived = "received"

func mailDelivery(local string, received *blueprint.ReceivedMail) *blueprint.Delivery {
	check := &received.Check
	d := &blueprint.Delivery{From: received.Remote, Header: envelopeHeader(&received.Envelope, local), Size: int64(len(received.Raw)), Body: received.Raw}
	result := senderFailed
	switch {
	case check.Passed:
		result = senderPassed
	case check.Undecided:
		result = senderUndecided
	}
	for name, value := range map[string]string{senderCheck: result, senderResults: check.Results, senderSPF: check.SPF, senderDKIM: check.DKIM, senderDMARC: check.DMARC} {
		d.Header[name] = []string{value}
	}
	for name, value := range map[string]string{senderDomain: check.Domain, senderTwice: check.Repeated} {
		if value != "" {
			d.Header[name] = []string{value}
		}
	}
	return d
}

// stored returns a pseudo-header of a delivery, "" if it is absent.
func stored(d *blueprint.Delivery, name string) string { return strings.Join(d.Header[name], "") }

// mailInput returns the input of a run. The default of its date is the time of receipt.
func (t *Service) mailInput(m *blueprint.Mail, files []blueprint.File, d *blueprint.Delivery, received blueprint.Time) map[string]any {
	from := blueprint.MailAddress{}
	if len(m.From) > 0 {
		from = m.From[0]
	}
	to := make([]any, len(m.To))
	for i, one := range m.To {
		to[i] = addressValue(one)
	}
	date := received
	if !m.Date.IsZero() {
		date = blueprint.TimeOf(m.Date)
	}
	attachments := make([]any, len(files))
	for i, file := range files {
		attachments[i] = t.fileValue(&file)
	}
	return map[string]any{
		"messageId": m.MessageID, "from": addressValue(from), "to": to, "subject": m.Subject, "text": m.Text, "html": m.HTML,
		"date": date.String(), "headers": t.mailHeaders(m, stored(d, senderResults)), "attachments": attachments,
	}
}

// fileValue returns a file as a run sees it.
func (t *Service) fileValue(file *blueprint.File) map[string]any {
	return map[string]any{
		"id": file.ID, "filename": file.Name, "contentType": file.ContentType, "size": json.Number(strconv.FormatInt(file.Size, 10)), "url": t.Mail.FileURL(file.ID),
	}
}

func addressValue(one blueprint.MailAddress) map[string]any {
	return map[string]any{"address": one.Address, "name": one.Name}
}

// mailHeaders returns the headers of a mail. The first Authentication-Results field
// is that of this server; it removes others that claim to be (RFC 8601, section 5).
func (t *Service) mailHeaders(m *blueprint.Mail, results string) map[string]any {
	out := make(map[string]any, len(m.Headers)+1)
	for name, values := range m.Headers {
		var list []any
		for _, value := range values {
			if name != senderResults || !t.claimsToBeOurs(value) {
				list = append(list, value)
			}
		}
		if len(list) > 0 {
			out[name] = list
		}
	}
	if results != "" {
		others, _ := out[senderResults].([]any)
		out[senderResults] = append([]any{results}, others...)
	}
	return out
}

// claimsToBeOurs reports whether an Authentication-Results field may name this
// server, also within comments and quotes.
func (t *Service) claimsToBeOurs(value string) bool {
	author, _, _ := strings.Cut(value, ";")
	return strings.Contains(strings.ToLower(author), strings.ToLower(t.Mail.Domain))
}

// judgeRawMail judges a stored mail.
func (t *Service) judgeRawMail(a *activation, at time.Time) *refusal {
	if t.Mail.Parse == nil {
		return &refusal{answer: blueprint.Errorf(blueprint.CodeBadRequest, "this server does not receive mail")}
	}
	m, err := t.Mail.Parse(a.firing.Delivery.Body)
	if err != nil {
		return &refusal{answer: shown(err)}
	}
	return t.judgeMail(a, m, at)
}

// judgeMail applies the trigger's filters to a mail received then, and sets the input.
func (t *Service) judgeMail(a *activation, m *blueprint.Mail, at time.Time) *refusal {
	d, config := a.firing.Delivery, read[emailConfig](a.binding.Trigger.Config)
	for _, name := range []string{senderSPF, senderDKIM, senderDMARC} {
		d.AddFact(name, stored(d, name))
	}
	if repeated := stored(d, senderTwice); repeated != "" {
		d.AddFact("repeatedHeader", repeated)
	}
	d.AddFact("from", addressesOf(m.From))
	d.AddFact("messageId", m.MessageID)
	if why := senderFilter(a.binding.Trigger.Config["allowFrom"], m); why.Code != "" {
		return &refusal{why: why}
	}
	if bool(config.RequireAuth) {
		switch stored(d, senderCheck) {
		case senderPassed:
		case senderUndecided:
			code := blueprint.CodeUnavailable // the sender retries
			if a.firing.Source == blueprint.SourceRedelivery {
				code = blueprint.CodeBadRequest
			}
			return &refusal{answer: blueprint.Errorf(code, "requireAuth: a DNS failure prevented authenticating the domain of the sender")}
		default:
			if repeated := stored(d, senderTwice); repeated != "" {
				return &refusal{why: blueprint.NewReason(blueprint.ReasonRequireAuth, "repeated", repeated)}
			}
			return &refusal{why: blueprint.NewReason(blueprint.ReasonRequireAuth, "results", stored(d, senderResults))}
		}
	}
	var files []blueprint.File
	if config.Attachments != "ignore" {
		files = make([]blueprint.File, len(m.Attachments))
		for i, file := range m.Attachments {
			file.ID = t.IDs.At(t.Clock.Now(), "file", a.firing.ID).Token(fileID)
			files[i] = file
		}
	}
	a.input = t.mailInput(m, files, d, blueprint.TimeOf(at))
	a.firing.Files = files
	if a.firing.Why.Code == "" {
		a.firing.SetReason(blueprint.NewReason(blueprint.ReasonMail, "from", addressesOf(m.From)))
	}
	return nil
}

// fileID is the length of a file's id, in characters, which must not be guessable.
const fileID = 32

// senderFilter returns why config.allowFrom skips a mail; its code is "" if it does
// not. All addresses of the From field must be on the list.
func senderFilter(list any, m *blueprint.Mail) (why blueprint.Reason) {
	allowed, ok := list.([]any)
	if !ok {
		return why
	}
	if len(m.From) == 0 {
		return blueprint.NewReason(blueprint.ReasonAllowFrom)
	}
	for _, from := range m.From {
		if !isAllowed(allowed, from.Address) {
			return blueprint.NewReason(blueprint.ReasonAllowFrom, "address", from.Address)
		}
	}
	return why
}

func isAllowed(list []any, address string) bool {
	at := strings.LastIndexByte(address, '@')
	if at < 0 {
		return false
	}
	for _, entry := range list {
		wanted, _ := entry.(string)
		if strings.HasPrefix(wanted, "@") && strings.EqualFold(wanted, address[at:]) || strings.EqualFold(wanted, address) {
			return true
		}
	}
	return false
}

func addressesOf(list []blueprint.MailAddress) string {
	var all []string
	for _, one := range list {
		all = append(all, one.Address)
	}
	if len(all) == 0 {
		return "unknown"
	}
	return shorten(strings.Join(all, ", "))
}

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

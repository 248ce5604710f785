package triggers

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"blueprintd/blueprint"
)

type emailConfig struct {
	AllowFrom   senderList `key:"allowFrom" doc:"who may send: addresses, and domains as @example.org"`
	Attachments text       `key:"attachments" enum:"store|ignore" doc:"what becomes of attached files; store when left out"`
	RequireAuth boolean    `key:"requireAuth" doc:"whether the sender's domain must vouch for the mail"`
	Address     assigned   `key:"address" doc:"the address; the server chooses it"`
}

func emailKind() *Kind {
	return define(definition[emailConfig]{
		of:          blueprint.TriggerEmail,
		description: "Fires when mail comes to its address.",
		neverFired:  "see that the server listens for mail (--smtp-addr), and that mail is sent to the address in its config",
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

// MailOptions are what a Service needs for email triggers; without them nobody
// takes mail.
type MailOptions struct {
	// Domain stands behind the @ of every mailbox.
	Domain string
	// Mailbox gives the trigger of a local part in lower case, or CodeNotFound.
	Mailbox func(ctx context.Context, address string) (triggerID string, err error)
	// Parse reads a mail; a mail that cannot be taken is CodeBadRequest.
	Parse func(raw []byte) (*blueprint.Mail, error)
	// FileURL gives the address of a file.
	FileURL func(id string) string
}

// noMailbox is told to whoever writes to where nobody takes mail. It is the
// same for every cause, so that it tells a stranger nothing.
func noMailbox() *blueprint.Error {
	return blueprint.Errorf(blueprint.CodeNotFound, "no mailbox here: the trigger does not exist, was deleted, or is not active")
}

// Mailbox is nil when a trigger takes mail at a local part, which is in lower
// case: it is active, and its creator can still manage the blueprint. Otherwise
// it is CodeNotFound, or CodeUnavailable when the server switched the trigger off
// and it may be on again later, with a row for a trigger that exists: the mail,
// which is refused before it is sent, is a delivery too.
func (t *Service) Mailbox(ctx context.Context, local string, envelope *blueprint.Envelope) error {
	_, err := t.mailbox(ctx, local, unreceived(envelope, local, 0))
	return err
}

// RefuseMail records a mail for a local part that the server refuses, whatever
// the trigger: why, and how many bytes it has as far as that is known.
func (t *Service) RefuseMail(ctx context.Context, local string, envelope *blueprint.Envelope, size int64, why blueprint.Reason) {
	ctx = context.WithoutCancel(ctx)
	came := unreceived(envelope, local, size)
	binding, err := t.mailbox(ctx, local, came)
	if err != nil { // the row is there, or there is no trigger
		return
	}
	firing := t.newFiring(binding.Trigger.ID, blueprint.SourceEmail)
	firing.Delivery = came
	t.refuseDelivery(ctx, firing, &refusal{why: why})
}

func (t *Service) mailbox(ctx context.Context, local string, came *blueprint.Delivery) (*blueprint.Binding, error) {
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
	case binding.Tripped != nil: // by the server: it may be on again before the sender gives up
		wait, over := t.pause(binding)
		if over && binding.RetryAt != 0 {
			return binding, nil
		}
		if answer = wait; over {
			answer = blueprint.Errorf(blueprint.CodeUnavailable, "this mailbox takes a rest: try again later")
		}
		why = offReason(binding)
	case !binding.Trigger.IsActive:
		why = offReason(binding)
	default:
		return binding, nil
	}
	firing := t.newFiring(id, blueprint.SourceEmail)
	firing.Delivery = came
	t.refuseDelivery(ctx, firing, &refusal{answer: answer, why: why})
	return nil, answer
}

// ReceiveMail decides about a mail for a local part. Nil says that it is
// decided, and that the decision is on the disk: a run was started, or was
// before by the same mail, or a filter left the mail out.
//
// Errors: CodeNotFound as with Mailbox; CodeBadRequest when the blueprint cannot
// run; CodeUnavailable, CodeTooManyRequests and CodeInternal for what may pass.
func (t *Service) ReceiveMail(ctx context.Context, local string, received *blueprint.ReceivedMail) error {
	// Who sent it may leave; what becomes of the mail is to be known all the same.
	ctx = context.WithoutCancel(ctx)
	came := mailDelivery(local, received)
	binding, err := t.mailbox(ctx, local, came)
	if err != nil {
		return err
	}
	a := &activation{binding: binding, firing: t.newFiring(binding.Trigger.ID, blueprint.SourceEmail), patience: atOnce}
	a.firing.Delivery = came
	long := a.identify(received)
	if first := t.sameMail(ctx, a, long); first != nil {
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
	case !a.binding.Trigger.IsActive: // somebody switched it off a moment ago
		a.firing.Files = nil
		return t.rejectMail(ctx, a, &refusal{answer: noMailbox(), why: blueprint.NewReason(blueprint.ReasonInactive)})
	case a.resumed:
		a.firing.SetReason(a.firing.Why.With("letIn", true))
	}
	spare, ok := t.mails.take(a, t.Clock.Now())
	if !ok {
		a.firing.Files, came.Body = nil, nil // its sender has it, and comes again
		return t.rejectMail(ctx, a, &refusal{answer: blueprint.Errorf(blueprint.CodeTooManyRequests, "too much mail for this address now")})
	}
	first, err := t.startMail(ctx, a, long)
	if err == nil && first == nil {
		return nil
	}
	spare()
	switch {
	case first != nil:
		t.recordDuplicate(ctx, a, first)
		return nil
	case isLeftOut(err):
		return t.rejectMail(ctx, a, &refusal{why: shown(err).FiringReason()})
	}
	a.firing.Files = nil
	return t.rejectMail(ctx, a, &refusal{answer: t.failure(a.firing.TriggerID, err)})
}

// rejectMail records a mail that starts nothing, and gives what its sender is
// told: nothing when a filter left it out, once that is on the disk.
func (t *Service) rejectMail(ctx context.Context, a *activation, refused *refusal) error {
	if refused.answer != nil {
		t.refuseDelivery(ctx, a.firing, refused)
		return refused.answer
	}
	if !t.mayRecord(a.firing, refused.why) {
		return nil // it is counted
	}
	decide(a.firing, blueprint.DecisionSkipped, refused.why)
	a.firing.Files = nil
	if err := t.Store.RecordFirings(ctx, a.firing.TriggerID, []blueprint.Firing{*a.firing}, 0); err != nil {
		return t.failure(a.firing.TriggerID, err)
	}
	t.counts.firings.Add(string(a.firing.Source), string(a.firing.Decision))
	return nil
}

// What the ledger keeps of a mail besides the mail itself, as if it were
// headers: what its envelope said, and who sent it as far as that was found out
// when it came. A mail that is judged anew is not looked up anew: keys and
// addresses in the DNS change.
const (
	envelopeFrom  = "envelope-from"
	envelopeTo    = "envelope-to"
	envelopeHello = "envelope-helo"
	envelopeTLS   = "envelope-tls"
	senderResults = "authentication-results"
	senderCheck   = "sender-check" // one of the three below
	senderSPF     = "spf"
	senderDKIM    = "dkim"
	senderDMARC   = "dmarc"
	senderDomain  = "sender-domain"   // the author's, when the check passed
	senderTwice   = "repeated-header" // the field of which the mail has too many

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

// unreceived is what the ledger stores of a mail that was refused before it was
// there: nothing can be decided anew about it.
func unreceived(envelope *blueprint.Envelope, local string, size int64) *blueprint.Delivery {
	d := &blueprint.Delivery{From: envelope.Remote, Header: envelopeHeader(envelope, local), Size: size}
	d.AddFact(factReceived, false)
	return d
}

// factReceived is false for what was refused before it was there.
const factReceived = "received"

// mailDelivery is what the ledger stores of a mail.
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

// kept returns what a delivery has under a name; "" when it has nothing.
func kept(d *blueprint.Delivery, name string) string { return strings.Join(d.Header[name], "") }

// mailInput is what a run sees of a mail. Without a date that can be read, its
// date is when it came.
func (t *Service) mailInput(m *blueprint.Mail, files []blueprint.File, d *blueprint.Delivery, came blueprint.Time) map[string]any {
	from := blueprint.MailAddress{}
	if len(m.From) > 0 {
		from = m.From[0]
	}
	to := make([]any, len(m.To))
	for i, one := range m.To {
		to[i] = addressValue(one)
	}
	date := came
	if !m.Date.IsZero() {
		date = blueprint.TimeOf(m.Date)
	}
	attachments := make([]any, len(files))
	for i, file := range files {
		attachments[i] = map[string]any{
			"id": file.ID, "filename": file.Name, "contentType": file.ContentType, "size": json.Number(strconv.FormatInt(file.Size, 10)), "url": t.Mail.FileURL(file.ID),
		}
	}
	return map[string]any{
		"messageId": m.MessageID, "from": addressValue(from), "to": to, "subject": m.Subject, "text": m.Text, "html": m.HTML,
		"date": date.String(), "headers": t.mailHeaders(m, kept(d, senderResults)), "attachments": attachments,
	}
}

func addressValue(one blueprint.MailAddress) map[string]any {
	return map[string]any{"address": one.Address, "name": one.Name}
}

// mailHeaders returns the headers of a mail. The first report of who sent it is
// our own; those that claim to be are taken out, for the headers of a mail are
// whatever its sender wrote (RFC 8601, 5).
func (t *Service) mailHeaders(m *blueprint.Mail, results string) map[string]any {
	out := make(map[string]any, len(m.Headers)+1)
	for name, values := range m.Headers {
		list := make([]any, 0, len(values)+1)
		if name == senderResults {
			if results != "" {
				list = append(list, results)
			}
		}
		for _, value := range values {
			if name != senderResults || !t.claimsToBeOurs(value) {
				list = append(list, value)
			}
		}
		if len(list) > 0 {
			out[name] = list
		}
	}
	if _, there := out[senderResults]; !there && results != "" {
		out[senderResults] = []any{results}
	}
	return out
}

// claimsToBeOurs reports whether a report may be read as one by this server. In
// doubt it may: comments and quotes can hide a word.
func (t *Service) claimsToBeOurs(report string) bool {
	author, _, _ := strings.Cut(report, ";")
	return strings.Contains(strings.ToLower(author), strings.ToLower(t.Mail.Domain))
}

// judgeRawMail reads what came and decides about it.
func (t *Service) judgeRawMail(a *activation, at time.Time) *refusal {
	if t.Mail.Parse == nil {
		return &refusal{answer: blueprint.Errorf(blueprint.CodeBadRequest, "this server reads no mail")}
	}
	m, err := t.Mail.Parse(a.firing.Delivery.Body)
	if err != nil {
		return &refusal{answer: shown(err)}
	}
	return t.judgeMail(a, m, at)
}

// judgeMail holds a mail against the trigger's filters and makes the input of
// its run. At is when it came.
func (t *Service) judgeMail(a *activation, m *blueprint.Mail, at time.Time) *refusal {
	d, config := a.firing.Delivery, read[emailConfig](a.binding.Trigger.Config)
	for _, name := range []string{senderSPF, senderDKIM, senderDMARC} {
		d.AddFact(name, kept(d, name))
	}
	if twice := kept(d, senderTwice); twice != "" {
		d.AddFact("repeatedHeader", twice)
	}
	d.AddFact("from", addressesOf(m.From))
	d.AddFact("messageId", m.MessageID)
	if why := fromWhom(a.binding.Trigger.Config["allowFrom"], m); why.Code != "" {
		return &refusal{why: why}
	}
	if bool(config.RequireAuth) {
		switch kept(d, senderCheck) {
		case senderPassed:
		case senderUndecided:
			// Whoever sent it tries again; who has it judged again cannot.
			code := blueprint.CodeUnavailable
			if a.firing.Source == blueprint.SourceRedelivery {
				code = blueprint.CodeBadRequest
			}
			return &refusal{answer: blueprint.Errorf(code, "requireAuth: the DNS did not say whether the domain of the sender answers for the mail")}
		default:
			if twice := kept(d, senderTwice); twice != "" {
				return &refusal{why: blueprint.NewReason(blueprint.ReasonRequireAuth, "repeated", twice)}
			}
			return &refusal{why: blueprint.NewReason(blueprint.ReasonRequireAuth, "results", kept(d, senderResults))}
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

// fileID is the length of a file's id, in characters: it cannot be guessed.
const fileID = 32

// fromWhom returns why a list of addresses and @domains leaves a mail out, without
// a code when it does not. Everybody whom the mail says it is from must be on the list.
func fromWhom(list any, m *blueprint.Mail) (why blueprint.Reason) {
	allowed, ok := list.([]any)
	if !ok {
		return why // no list, or none that could be stored
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
		return "nobody"
	}
	return shorten(strings.Join(all, ", "))
}

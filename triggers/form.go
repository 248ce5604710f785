package triggers

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"net/http"
	"strings"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/form"
	"blueprintd/foundation/secret"
)

// A webhook trigger with config.form shows a form to browsers: GET returns the page, and
// POST with its fields starts the run. The input is an object that matches the schema.

// formSchema is a JSON Schema of an object whose properties a form can ask for.
type formSchema map[string]any

func (formSchema) check(c *checker, f *field) {
	value := c.config[f.key]
	if value == nil {
		return
	}
	before := len(c.issues)
	inputSchema(nil).check(c, f)
	if schema, ok := value.(map[string]any); ok && len(c.issues) == before {
		form.Check(schema, func(message string, path ...any) { c.refuse(message, append([]any{f.key}, path...)...) })
	}
	for _, key := range []string{"secret", "preset"} {
		if c.config[key] != nil {
			c.refuse("must be absent with a form: browsers cannot sign", key)
		}
	}
}

func (formSchema) schema(f *field) map[string]any { return inputSchema(nil).schema(f) }

// lines is a text of several lines.
type lines string

const maxLines = 2000 // bytes

func (lines) check(c *checker, f *field) { c.text(f.key, maxLines) }

// readForm sets input, files and key of an activation from a submitted form.
func (t *Service) readForm(a *activation, media, boundary string) *blueprint.Error {
	s, refused := form.Read(media, boundary, a.firing.Delivery.Body)
	if refused != nil {
		return refused
	}
	schema, _ := a.binding.Trigger.Config["form"].(map[string]any)
	var files []blueprint.File
	a.input = s.Input(form.FieldsOf(schema), func(file blueprint.File) map[string]any {
		file.ID = t.IDs.At(t.Clock.Now(), "file", a.firing.ID).Token(fileID)
		files = append(files, file)
		return t.fileValue(&file)
	})
	a.firing.Files = files
	if ticket := s.Values.Get(form.TicketName); len(ticket) <= maxKey {
		a.bodyID = ticket
	}
	return nil
}

// How old the page of a form is when it is sent: people need at least the first, unless the
// clock is one of tests, and the key of the run is remembered for longer than the second.
const (
	minFormAge = 2 * time.Second
	maxFormAge = 24 * time.Hour
)

// newTicket returns the key of the next submission of a form, with the time of the page, signed.
func (t *Service) newTicket(triggerID string) string {
	ticket := binary.BigEndian.AppendUint64(nil, uint64(t.Clock.Now().UnixMilli()))
	ticket = append(ticket, t.IDs.Bytes(12)...)
	return secret.EncodeToken(append(ticket, t.signTicket(triggerID, ticket)...))
}

func (t *Service) signTicket(triggerID string, ticket []byte) []byte {
	mac := hmac.New(sha256.New, t.FormKey)
	mac.Write([]byte(triggerID))
	mac.Write(ticket)
	return mac.Sum(nil)[:16]
}

// checkTicket returns why a submission is not accepted; "" if it is.
func (t *Service) checkTicket(triggerID, ticket string) string {
	data, err := secret.DecodeToken(ticket)
	if err != nil || len(data) != 8+12+16 || !hmac.Equal(data[20:], t.signTicket(triggerID, data[:20])) {
		return "The form has to be sent from this page. Check your answers, then send it again."
	}
	_, passes := t.Clock.(clock.Real)
	switch age := t.Clock.Now().Sub(time.UnixMilli(int64(binary.BigEndian.Uint64(data)))); {
	case age < minFormAge && passes:
		return "That was fast. Check your answers, then send the form again."
	case age > maxFormAge:
		return "This page was open for too long. Send the form again."
	}
	return ""
}

// hasForm reports whether a trigger shows a form.
func hasForm(trigger *blueprint.Trigger) bool {
	return trigger.Type == blueprint.TriggerWebhook && trigger.Config["form"] != nil
}

// serveForm answers GET with the form of a trigger, and POST of its fields. It returns false if
// the request is neither.
func (t *Service) serveForm(w http.ResponseWriter, c *inbound) bool {
	reads := c.Method == http.MethodGet || c.Method == http.MethodHead
	media, _ := form.Media(c.Header.Values("Content-Type"))
	if c.kind.Type != blueprint.TriggerWebhook || !reads && (c.Method != http.MethodPost || media == "") {
		return false
	}
	var page formPage
	binding, err := t.Store.Binding(context.WithoutCancel(c.Context()), c.id)
	switch {
	case err != nil && blueprint.CodeOf(err) != blueprint.CodeNotFound:
		page.fail(w, t.failure(c.id, err))
	case err == nil && hasForm(&binding.Trigger) && binding.CanManage && (binding.Trigger.IsActive || binding.RetryAt != 0):
		page.form, _ = binding.Trigger.Config["form"].(map[string]any)
		page.thanks = string(read[webhookConfig](binding.Trigger.Config).Thanks)
		if reads {
			page.show(w, http.StatusOK, t.newTicket(c.id), c.URL.Query())
			return true
		}
		defer t.Clock.Hold()()
		t.serveSubmission(w, c, &page)
	case strings.Contains(c.Header.Get("Accept"), "text/html"): // every address without a form gets this answer
		page.fail(w, noWebhook())
	default:
		return false
	}
	return true
}

func (t *Service) serveSubmission(w http.ResponseWriter, c *inbound, page *formPage) {
	body, refused := t.bodyOf(c)
	if refused != nil {
		page.fail(w, refused)
		return
	}
	media, boundary := form.Media(c.Header.Values("Content-Type"))
	if media == form.Multipart {
		body = append(form.Header(c.Header.Get("Content-Type")), body...)
		c.body = body
	}
	sent, refused := form.Read(media, boundary, body)
	if refused != nil {
		t.refuseSubmission(c, refused.Message)
		page.fail(w, refused)
		return
	}
	page.hadFiles = len(sent.Files) > 0
	again := func(status int, message string) {
		page.message = message
		page.show(w, status, t.newTicket(c.id), sent.Values)
	}
	if sent.IsTrapped() {
		t.refuseSubmission(c, "the hidden field of the form is filled in, as programs do")
		page.thank(w, "") // reveals nothing
		return
	}
	if why := t.checkTicket(c.id, sent.Values.Get(form.TicketName)); why != "" {
		t.refuseSubmission(c, "the form was sent within two seconds or after more than a day, or was not opened at this address")
		again(http.StatusBadRequest, why)
		return
	}
	c.form = true
	d := t.attempt(c)
	var duplicate *blueprint.DuplicateFiringError
	const failed = "Something went wrong on our side. Send the form again in a while."
	switch {
	case d.unknown != nil:
		page.fail(w, d.unknown)
		return
	case errors.As(d.err, &duplicate):
		page.thank(w, "This form was sent before, and its answers were received then. To send others, open it again.")
		return
	case isLimited(d.err):
		d.rejected = &refusal{why: shown(d.err).FiringReason(), answer: blueprint.Errorf(blueprint.CodeTooManyRequests, "the trigger starts no more runs now")}
	case d.err != nil:
		d.rejected = t.notStarted(d.activation, d.err)
	case d.rejected == nil && !page.answer(w, &d):
		again(http.StatusInternalServerError, failed)
		return
	case d.rejected == nil:
		return
	}
	if d.rejected.answer == nil {
		page.thank(w, "")
		return
	}
	t.refuseDelivery(c.Context(), d.firing, d.rejected)
	switch answer := d.rejected.answer; {
	case len(answer.Issues) > 0:
		page.issues = answer.Issues
		again(http.StatusBadRequest, "Some answers are missing or not valid.")
	case answer.Code == blueprint.CodeTooManyRequests:
		w.Header().Set("Retry-After", "60")
		again(http.StatusTooManyRequests, "Too many forms were sent. Wait a minute, then send the form again.")
	case answer.Code.HTTPStatus() >= 500:
		again(answer.Code.HTTPStatus(), failed)
	case answer.Code == blueprint.CodeNotFound, answer == form.ErrUnreadable:
		page.fail(w, answer)
	default: // the blueprint cannot run
		again(answer.Code.HTTPStatus(), "This form does not work at the moment. Its owner can see why.")
	}
}

// refuseSubmission records a submission that is not judged.
func (t *Service) refuseSubmission(c *inbound, why string) {
	firing := t.newFiring(c.id, c.kind.Source)
	firing.Delivery = newDelivery(c.Request)
	firing.Delivery.Body, firing.Delivery.Size = c.body, int64(len(c.body))
	t.refuseDelivery(c.Context(), firing, &refusal{answer: blueprint.Errorf(blueprint.CodeBadRequest, "%s", why)})
}

// checkSender limits how often a network starts runs of a trigger with a form, and refuses files
// that were not sent with the page.
func (t *Service) checkSender(a *activation, c *inbound) *blueprint.Error {
	schema, _ := a.binding.Trigger.Config["form"].(map[string]any)
	if input, ok := a.input.(map[string]any); ok && !a.form {
		for _, f := range form.FieldsOf(schema) {
			if (f.Control == "file" || f.Control == "files") && input[f.Name] != nil {
				return blueprint.Errorf(blueprint.CodeBadRequest, "%s is a file, which only the page of the form can send", f.Name).WithReason(blueprint.ReasonInput)
			}
		}
	}
	if !t.forms.Take(c.id+" "+t.Network(c.Request), t.Clock.Now()) {
		return &blueprint.Error{Code: blueprint.CodeTooManyRequests, Message: "too many forms from this network", RetryAfter: form.Interval}
	}
	return nil
}

// answer shows what a run answers: the response of its respond node, or a text that it ends
// with. It returns false for a run that failed.
func (p *formPage) answer(w http.ResponseWriter, d *decided) bool {
	if !d.waits() {
		p.thank(w, "")
		return true
	}
	if response := d.run.Response(); response != nil {
		writeResponse(w, response)
		return true
	}
	var ending blueprint.Ending
	select {
	case <-d.run.Ended():
		ending, _ = d.run.Ending(context.Background())
	default:
	}
	if ending.Status.Terminal() && ending.Status != blueprint.StatusCompleted {
		return false
	}
	text, _ := ending.Output.(string)
	p.thank(w, text)
	return true
}

package triggers

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"blueprintd/blueprint"
	"blueprintd/blueprint/jsonschema"
	"blueprintd/foundation/clock"
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
		checkForm(schema, func(message string, path ...any) { c.refuse(message, append([]any{f.key}, path...)...) })
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

// formField is one property of a form's schema.
type formField struct {
	Name        string
	Title       string
	Description string
	Control     string // text, lines, number, checkbox, choice, choices, file or files
	Type        string // of an input element: text, email, url, date, number
	Required    bool
	Options     []string // of a choice
	Step        string   // of a number
	Keypad      string   // of a number, on phones
	MaxLength   string
	Default     []string

	numbers bool // the options are numbers
}

// controls says which properties a form can have.
const controls = "must be a string, number, integer or boolean, a list of choices, or a file (an object with the format file)"

// checkForm reports what of a schema a form cannot ask for.
func checkForm(schema map[string]any, refuse func(message string, path ...any)) {
	properties, _ := schema["properties"].(map[string]any)
	if schema["type"] != "object" || len(properties) == 0 {
		refuse(`must have the type "object", and properties`)
		return
	}
	for _, field := range formFieldsOf(schema) {
		if strings.HasPrefix(field.Name, "_") {
			refuse("must not begin with _", "properties", field.Name)
		} else if field.Control == "" {
			refuse(controls, "properties", field.Name)
		}
	}
	order, isList := schema["x-order"].([]any)
	if schema["x-order"] != nil && !isList {
		refuse("must be a list of the names of properties", "x-order")
	}
	for i, name := range order {
		if text, ok := name.(string); !ok || properties[text] == nil {
			refuse("must be the name of a property", "x-order", i)
		}
	}
}

// formFieldsOf returns the fields of a form.
func formFieldsOf(schema map[string]any) (fields []formField) {
	for _, member := range jsonschema.Members(schema) {
		field := formFieldOf(member.Name, member.Schema)
		field.Required = member.Required
		fields = append(fields, field)
	}
	return fields
}

func formFieldOf(name string, schema map[string]any) (f formField) {
	f = formField{Name: name, Title: name, Type: "text"}
	if title, _ := schema["title"].(string); title != "" {
		f.Title = title
	}
	f.Description, _ = schema["description"].(string)
	f.Options = optionsOf(schema["enum"])
	switch value := schema["default"].(type) {
	case nil:
	case []any:
		f.Default = optionsOf(value)
	default:
		f.Default = optionsOf([]any{value})
	}
	format, _ := schema["format"].(string)
	switch kind := schema["type"]; {
	case (kind == "string" || kind == "integer" || kind == "number") && schema["enum"] != nil:
		f.numbers = kind != "string"
		if f.Options != nil {
			f.Control = "choice"
		}
	case kind == "string":
		f.Control = "text"
		switch length, _ := schema["maxLength"].(json.Number); format {
		case "email", "date":
			f.Type, f.MaxLength = format, length.String()
		case "uri":
			f.Type, f.MaxLength = "url", length.String()
		default:
			f.MaxLength = length.String()
			if n, err := length.Int64(); err == nil && n > 200 || format == "textarea" {
				f.Control = "lines"
			}
		}
	case kind == "integer", kind == "number":
		f.Control, f.Type, f.Step = "number", "number", "any"
		minimum, _ := schema["minimum"].(json.Number)
		switch isPositive := minimum != "" && !strings.HasPrefix(minimum.String(), "-"); { // the keypad of numbers has no minus sign
		case kind == "integer" && isPositive:
			f.Step, f.Keypad = "1", "numeric"
		case kind == "integer":
			f.Step = "1"
		case isPositive:
			f.Keypad = "decimal"
		}
	case kind == "boolean":
		f.Control = "checkbox"
	case kind == "object" && format == "file":
		f.Control = "file"
	case kind == "array":
		items, _ := schema["items"].(map[string]any)
		switch {
		case items["type"] == "object" && items["format"] == "file":
			f.Control = "files"
		case items["type"] == "string":
			if f.Options = optionsOf(items["enum"]); f.Options != nil {
				f.Control = "choices"
			}
		}
	}
	return f
}

// optionsOf returns the texts of a list of strings and numbers, nil if it has other values.
func optionsOf(list any) (options []string) {
	values, _ := list.([]any)
	for _, value := range values {
		switch value := value.(type) {
		case string:
			options = append(options, value)
		case json.Number:
			options = append(options, value.String())
		case bool:
			if value {
				options = append(options, "on")
			}
		default:
			return nil
		}
	}
	return options
}

// The media types of forms (HTML, section 4.10.21.6).
const (
	urlencoded = "application/x-www-form-urlencoded"
	multiparts = "multipart/form-data"
)

// formMedia returns the media type of a submitted form and its boundary, "" for other bodies.
func formMedia(contentType []string) (media, boundary string) {
	if len(contentType) == 1 && !strings.EqualFold(contentType[0], "application/json") {
		kind, parameters, err := mime.ParseMediaType(contentType[0])
		if err == nil && (kind == urlencoded || kind == multiparts) {
			return kind, parameters["boundary"]
		}
	}
	return "", ""
}

// Fields that every form has. Their names cannot be those of properties.
const (
	fieldTicket = "_ticket"
	fieldTrap   = "_leave_empty" // people do not see it, programs fill it in
)

// submission is what a browser sent.
type submission struct {
	values url.Values
	files  map[string][]blueprint.File
}

// maxFormParts limits the parts of a multipart form. It is below the limit for the parts of a
// mail, whose reader opens the files of both.
const maxFormParts = 90

var errForm = blueprint.Errorf(blueprint.CodeBadRequest, "the form cannot be read").WithReason(blueprint.ReasonBody)

// formHeader precedes a stored multipart body, which is then a MIME entity like a stored mail:
// files of both are read in one way.
func formHeader(contentType string) []byte {
	return []byte("MIME-Version: 1.0\r\nContent-Type: " + contentType + "\r\n\r\n")
}

// readSubmission parses a body of a form, as it is stored.
func readSubmission(media, boundary string, body []byte) (*submission, *blueprint.Error) {
	if media == urlencoded {
		values, err := url.ParseQuery(string(body))
		if err != nil || !validValues(values) {
			return nil, errForm
		}
		return &submission{values: values}, nil
	}
	if _, rest, found := bytes.Cut(body, []byte("\r\n\r\n")); found && bytes.HasPrefix(body, []byte("MIME-Version:")) {
		body = rest
	}
	s := &submission{values: url.Values{}, files: map[string][]blueprint.File{}}
	reader := multipart.NewReader(bytes.NewReader(body), boundary)
	for index := 0; ; index++ {
		part, err := reader.NextRawPart()
		if errors.Is(err, io.EOF) {
			break
		}
		var content []byte
		if err == nil {
			content, err = io.ReadAll(part)
		}
		if err != nil || index >= maxFormParts {
			return nil, errForm
		}
		name := part.FormName()
		contentType := strings.ToLower(part.Header.Get("Content-Type"))
		if strings.HasPrefix(contentType, "multipart/") {
			return nil, errForm // parts within parts would be counted differently when a file is opened
		}
		kind, _, err := mime.ParseMediaType(contentType)
		if err != nil {
			kind = "application/octet-stream"
		}
		_, parameters, _ := mime.ParseMediaType(part.Header.Get("Content-Disposition"))
		if _, isFile := parameters["filename"]; !isFile {
			s.values.Add(name, string(content))
		} else if file := part.FileName(); file != "" {
			s.files[name] = append(s.files[name], blueprint.File{Part: index, Name: file, ContentType: kind, Size: int64(len(content))})
		}
	}
	if !validValues(s.values) {
		return nil, errForm
	}
	return s, nil
}

func validValues(values url.Values) bool {
	for name, list := range values {
		if !utf8.ValidString(name) || slices.ContainsFunc(list, func(value string) bool { return !utf8.ValidString(value) }) {
			return false
		}
	}
	return true
}

// input returns the input that a submission is for a form. An empty field is absent. Values
// that do not match the type of their property stay texts, which the schema refuses.
func (s *submission) input(fields []formField, addFile func(blueprint.File) map[string]any) map[string]any {
	input := map[string]any{}
	for i := range fields {
		f := &fields[i]
		text := strings.ReplaceAll(s.values.Get(f.Name), "\r\n", "\n")
		switch f.Control {
		case "checkbox":
			input[f.Name] = s.values.Has(f.Name)
		case "choices":
			list := make([]any, 0, len(s.values[f.Name]))
			for _, value := range s.values[f.Name] {
				list = append(list, value)
			}
			input[f.Name] = list
		case "file":
			if files := s.files[f.Name]; len(files) > 0 {
				input[f.Name] = addFile(files[0])
			}
		case "files":
			list := []any{}
			for _, file := range s.files[f.Name] {
				list = append(list, addFile(file))
			}
			input[f.Name] = list
		default:
			if text == "" {
				continue
			}
			input[f.Name] = text
			if f.Control == "number" || f.numbers {
				if number, err := blueprint.Decode([]byte(strings.TrimSpace(text))); err == nil {
					if _, ok := number.(json.Number); ok {
						input[f.Name] = number
					}
				}
			}
		}
	}
	return input
}

// readForm sets input, files and key of an activation from a submitted form.
func (t *Service) readForm(a *activation, media, boundary string) *blueprint.Error {
	s, refused := readSubmission(media, boundary, a.firing.Delivery.Body)
	if refused != nil {
		return refused
	}
	schema, _ := a.binding.Trigger.Config["form"].(map[string]any)
	var files []blueprint.File
	a.input = s.input(formFieldsOf(schema), func(file blueprint.File) map[string]any {
		file.ID = t.IDs.At(t.Clock.Now(), "file", a.firing.ID).Token(fileID)
		files = append(files, file)
		return t.fileValue(&file)
	})
	a.firing.Files = files
	if ticket := s.values.Get(fieldTicket); len(ticket) <= maxKey {
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
	return base64.RawURLEncoding.EncodeToString(append(ticket, t.signTicket(triggerID, ticket)...))
}

func (t *Service) signTicket(triggerID string, ticket []byte) []byte {
	mac := hmac.New(sha256.New, t.FormKey)
	mac.Write([]byte(triggerID))
	mac.Write(ticket)
	return mac.Sum(nil)[:16]
}

// checkTicket returns why a submission is not accepted; "" if it is.
func (t *Service) checkTicket(triggerID, ticket string) string {
	const again = "This page was open for too long. Send the form again."
	data, err := base64.RawURLEncoding.DecodeString(ticket)
	if err != nil || len(data) != 8+12+16 || !hmac.Equal(data[20:], t.signTicket(triggerID, data[:20])) {
		return again
	}
	_, passes := t.Clock.(clock.Real)
	switch age := t.Clock.Now().Sub(time.UnixMilli(int64(binary.BigEndian.Uint64(data)))); {
	case age < minFormAge && passes:
		return "That was fast. Check your answers, then send the form again."
	case age > maxFormAge:
		return again
	}
	return ""
}

// A network may send formBurst forms to a trigger, and one more in each formInterval.
const (
	formBurst    = 10
	formInterval = time.Minute
	maxSenders   = 10_000
)

// formSenders limits how often a network sends a form.
type formSenders struct {
	mu   sync.Mutex
	used map[string]formUse // by trigger and network
}

type formUse struct {
	count float64
	at    time.Time
}

func (u formUse) left(now time.Time) float64 {
	return max(0, u.count-float64(now.Sub(u.at))/float64(formInterval))
}

// take reports whether a network may send a form now.
func (s *formSenders) take(key string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used == nil {
		s.used = map[string]formUse{}
	}
	if len(s.used) >= maxSenders {
		maps.DeleteFunc(s.used, func(_ string, u formUse) bool { return u.left(now) == 0 })
		if len(s.used) >= maxSenders {
			clear(s.used)
		}
	}
	count := s.used[key].left(now)
	if count > formBurst-1 {
		return false
	}
	s.used[key] = formUse{count + 1, now}
	return true
}

// hasForm reports whether a trigger shows a form.
func hasForm(trigger *blueprint.Trigger) bool {
	return trigger.Type == blueprint.TriggerWebhook && trigger.Config["form"] != nil
}

// serveForm answers GET with the form of a trigger, and POST of its fields. It returns false if
// the request is neither.
func (t *Service) serveForm(w http.ResponseWriter, c *inbound) bool {
	reads := c.Method == http.MethodGet || c.Method == http.MethodHead
	media, _ := formMedia(c.Header.Values("Content-Type"))
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
	media, boundary := formMedia(c.Header.Values("Content-Type"))
	if media == multiparts {
		body = append(formHeader(c.Header.Get("Content-Type")), body...)
		c.body = body
	}
	sent, refused := readSubmission(media, boundary, body)
	if refused != nil {
		t.refuseSubmission(c, refused.Message)
		page.fail(w, refused)
		return
	}
	page.hadFiles = len(sent.files) > 0
	again := func(status int, message string) {
		page.message = message
		page.show(w, status, t.newTicket(c.id), sent.values)
	}
	if sent.values.Get(fieldTrap) != "" {
		t.refuseSubmission(c, "the hidden field of the form is filled in, as programs do")
		page.thank(w, "") // reveals nothing
		return
	}
	if why := t.checkTicket(c.id, sent.values.Get(fieldTicket)); why != "" {
		t.refuseSubmission(c, "the page of the form was sent within two seconds, after a day, or is another one's")
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
	case answer.Code == blueprint.CodeNotFound, answer == errForm:
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
	form, _ := a.binding.Trigger.Config["form"].(map[string]any)
	if input, ok := a.input.(map[string]any); ok && !a.form {
		for _, f := range formFieldsOf(form) {
			if (f.Control == "file" || f.Control == "files") && input[f.Name] != nil {
				return blueprint.Errorf(blueprint.CodeBadRequest, "%s is a file, which only the page of the form can send", f.Name).WithReason(blueprint.ReasonInput)
			}
		}
	}
	if !t.forms.take(c.id+" "+t.Network(c.Request), t.Clock.Now()) {
		return &blueprint.Error{Code: blueprint.CodeTooManyRequests, Message: "too many forms from this network", RetryAfter: formInterval}
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

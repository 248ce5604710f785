package api

import (
	"bytes"
	"html"
	"mime/multipart"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
	"blueprintd/tests/servertest"
)

// orderForm has a field of each kind.
var orderForm = object{
	"type": "object", "title": "Order <b>a print</b>", "description": "We answer within a day.\n\nEverything is free.",
	"properties": object{
		"name":    object{"type": "string", "title": "Your name", "maxLength": 40},
		"email":   object{"type": "string", "title": "Email", "format": "email"},
		"copies":  object{"type": "integer", "title": "Copies", "minimum": 1, "maximum": 9, "default": 1},
		"weight":  object{"type": "number"},
		"paper":   object{"type": "string", "enum": []any{"matt", "glossy"}},
		"extras":  object{"type": "array", "items": object{"type": "string", "enum": []any{"frame", "glass"}}},
		"urgent":  object{"type": "boolean", "title": "Urgent"},
		"message": object{"type": "string", "format": "textarea", "description": "What should we know?"},
		"picture": object{"type": "object", "format": "file"},
	},
	"required": []any{"name", "email", "copies"}, "x-order": []any{"email"},
}

// formTrigger creates a webhook trigger with a form and returns its id and path.
func formTrigger(t testing.TB, s *servertest.Server, config object, nodes ...any) (id, path string) {
	t.Helper()
	made := s.Root.OK(t, "blueprint.create", object{"title": "Orders", "blueprint_map": object{"nodes": nodes}})
	trigger := at(s.Root.OK(t, "blueprintTriggers.create", object{"blueprintId": at(made, "id"), "triggerType": "webhook", "config": config}), "id").(string)
	return trigger, "/webhooks/blueprint/" + trigger
}

var ticketOf = regexp.MustCompile(`name="_ticket" value="([^"]+)"`)

// openForm gets a form and returns its page and its ticket.
func openForm(t testing.TB, c servertest.Caller, path string) (page servertest.Reply, ticket string) {
	t.Helper()
	page = c.Send(t, http.MethodGet, path, "")
	found := ticketOf.FindStringSubmatch(page.Text)
	if page.Status != http.StatusOK || found == nil {
		t.Fatalf("the form: %d %s", page.Status, page.Text)
	}
	return page, found[1]
}

func sendForm(t testing.TB, c servertest.Caller, path string, values url.Values) servertest.Reply {
	t.Helper()
	return c.Send(t, http.MethodPost, path, values.Encode(), "Content-Type", "application/x-www-form-urlencoded")
}

// returnInput is a node whose output is the input of the run.
func returnInput() any { return node("echo", "transform", object{"expression": "inputData"}) }

// theInput returns the input of the newest run of returnInput.
func theInput(t testing.TB, s *servertest.Server) any {
	t.Helper()
	logs := at(s.Root.OK(t, "execution.listRecentExecutions", nil), "logs").([]any)
	if len(logs) == 0 {
		t.Fatal("no run was started")
	}
	record := s.Root.Await(t, at(logs[0], "executionData.executionId").(string), blueprint.StatusCompleted)
	return at(record["steps"].([]any)[0], "output")
}

// TestFormOfAWebhook opens the form of a trigger, sends it with mistakes, corrects them and
// sends it twice, as people do. One run starts, with values of the types of the schema.
func TestFormOfAWebhook(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon)
	stranger := servertest.Caller{Server: s}
	id, path := formTrigger(t, s, object{"form": orderForm, "thanks": "Your order is on its way."}, returnInput())

	page, ticket := openForm(t, stranger, path+"?name=Ada&other=x")
	for _, wanted := range []string{
		"Order &lt;b&gt;a print&lt;/b&gt;", `<p class="text">Everything is free.</p>`, `value="Ada"`, `type="email"`, `value="1" step="1"`, "<option>glossy</option>", `value="frame"`,
		`name="urgent"`, "<textarea", `type="file"`, `enctype="multipart/form-data"`, "What should we know?",
	} {
		if !strings.Contains(page.Text, wanted) {
			t.Errorf("the page lacks %s", wanted)
		}
	}
	if strings.Index(page.Text, `name="email"`) > strings.Index(page.Text, `name="name"`) {
		t.Error("the fields do not have the order of the schema")
	}
	if policy := page.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || page.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("the headers of the page: %v", page.Header)
	}

	values := url.Values{"_ticket": {ticket}, "name": {`"Ada" <b>`}, "email": {"nobody"}, "copies": {"many"}, "paper": {"gold"}}
	wrong := sendForm(t, stranger, path, values)
	for _, wanted := range []string{"Some answers are missing or not valid.", `value="&#34;Ada&#34; &lt;b&gt;"`, "Must be", `aria-invalid="true"`} {
		if wrong.Status != http.StatusBadRequest || !strings.Contains(wrong.Text, wanted) {
			t.Errorf("wrong answers: %d, without %s:\n%s", wrong.Status, wanted, wrong.Text)
		}
	}
	values = url.Values{
		"_ticket": {ticketOf.FindStringSubmatch(wrong.Text)[1]}, "name": {"Ada"}, "email": {"ada@example.org"}, "copies": {"2"}, "weight": {" 1.50 "}, "paper": {"matt"},
		"extras": {"frame", "glass"}, "urgent": {"on"}, "message": {"one\r\ntwo"}, "unknown": {"x"},
	}
	for _, words := range []string{"Your order is on its way.", "This form was sent before"} {
		t.Run(words, func(t *testing.T) {
			if sent := sendForm(t, stranger, path, values); sent.Status != http.StatusOK || !strings.Contains(html.UnescapeString(sent.Text), words) {
				t.Errorf("correct answers: %d %s", sent.Status, sent.Text)
			}
		})
	}
	want := servertest.Decoded(t, `{"copies":2,"email":"ada@example.org","extras":["frame","glass"],"message":"one\ntwo","name":"Ada","paper":"matt","urgent":true,"weight":1.50}`)
	if diff := cmp.Diff(want, theInput(t, s)); diff != "" {
		t.Errorf("the input of the run (-want +got):\n%s", diff)
	}
	list := firings(t, s.Root, id)
	if len(list) != 3 || at(list[0], "decision") != "duplicate" || at(list[2], "decision") != "refused" {
		t.Errorf("the ledger: %s", servertest.Encoded(t, list))
	}
	if reason := at(list[1], "reason"); reason != nil && reason != "" {
		t.Errorf("the delivery that started the run has the reason %q; a form needs no signature", reason)
	}

	// Programs may send JSON, which has to match, too.
	if got := stranger.Send(t, http.MethodPost, path, `{"name":"Bob"}`); got.Status != http.StatusBadRequest {
		t.Errorf("JSON that does not match: %d %s", got.Status, got.Text)
	}
	if got := stranger.Send(t, http.MethodPost, path, `{"name":"Bob","email":"bob@example.org","copies":1}`); got.Status != http.StatusAccepted {
		t.Errorf("JSON that matches: %d %s", got.Status, got.Text)
	}
}

// TestFormRefusals are submissions that start nothing.
func TestFormRefusals(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon)
	stranger := servertest.Caller{Server: s}
	form := object{"type": "object", "properties": object{"name": object{"type": "string"}}, "required": []any{"name"}}
	id, path := formTrigger(t, s, object{"form": form}, node("log", "log", object{"message": "x"}))
	_, ticket := openForm(t, stranger, path)
	_, elsewhere := formTrigger(t, s, object{"form": form}, node("log", "log", object{"message": "x"}))
	_, other := openForm(t, stranger, elsewhere)
	send := func(wait time.Duration, values url.Values, status int, words string) {
		t.Helper()
		s.Advance(t, (wait).String())
		if got := sendForm(t, stranger, path, values); got.Status != status || !strings.Contains(got.Text, words) {
			t.Errorf("%v: %d, want %d with %q:\n%s", values, got.Status, status, words, got.Text)
		}
	}
	send(0, url.Values{"name": {"Ada"}}, http.StatusBadRequest, "sent from this page")
	send(0, url.Values{"name": {"Ada"}, "_ticket": {other}}, http.StatusBadRequest, "sent from this page")
	send(0, url.Values{"name": {"Ada"}, "_ticket": {ticket[:10] + "\n" + ticket[10:]}}, http.StatusBadRequest, "sent from this page")
	send(0, url.Values{"name": {"Ada"}, "_ticket": {ticket}, "_leave_empty": {"https://spam.example"}}, http.StatusOK, "Thank you")
	send(0, url.Values{"name": {"\xff"}, "_ticket": {ticket}}, http.StatusBadRequest, "could not be read")
	if got := stranger.Send(t, http.MethodPost, path, "x", "Content-Type", "multipart/form-data; boundary=no"); got.Status != http.StatusBadRequest {
		t.Errorf("a broken multipart body: %d %s", got.Status, got.Text)
	}
	send(0, url.Values{"_ticket": {ticket}}, http.StatusBadRequest, "Some answers")
	if runs := at(s.Root.OK(t, "execution.listRecentExecutions", nil), "logs").([]any); len(runs) != 0 {
		t.Errorf("%d runs, want none", len(runs))
	}
	if list := firings(t, s.Root, id); len(list) != 7 {
		t.Errorf("the ledger has %d refusals, want 7: %s", len(list), servertest.Encoded(t, list))
	}
	for range 5 {
		_, next := openForm(t, stranger, path)
		send(0, url.Values{"name": {"Ada"}, "_ticket": {next}}, http.StatusOK, "Thank you")
		if got := stranger.Send(t, http.MethodPost, path, `{"name":"Ada"}`); got.Status != http.StatusAccepted {
			t.Errorf("JSON: %d %s", got.Status, got.Text)
		}
	}
	_, next := openForm(t, stranger, path)
	send(0, url.Values{"name": {"Ada"}, "_ticket": {next}}, http.StatusTooManyRequests, "Wait a minute")
	if got := stranger.Send(t, http.MethodPost, path, `{"name":"Ada"}`); got.Status != http.StatusTooManyRequests || got.Header.Get("Retry-After") == "" {
		t.Errorf("JSON beyond the limit: %d %s", got.Status, got.Text)
	}
	send(25*time.Hour, url.Values{"name": {"Ada"}, "_ticket": {ticket}}, http.StatusBadRequest, "open for too long")

	// Without a form, or when it is switched off, the address tells as little as before.
	s.Root.OK(t, "blueprintTriggers.update", object{"triggerId": id, "isActive": false})
	if got := stranger.Send(t, http.MethodGet, path, ""); got.Status != http.StatusMethodNotAllowed {
		t.Errorf("the form of an inactive trigger: %d", got.Status)
	}
	if got := stranger.Send(t, http.MethodGet, path, "", "Accept", "text/html"); got.Status != http.StatusNotFound || !strings.Contains(got.Text, "No form here") {
		t.Errorf("the form of an inactive trigger in a browser: %d %s", got.Status, got.Text)
	}
	if got := sendForm(t, stranger, path, url.Values{"name": {"Ada"}, "_ticket": {ticket}}); got.Status != http.StatusNotFound && got.Status != http.StatusUnsupportedMediaType {
		t.Errorf("a submission to an inactive trigger: %d %s", got.Status, got.Text)
	}
}

// TestFastForm sends a form at once, as a program does and no person can.
func TestFastForm(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	stranger := servertest.Caller{Server: s}
	_, path := formTrigger(t, s, object{"form": object{"type": "object", "properties": object{"name": object{"type": "string"}}}}, returnInput())
	_, ticket := openForm(t, stranger, path)
	if got := sendForm(t, stranger, path, url.Values{"name": {"Ada"}, "_ticket": {ticket}}); got.Status != http.StatusBadRequest || !strings.Contains(got.Text, "That was fast.") {
		t.Errorf("%d %s", got.Status, got.Text)
	}
}

// TestFormFiles sends files with a form. They are attachments of the run, as those of mails.
func TestFormFiles(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, servertest.AtNoon)
	stranger := servertest.Caller{Server: s}
	form := object{"type": "object", "properties": object{"name": object{"type": "string"}, "cv": object{"type": "object", "format": "file"}, "more": object{"type": "array", "items": object{"type": "object", "format": "file"}}}}
	id, path := formTrigger(t, s, object{"form": form}, returnInput())
	_, ticket := openForm(t, stranger, path)
	s.Advance(t, "5s")
	content := []byte("%PDF \x00\r\n\r\n--no boundary\r\n\xff")
	var body bytes.Buffer
	parts := multipart.NewWriter(&body)
	for name, value := range map[string]string{"_ticket": ticket, "name": "Ada"} {
		if err := parts.WriteField(name, value); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []struct{ field, name string }{{"cv", "cv.pdf"}, {"more", "a.txt"}, {"more", "b.txt"}} {
		w, err := parts.CreateFormFile(file.field, file.name)
		if err != nil {
			t.Fatal(err)
		}
		w.Write(append([]byte(file.name), content...))
	}
	parts.Close()
	if got := stranger.Send(t, http.MethodPost, path, body.String(), "Content-Type", parts.FormDataContentType()); got.Status != http.StatusOK {
		t.Fatalf("sending files: %d %s", got.Status, got.Text)
	}
	input := theInput(t, s)
	files := append([]any{at(input, "cv")}, at(input, "more").([]any)...)
	if at(input, "name") != "Ada" || len(files) != 3 {
		t.Fatalf("the input: %s", servertest.Encoded(t, input))
	}
	for i, name := range []string{"cv.pdf", "a.txt", "b.txt"} {
		t.Run(name, func(t *testing.T) {
			if got := at(files[i], "filename"); got != name {
				t.Errorf("the name is %v", got)
			}
			got := s.Root.Send(t, http.MethodGet, "/files/"+at(files[i], "id").(string), "")
			if want := name + string(content); got.Status != http.StatusOK || got.Text != want {
				t.Errorf("the file: %d %q, want %q", got.Status, got.Text, want)
			}
		})
	}

	if got := stranger.Send(t, http.MethodPost, path, `{"cv":{"id":"x","url":"https://evil.example"}}`); got.Status != http.StatusBadRequest {
		t.Errorf("a file as JSON: %d %s", got.Status, got.Text)
	}
	nested := strings.Replace(body.String(), "application/octet-stream", "multipart/related; boundary=q", 1)
	if got := stranger.Send(t, http.MethodPost, path, nested, "Content-Type", parts.FormDataContentType()); got.Status != http.StatusBadRequest {
		t.Errorf("parts within parts: %d %s", got.Status, got.Text)
	}

	// A redelivery reads the stored form again.
	s.Advance(t, "5s")
	list := firings(t, s.Root, id)
	firing := at(list[len(list)-1], "id")
	s.Root.OK(t, "blueprintTriggers.redeliver", object{"firingId": firing})
	if again := at(theInput(t, s), "cv"); at(again, "filename") != "cv.pdf" || at(again, "id") == at(files[0], "id") {
		t.Errorf("the file of the redelivery: %s", servertest.Encoded(t, again))
	}
}

// TestFormAnswers has the page show what the run answers.
func TestFormAnswers(t *testing.T) {
	t.Parallel()
	form := object{"type": "object", "properties": object{"name": object{"type": "string"}}}
	for _, c := range []struct {
		name, want string
		status     int
		node       any
	}{
		{"a text", "<p class=\"text\">Hello Ada</p>", 200, node("text", "code", object{"source": "return 'Hello ' + inputData.name"})},
		{"an object", "Your answers were received.", 200, node("set", "template", object{"text": "x"})},
		{"a response", "<i>done</i>", 201, node("respond", "respond", object{"status": 201, "body": "<i>done</i>", "headers": object{"Content-Type": "text/html"}})},
		{"a failure", "Something went wrong on our side. Send the form again", 500, node("fail", "code", object{"source": "throw new Error('secret reason')"})},
		{"a pause", "Your answers were received.", 200, node("ask", "human", object{"prompt": "?"})},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := servertest.New(t, servertest.AtNoon)
			stranger := servertest.Caller{Server: s}
			_, path := formTrigger(t, s, object{"form": form, "respond": "wait"}, c.node)
			_, ticket := openForm(t, stranger, path)
			s.Advance(t, "5s")
			got := sendForm(t, stranger, path, url.Values{"_ticket": {ticket}, "name": {"Ada"}})
			if got.Status != c.status || !strings.Contains(got.Text, c.want) || strings.Contains(got.Text, "secret reason") {
				t.Errorf("%d, want %d with %q:\n%s", got.Status, c.status, c.want, got.Text)
			}
		})
	}
}

// TestFormConfig are schemas that are not forms.
func TestFormConfig(t *testing.T) {
	t.Parallel()
	s := servertest.New(t)
	made := s.Root.OK(t, "blueprint.create", object{"title": "Orders", "blueprint_map": object{"nodes": []any{node("log", "log", object{"message": "x"})}}})
	valid := object{"type": "object", "properties": object{"a": object{"type": "string"}}}
	for _, c := range []struct {
		name   string
		config object
		path   string
	}{
		{"not a schema", object{"form": object{"type": "nothing"}}, "config.form.type"},
		{"no properties", object{"form": object{"type": "object"}}, "config.form"},
		{"an object within", object{"form": object{"type": "object", "properties": object{"a": object{"type": "object"}}}}, "config.form.properties.a"},
		{"a list of texts", object{"form": object{"type": "object", "properties": object{"a": object{"type": "array", "items": object{"type": "string"}}}}}, "config.form.properties.a"},
		{"a name of ours", object{"form": object{"type": "object", "properties": object{"_a": object{"type": "string"}}}}, "config.form.properties._a"},
		{"an unknown name", object{"form": object{"type": "object", "properties": object{"a": object{"type": "string"}}, "x-order": []any{"b"}}}, `config.form["x-order"][0]`},
		{"a secret", object{"form": valid, "secret": "a secret of senders"}, "config.secret"},
		{"thanks of another type", object{"form": valid, "thanks": 1}, "config.thanks"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := s.Root.Call(t, "blueprintTriggers.create", object{"blueprintId": at(made, "id"), "triggerType": "webhook", "config": c.config})
			if got.Status != http.StatusBadRequest || !strings.Contains(got.Message(), c.path) {
				t.Errorf("%d %s, want 400 that names %s", got.Status, got.Message(), c.path)
			}
		})
	}
}

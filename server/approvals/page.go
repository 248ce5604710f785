package approvals

import (
	"context"
	"crypto/hmac"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/form"
)

// Options are what a Service works with. All are required.
type Options struct {
	Signer
	Clock clock.Clock
	// Question returns a question of a run by the address of its node; CodeNotFound for an
	// unknown run.
	Question func(ctx context.Context, executionID, nodeID string) (*blueprint.Question, error)
	// Resume answers it.
	Resume func(ctx context.Context, answer blueprint.ResumeAnswer) error
	// MayAct reports whether a user may act on a run, and whether they can manage its
	// blueprint. CodeNotFound or CodeForbidden if they may not.
	MayAct func(ctx context.Context, userID, executionID string) (canManage bool, err error)
	// Note writes an entry of the audit log.
	Note func(ctx context.Context, entry *blueprint.AuditEntry)
	// Network returns the network that a request comes from.
	Network func(r *http.Request) string
	// Failed logs an error that is not the fault of a request.
	Failed func(err error)
}

// Service serves approval links. It is safe for concurrent use.
type Service struct {
	Options
	opened   form.Limiter // every request
	answered form.Limiter
}

// New returns a service.
func New(o Options) *Service {
	return &Service{Options: o, opened: form.Limiter{Burst: 100, Every: openInterval}}
}

// openInterval is the time in which a link may be opened once more after the first hundred
// times, from one network.
const openInterval = 2 * time.Second

// The limits of the body of an answer, in bytes. One that is larger than maxAnswer is refused, and
// up to maxReturned the page returns what was typed. In a form, a character may take nine bytes.
const (
	maxAnswer   = 1 << 20
	maxReturned = 4 << 20
)

// decisionName is the name of the buttons of an approval.
const decisionName = "_decision"

const (
	approve = "approve"
	reject  = "reject"
)

// asked is a valid link with its question.
type asked struct {
	Link
	*blueprint.Question
	token     string
	canManage bool // of the user who made the link
}

// ServeHTTP shows the question of a link, and takes its answer. Reading changes nothing, so
// that programs that open the links in a message do not answer. The body of an answer is read
// first: rights and times are checked when it is complete, however slowly it came.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer s.Clock.Hold()()
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	token := r.PathValue("token")
	link, ok := s.open(token)
	if !ok {
		invalid(w)
		return
	}
	if !s.opened.Take(s.Network(r)+" "+token, s.Clock.Now()) {
		tooMany(w, openInterval)
		closed("Too many requests", "This link was opened too often. Wait a few seconds, then open it again.").Write(w, http.StatusTooManyRequests)
		return
	}
	var sent body
	if r.Method == http.MethodPost {
		sent = readBody(w, r)
	}
	a, err := s.find(r.Context(), link, token)
	switch {
	case err != nil:
		s.fail(w, r, err)
	case a == nil:
		invalid(w)
	case !reads && r.Method != http.MethodPost:
		w.Header().Set("Allow", "GET, HEAD, POST")
		closed("Method not allowed", "Open the link in a browser.").Write(w, http.StatusMethodNotAllowed)
	case a.State == blueprint.QuestionPending && reads:
		pending().Write(w, http.StatusOK)
	case a.State != blueprint.QuestionOpen:
		s.over(w, a)
	case reads:
		s.page(a).write(w, http.StatusOK)
	default:
		s.answer(w, r, a, sent)
	}
}

// find returns the question of a link; nil for a run that does not exist, and a user who may
// not answer any more. Both look like a link that is not valid.
func (s *Service) find(ctx context.Context, link Link, token string) (*asked, error) {
	a := &asked{Link: link, token: token}
	var err error
	if link.MadeByUser != "" {
		a.canManage, err = s.MayAct(ctx, link.MadeByUser, link.ExecutionID)
	}
	if err == nil {
		a.Question, err = s.Question(ctx, link.ExecutionID, link.NodeID)
	}
	switch blueprint.CodeOf(err) {
	case blueprint.CodeNotFound, blueprint.CodeForbidden, blueprint.CodeUnauthorized:
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if a.State == blueprint.QuestionOpen {
		if link.MadeByUser != "" && !a.MayShare(link.MadeByUser, a.canManage) {
			return nil, nil
		}
		expires := a.Input.LinkExpiresAt
		if link.MadeByUser != "" {
			expires = link.Expires
		}
		if !s.Clock.Now().Before(expires.Time()) {
			a.State = blueprint.QuestionExpired
		}
	}
	return a, nil
}

func invalid(w http.ResponseWriter) {
	closed("This link is not valid", "The link is incomplete, or no longer valid.").Write(w, http.StatusNotFound)
}

func pending() *form.Page {
	return closed("Not asked yet", "This question has not been asked yet. Open the link again later.")
}

func tooMany(w http.ResponseWriter, wait time.Duration) {
	w.Header().Set("Retry-After", strconv.Itoa(int(wait/time.Second)))
}

// over writes the page of a question that takes no answer.
func (s *Service) over(w http.ResponseWriter, a *asked) {
	page := closed("No longer asked", "This request was closed. No answer is needed.")
	status := http.StatusGone
	switch a.State {
	case blueprint.QuestionPending:
		page, status = pending(), http.StatusConflict
	case blueprint.QuestionAnswered:
		page = closed("Already answered", "This question has been answered. There is nothing left to do.")
	case blueprint.QuestionExpired:
		page = closed("Too late", "The time to answer with this link is over.")
	}
	page.Write(w, status)
}

func (s *Service) fail(w http.ResponseWriter, r *http.Request, err error) {
	code := blueprint.CodeOf(err)
	if code.HTTPStatus() >= http.StatusInternalServerError && code != blueprint.CodeUnavailable && r.Context().Err() == nil {
		s.Failed(err)
	}
	var known *blueprint.Error
	wait := time.Minute
	if errors.As(err, &known) && known.RetryAfter > 0 {
		wait = known.RetryAfter
	}
	w.Header().Set("Retry-After", strconv.FormatInt(max(1, int64((wait+time.Second-1)/time.Second)), 10))
	status := http.StatusServiceUnavailable
	if code == blueprint.CodeInternal {
		status = http.StatusInternalServerError
	}
	closed("Try again", "The server could not process the request. Try again in a few minutes.").Write(w, status)
}

// closed returns a page without a form.
func closed(title, text string) *form.Page {
	return &form.Page{Title: title, Description: []string{text}, Stays: true}
}

// questionPage is the page of an open question.
type questionPage struct {
	*form.Page
	fields []form.Field
	whole  bool // the only field is the answer itself
	sent   *form.Submission
	issues []blueprint.Issue
}

func (s *Service) page(a *asked) *questionPage {
	p := &questionPage{Page: &form.Page{Title: a.Title, Description: form.Paragraphs(a.Input.Prompt), Ticket: s.ticket(a), Stays: true}, sent: &form.Submission{}}
	if a.Input.Kind == blueprint.AwaitApproval {
		p.fields = []form.Field{{Name: "comment", Title: "Comment", Control: "lines", MaxLength: "10000"}}
		p.Buttons = []form.Button{{Name: decisionName, Value: approve, Label: "Approve"}, {Name: decisionName, Value: reject, Label: "Reject", Quiet: true}}
		return p
	}
	p.fields, p.whole = form.FieldsOfAny(a.Input.Schema)
	return p
}

func (p *questionPage) write(w http.ResponseWriter, status int) {
	for _, issue := range p.issues {
		if !p.whole && len(issue.Path) < 2 {
			p.Issues = append(p.Issues, issue.Message)
		}
	}
	p.Ask(p.fields, p.sent.Values, p.issueOf)
	p.Write(w, status)
}

// issueOf returns what is wrong with a field, "" for nothing.
func (p *questionPage) issueOf(name string) string {
	for _, issue := range p.issues {
		if p.whole || len(issue.Path) > 1 && issue.Path[1] == name { // after input
			return issue.Message
		}
	}
	return ""
}

// ticket identifies the question that a page shows: its form answers no other one.
func (s *Service) ticket(a *asked) string {
	return base64.RawURLEncoding.EncodeToString(s.sign("page", a.token, strconv.FormatInt(int64(a.ID.At), 10), strconv.Itoa(a.ID.Attempt)))
}

// input returns the answer that was sent; false if no button was pressed, or nothing entered.
func (p *questionPage) input(kind blueprint.AwaitKind) (any, bool) {
	values := p.sent.Input(p.fields, func(blueprint.File) map[string]any { return nil })
	if kind == blueprint.AwaitApproval {
		decision := p.sent.Values.Get(decisionName)
		values["approved"] = decision == approve
		if comment, _ := values["comment"].(string); strings.TrimSpace(comment) == "" {
			delete(values, "comment")
		}
		return values, decision == approve || decision == reject
	}
	if p.whole {
		value, given := values[form.Whole]
		return value, given
	}
	return values, true
}

// body is what was sent to a link.
type body struct {
	sent    *form.Submission // nil if it could not be read
	tooLong bool
}

func readBody(w http.ResponseWriter, r *http.Request) body {
	media, _ := form.Media(r.Header.Values("Content-Type"))
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxReturned))
	if err != nil || media != form.URLEncoded {
		_, tooLong := errors.AsType[*http.MaxBytesError](err)
		return body{tooLong: tooLong}
	}
	sent, refused := form.Read(media, "", data)
	if refused != nil {
		return body{}
	}
	return body{sent: sent, tooLong: len(data) > maxAnswer}
}

// answer takes the answer to an open question. A page that refuses it shows it again.
func (s *Service) answer(w http.ResponseWriter, r *http.Request, a *asked, body body) {
	p := s.page(a)
	if body.sent != nil {
		p.sent = body.sent
	}
	again := func(status int, message string) {
		p.Message = message
		p.write(w, status)
	}
	if !s.answered.Take(s.Network(r)+" "+a.token, s.Clock.Now()) {
		tooMany(w, form.Interval)
		again(http.StatusTooManyRequests, "Too many answers were sent. Wait a minute, then answer again.")
		return
	}
	if body.tooLong {
		again(http.StatusRequestEntityTooLarge, "The answer is too long. Send a shorter one.")
		return
	}
	if body.sent == nil {
		again(http.StatusBadRequest, "The answer could not be read. Answer again.")
		return
	}
	if !hmac.Equal([]byte(p.sent.Values.Get(form.TicketName)), []byte(s.ticket(a))) {
		again(http.StatusBadRequest, "This page was out of date. Check your answer, then send it.")
		return
	}
	input, decided := p.input(a.Input.Kind)
	switch {
	case !decided && p.whole:
		p.issues = []blueprint.Issue{{Message: "required"}}
		again(http.StatusBadRequest, "Some answers are missing or not valid.")
		return
	case !decided:
		again(http.StatusBadRequest, "Choose Approve or Reject.")
		return
	}
	ctx := context.WithoutCancel(r.Context())
	id := ID(a.token)
	err := s.Resume(ctx, blueprint.ResumeAnswer{
		ExecutionID: a.ExecutionID, NodeID: a.NodeID, Input: input, UserID: a.MadeByUser, CanManage: a.canManage,
		Link: &blueprint.LinkUse{ID: id, ByNode: a.MadeByUser == "", Question: a.ID},
	})
	wrong, _ := errors.AsType[*blueprint.Error](err)
	if err == nil || wrong != nil && wrong.Applied {
		s.Note(ctx, auditEntry(a, id))
	}
	switch code := blueprint.CodeOf(err); {
	case err == nil:
		thanks(a.Input.Kind, input).Write(w, http.StatusOK)
	case code == blueprint.CodeBadRequest && wrong != nil:
		p.issues = wrong.Issues
		again(http.StatusBadRequest, "Some answers are missing or not valid.")
	case code == blueprint.CodeConflict, code == blueprint.CodeForbidden, code == blueprint.CodeNotFound:
		if now, err := s.find(ctx, a.Link, a.token); err == nil && now != nil && now.State != blueprint.QuestionOpen {
			a = now
		} else {
			a.State = blueprint.QuestionClosed
		}
		s.over(w, a)
	default:
		s.fail(w, r, err)
	}
}

// thanks returns the page after an answer. It repeats a decision, so that a person notices the
// wrong button.
func thanks(kind blueprint.AwaitKind, input any) *form.Page {
	if values, _ := input.(map[string]any); kind == blueprint.AwaitApproval {
		decision := "Rejected"
		if values["approved"] == true {
			decision = "Approved"
		}
		return closed("Thank you", "Your answer: "+decision+". You can close this page.")
	}
	return closed("Thank you", "Your answer was received. You can close this page.")
}

// auditEntry names the link and its maker. Who used it is not known.
func auditEntry(a *asked, id string) *blueprint.AuditEntry {
	detail := map[string]any{"nodeId": a.NodeID, "link": id}
	if a.MadeByUser != "" {
		detail["madeByUser"] = a.MadeByUser
	} else {
		detail["madeByNode"] = a.MadeByNode
	}
	return &blueprint.AuditEntry{
		OrganizationID: a.OrganizationID, Action: "execution.answerByLink", TargetType: "execution", TargetID: a.ExecutionID, Via: blueprint.ViaLink, Detail: detail,
	}
}

// LinkFor returns a link to an open question for a user who may answer it, its short id, and
// when it expires. Errors: CodeConflict if nothing is asked, CodeForbidden.
func (s *Service) LinkFor(ctx context.Context, userID string, canManage bool, executionID, nodeID string) (address, id string, expires blueprint.Time, err error) {
	q, err := s.Question(ctx, executionID, nodeID)
	switch {
	case err != nil:
		return "", "", 0, err
	case q.State != blueprint.QuestionOpen:
		return "", "", 0, blueprint.Errorf(blueprint.CodeConflict, "node %q is not waiting for an answer that can be given by link", nodeID)
	case q.IsHidden(userID):
		return "", "", 0, blueprint.Errorf(blueprint.CodeForbidden, "only the user who started the run may share this question: its data is private")
	case !q.MayShare(userID, canManage):
		return "", "", 0, blueprint.Errorf(blueprint.CodeForbidden, "you may not share this question: ask a manager of the blueprint")
	}
	// Sharing it is a new decision, so the time begins again.
	expires = blueprint.TimeOf(s.Clock.Now().Add(q.Input.LinkExpiresAt.Time().Sub(q.Input.RequestedAt.Time())))
	if q.Input.ExpiresAt != 0 {
		expires = min(expires, q.Input.ExpiresAt)
	}
	address, token := s.URL(Link{ExecutionID: executionID, NodeID: nodeID, MadeByUser: userID, Expires: expires})
	return address, ID(token), expires, nil
}

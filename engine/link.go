package engine

import (
	"context"
	"slices"

	"blueprintd/blueprint"
)

// linksIn returns the ids of the nodes whose approval link is used.
func linksIn(references []blueprint.Reference) (ids []string) {
	for _, ref := range references {
		if ref.Name == "nodes" && ref.Key == blueprint.KeyLink && !slices.Contains(ids, ref.NodeID) {
			ids = append(ids, ref.NodeID)
		}
	}
	return ids
}

// makeLinks adds the approval links of nodes to the scope. A link is a credential, so it is
// redacted wherever the run is shown. It is derived, not stored: another attempt of the node,
// also after a crash, gets the same one.
func (a *attempt) makeLinks(ids []string) {
	r := a.run
	if len(ids) == 0 || r.engine.Link == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	var secrets []string
	for _, id := range ids {
		asks := a.at.askedBy(id)
		if asks == nil {
			continue
		}
		link, secret := r.engine.Link(r.id, asks.address(), a.address)
		if a.scope.links == nil {
			a.scope.links = map[string]string{}
		}
		a.scope.links[id] = link
		secrets = append(secrets, secret)
	}
	r.hideSecrets(secrets)
}

// askedBy returns the node with an id that asks a person, in the node's item or around it.
// Unlike an output, its link does not depend on whether the node has run.
func (n *nodeRun) askedBy(id string) *nodeRun {
	for ; n != nil; n = n.frame.loopNode() {
		if at := n.frame.body.graph.Index(id); at >= 0 {
			if other := &n.frame.nodes[at]; other.node().kind != nil && other.node().kind.Asks() {
				return other
			}
		}
	}
	return nil
}

// linkExpiry returns when approval links to the question expire.
func (a *await) linkExpiry() blueprint.Time {
	switch {
	case a.LinkExpires != 0:
		return a.LinkExpires
	case a.ExpiresAt != 0:
		return a.ExpiresAt
	}
	return blueprint.TimeOf(a.RequestedAt.Time().Add(blueprint.DefaultLinkLife))
}

// logAnswer records in the run's log with which link a question was answered. r.mu is held.
func (r *run) logAnswer(n *nodeRun, link *blueprint.LinkUse) {
	if len(r.logs) < maxLogs {
		now, node := r.engine.now(), n.address()
		r.record(&entry{Kind: entryLog, At: now, details: &details{Log: &blueprint.LogEntry{Timestamp: now, Level: "info", NodeID: &node, Message: "answered with the approval link " + link.ID}}})
	}
}

// Question returns a question of a run by the address of its node, also before it is asked
// and after it was answered. CodeNotFound if there is no such run. It does not render the whole
// run, because a run may ask thousands of questions and anyone may open their links.
func (e *Engine) Question(ctx context.Context, executionID, address string) (*blueprint.Question, error) {
	stored, err := e.Journal.Load(ctx, executionID)
	if err != nil {
		return nil, err
	}
	if !stored.Row.Status.Terminal() {
		if q := liveState(ctx, e, executionID, func(r *run) *blueprint.Question { return r.question(r.row, address) }); q != nil {
			return q, nil
		}
	}
	return e.Reader.question(ctx, stored, address)
}

// question returns a question of a run that is not in memory.
func (d *Reader) question(ctx context.Context, stored *blueprint.StoredExecution, address string) (*blueprint.Question, error) {
	if !stored.Row.Status.Terminal() {
		f := &fold{id: stored.Row.ID}
		if err := d.replay(ctx, f, stored); err != nil {
			return nil, err
		}
		return f.question(stored.Row, address), nil
	}
	s, err := d.decodeRecord(stored, false)
	if err != nil {
		return nil, err
	}
	q := newQuestion(stored.Row, &s.Begin)
	if at := slices.IndexFunc(s.Steps, func(step step) bool { return step.Node == address }); at >= 0 {
		q.settle(&s.Steps[at])
	}
	return q.Question, nil
}

// question returns a question of the run as it is. r.mu is held, if others use it.
func (r *fold) question(row blueprint.ExecutionRow, address string) *blueprint.Question {
	q := newQuestion(row, r.begin)
	n := r.find(address)
	if n == nil { // its item has not begun
		return q.Question
	}
	step := n.step()
	if q.settle(&step); q.State == blueprint.QuestionPending && n.phase == awaiting && n.await.Kind.ByLink() {
		masker, open := r.masker.Load(), n.await.AwaitingInput
		open.Prompt, open.Schema, open.URL = masker.Text(open.Prompt), masker.Value(open.Schema), masker.Text(open.URL)
		q.State, q.Input, q.ID = blueprint.QuestionOpen, &open, n.questionID()
	}
	return q.Question
}

type question struct{ *blueprint.Question }

// newQuestion returns a question that has not been asked.
func newQuestion(row blueprint.ExecutionRow, b *begin) question {
	q := question{&blueprint.Question{State: blueprint.QuestionPending, PrincipalID: row.UserID, PrivateTo: b.privateTo(), OrganizationID: row.OrganizationID}}
	if row.Status.Terminal() {
		q.State = blueprint.QuestionClosed
	}
	return q
}

// settle sets the state of a question whose node has ended.
func (q question) settle(s *step) {
	q.Title = s.Title
	code := ""
	if s.Error != nil {
		code = s.Error.Code
	}
	switch {
	case s.Expired:
		q.State = blueprint.QuestionExpired
	case s.Status == blueprint.StepFailed && code != "rejected", s.Status == blueprint.StepSkipped:
		q.State = blueprint.QuestionClosed // it failed before it asked, or is not asked
	case s.Status == blueprint.StepFailed, s.Status == blueprint.StepCompleted:
		q.State = blueprint.QuestionAnswered
	}
}

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

// questionView bounds the values of steps in the view of a question, in bytes of JSON: the
// output of a question that has expired is small.
const questionView = 64 << 10

// Question returns a question of a run by the address of its node, also before it is asked
// and after it was answered. CodeNotFound if there is no such run.
func (e *Engine) Question(ctx context.Context, executionID, address string) (*blueprint.Question, error) {
	stored, err := e.Journal.Load(ctx, executionID)
	if err != nil {
		return nil, err
	}
	x, err := e.ViewWithin(ctx, stored, questionView)
	if err != nil {
		return nil, err
	}
	q := &blueprint.Question{State: blueprint.QuestionPending, PrincipalID: x.UserID, PrivateTo: x.PrivateTo, OrganizationID: x.OrganizationID}
	over := x.Status.Terminal()
	if over {
		q.State = blueprint.QuestionClosed
	}
	at := slices.IndexFunc(x.Steps, func(s blueprint.Step) bool { return s.NodeID == address })
	if at < 0 { // its item has not begun
		return q, nil
	}
	step := &x.Steps[at]
	q.Title = step.Title
	output, _ := step.Output.(map[string]any)
	switch code := codeOfStep(step); {
	case step.Status == blueprint.StepSkipped, code == "cancelled":
		q.State = blueprint.QuestionClosed
	case code == "expired", step.Status == blueprint.StepCompleted && output["expired"] == true:
		q.State = blueprint.QuestionExpired
	case step.Status == blueprint.StepCompleted, step.Status == blueprint.StepFailed:
		q.State = blueprint.QuestionAnswered
	case over:
	default:
		for _, open := range x.AwaitingInputs {
			if open.NodeID == address && open.Kind.ByLink() {
				q.State, q.Input, q.ID = blueprint.QuestionOpen, open, blueprint.QuestionID{At: open.RequestedAt, Attempt: step.Attempt}
			}
		}
	}
	return q, nil
}

// codeOfStep returns the code of the error of a step, "" for none.
func codeOfStep(step *blueprint.Step) string {
	if step.Error == nil {
		return ""
	}
	return step.Error.Code
}

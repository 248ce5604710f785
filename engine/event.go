package engine

import (
	"bytes"

	"blueprintd/blueprint"
)

// maxTold is how many bytes of JSON the output of a run may have for its event
// to hold it.
const maxTold = 64 << 10

// event gives what those who listen are told when the run comes to a status. A
// run that another one waits for is not told of: that one's end is. Nor is a run
// whose data is that of a user who could only start the blueprint, even when a
// manager retries it: what strangers put in neither starts what belongs to others
// nor is shown to them. What the data costs is paid only when a trigger listens.
// r.mu is held.
func (r *run) event(name string, at blueprint.Time, data any) []blueprint.Event {
	if r.begin.Parent != "" || r.begin.privateTo() != "" {
		return nil
	}
	return []blueprint.Event{{
		Name: name, OrganizationID: r.row.OrganizationID, BlueprintID: r.row.BlueprintID, ExecutionID: r.id, Data: data, Depth: r.chain(), Root: r.cause(), At: at,
	}}
}

// chain gives how many events led to the run, each caused by the one before.
func (r *fold) chain() int {
	if r.begin.Trigger != nil {
		return r.begin.Trigger.Depth
	}
	return r.begin.Chain
}

// cause gives the key of the first of these events, "" when there is none.
func (r *fold) cause() string {
	if r.begin.Trigger != nil {
		return r.begin.Trigger.Root
	}
	return r.begin.Cause
}

// ending gives the event of a run that has ended. r.mu is held.
func (r *run) ending(account *stored, at blueprint.Time) []blueprint.Event {
	name := blueprint.EventExecutionCompleted
	if account.Status == blueprint.StatusFailed {
		name = blueprint.EventExecutionFailed
	}
	return r.event(name, at, &told{r.row.TriggerID, account})
}

// told is the data of the event of a run's end, from its account for readers.
type told struct {
	triggerID string
	account   *stored
}

// MarshalJSON gives {"status","triggerId"?} and "output" or "error". An output
// that is too large is null, and "outputTooLarge" true.
func (e *told) MarshalJSON() ([]byte, error) {
	data := toldOf(e.account.Status, e.triggerID)
	if failure := e.account.failure(e.account.Status); failure != nil {
		data["error"] = failure
		return blueprint.Encode(data)
	}
	output := newValues(e.account).output(e.account.Ends)
	_, err := weigh(output, 2*maxTold) // which is quick to give up
	if data["output"] = output; err == nil {
		var text []byte
		if text, err = blueprint.Encode(output); err == nil && len(text) <= maxTold && !deep(text) {
			return blueprint.Encode(data)
		}
	}
	data["output"], data["outputTooLarge"] = nil, true
	return blueprint.Encode(data)
}

// deep tells whether a JSON text is nested too deeply to be part of the input of
// another run, which could not be delivered again then.
func deep(text []byte) bool {
	const most = blueprint.MaxDepth - 2 // for the data of an event, and the event
	if bytes.Count(text, []byte("["))+bytes.Count(text, []byte("{")) <= most {
		return false
	}
	_, err := blueprint.Decode(append(append([]byte("[["), text...), "]]"...))
	return err != nil
}

// pausing gives the event of a run that pauses: {"status","triggerId"?,
// "awaitingInput"}. r.mu is held.
func (r *run) pausing(at blueprint.Time) []blueprint.Event {
	data, masker := toldOf(blueprint.StatusPaused, r.row.TriggerID), r.masker.Load()
	r.each(func(n *nodeRun) {
		if n.phase == awaiting && data["awaitingInput"] == nil {
			prompt := masker.Text(n.await.Prompt)
			if n.await.Kind == blueprint.AwaitOAuth { // who listens is not who is asked
				prompt = blueprint.SignInOfAnother
			}
			data["awaitingInput"] = map[string]any{"kind": string(n.await.Kind), "nodeId": n.address(), "prompt": prompt}
		}
	})
	return r.event(blueprint.EventExecutionPaused, at, data)
}

func toldOf(status blueprint.Status, triggerID string) map[string]any {
	data := map[string]any{"status": string(status)}
	if triggerID != "" {
		data["triggerId"] = triggerID
	}
	return data
}

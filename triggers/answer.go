package triggers

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"time"

	"blueprintd/blueprint"
)

// firedAnswer is the answer to a firing that started a run, now or before.
type firedAnswer struct {
	Success     bool   `json:"success"`
	ExecutionID string `json:"executionId"`
	FiringID    string `json:"firingId"`
}

// skippedAnswer is the answer to a delivery that was left out by a rule.
type skippedAnswer struct {
	Success  bool   `json:"success"`
	Skipped  bool   `json:"skipped"`
	Reason   string `json:"reason"`
	FiringID string `json:"firingId"`
}

// errorAnswer is the answer to a delivery that failed. The ids are there when
// a run was started.
type errorAnswer struct {
	Success     bool       `json:"success"`
	ExecutionID string     `json:"executionId,omitempty"`
	FiringID    string     `json:"firingId,omitempty"`
	Error       shownError `json:"error"`
}

type shownError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	NodeID  string `json:"nodeId,omitempty"`
}

// await waits until a run has ended, paused or answered, but not for too long,
// and not once its caller has left.
func (t *Service) await(ctx context.Context, run Run) {
	waiting, leave := context.WithTimeout(ctx, t.SyncTimeout)
	defer leave()
	select {
	case <-run.Responded():
	case <-run.Ended():
	case <-waiting.Done():
	}
}

// answerRun answers a delivery that has waited for its run: with what the first
// respond node says, or with the run's end. A run that paused or takes too
// long goes on without its caller, as does one whose caller leaves.
//
// Only a sender that proved to know the trigger's secret is told why a run failed:
// the texts of nodes hold addresses and data.
func answerRun(w http.ResponseWriter, run Run, firing *blueprint.Firing, verified bool) {
	var ending blueprint.Ending
	select {
	case <-run.Ended():
		ending, _ = run.Ending(context.Background())
	default:
	}
	response := run.Response() // comes before the end
	switch {
	case response != nil:
		writeResponse(w, response)
	case !ending.Status.Terminal():
		writeFired(w, http.StatusAccepted, *firing.ExecutionID, firing.ID)
	case ending.Status == blueprint.StatusCompleted:
		writeJSON(w, http.StatusOK, ending.Output)
	case !verified:
		writeJSON(w, http.StatusInternalServerError, errorAnswer{ExecutionID: *firing.ExecutionID, Error: shownError{Code: string(blueprint.CodeInternal), Message: "the run failed"}})
	default:
		answer := errorAnswer{ExecutionID: *firing.ExecutionID, FiringID: firing.ID, Error: shownError{Code: string(blueprint.CodeInternal), Message: "the run failed"}}
		if f := ending.Failure; f != nil {
			answer.Error.Message, answer.Error.NodeID = f.Message, f.NodeID
			if f.Code != "" {
				answer.Error.Code = f.Code
			}
		}
		writeJSON(w, http.StatusInternalServerError, answer)
	}
}

// writeFired names the run that a delivery started.
func writeFired(w http.ResponseWriter, status int, executionID, firingID string) {
	writeJSON(w, status, firedAnswer{true, executionID, firingID})
}

func writeError(w http.ResponseWriter, err *blueprint.Error) {
	if err.Code == blueprint.CodeUnavailable || err.Code == blueprint.CodeTooManyRequests {
		seconds := max(1, int64((err.RetryAfter+time.Second-1)/time.Second))
		w.Header().Set("Retry-After", strconv.FormatInt(seconds, 10))
	}
	writeJSON(w, err.Code.HTTPStatus(), errorAnswer{Error: shownError{Code: string(err.Code), Message: err.Message}})
}

func writeJSON(w http.ResponseWriter, status int, value any) {
	body, err := blueprint.Encode(value)
	if err != nil { // a value that no decoder made
		status, body = http.StatusInternalServerError, []byte(`{"success":false,"error":{"code":"INTERNAL_SERVER_ERROR","message":"internal error"}}`)
	}
	w.Header().Set("Content-Type", "application/json")
	write(w, status, body)
}

// writeResponse sends what a respond node says.
func writeResponse(w http.ResponseWriter, response *blueprint.Response) {
	status := response.Status
	if status == 0 {
		status = http.StatusOK
	}
	if status < 200 || status > 599 {
		writeError(w, blueprint.Errorf(blueprint.CodeInternal, "the respond node chose the status %d, which is no HTTP answer", status))
		return
	}
	var body []byte
	kind := "application/json"
	text, isText := response.Body.(string)
	if isText {
		kind = "text/plain; charset=utf-8"
	} else if encoded, err := blueprint.Encode(response.Body); err == nil {
		body = encoded
	}
	if status == http.StatusNoContent || status == http.StatusNotModified {
		body, isText = nil, false
	} else {
		w.Header().Set("Content-Type", kind)
	}
	setHeaders(w.Header(), response.Headers)
	if isText { // which many callers may be told at once: none needs a copy of its own
		w.Header().Set("Content-Length", strconv.Itoa(len(text)))
		writeHead(w, status)
		_, _ = io.WriteString(w, text)
		return
	}
	write(w, status, body)
}

// write sends a whole answer. What a blueprint says is shown by a browser on
// the same host as the dashboard, so it is never guessed to be a page and never
// runs as one. A caller that has gone is no error.
func write(w http.ResponseWriter, status int, body []byte) {
	if len(body) > 0 {
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	}
	writeHead(w, status)
	_, _ = w.Write(body)
}

func writeHead(w http.ResponseWriter, status int) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Content-Security-Policy", "sandbox")
	w.WriteHeader(status)
}

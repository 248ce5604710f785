package triggers

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"strconv"
	"time"

	"blueprintd/blueprint"
)

// firedAnswer is the response to a delivery that started a run, now or earlier.
type firedAnswer struct {
	Success     bool   `json:"success"`
	ExecutionID string `json:"executionId"`
	FiringID    string `json:"firingId"`
}

// skippedAnswer is the response to a delivery that a filter skipped.
type skippedAnswer struct {
	Success  bool   `json:"success"`
	Skipped  bool   `json:"skipped"`
	Reason   string `json:"reason"`
	FiringID string `json:"firingId"`
}

// errorAnswer is the response to a delivery that failed. The ids are set if a run
// was started.
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

// await waits until a run has ended, paused or responded, at most for SyncTimeout or
// until ctx ends.
func (t *Service) await(ctx context.Context, run Run) {
	ctx, cancel := context.WithTimeout(ctx, t.SyncTimeout)
	defer cancel()
	select {
	case <-run.Responded():
	case <-run.Ended():
	case <-ctx.Done():
	}
}

// answerRun writes the response of the first respond node or, without one, the
// outcome of the run. Only an authenticated sender learns why a run failed, because
// error messages may contain addresses and data.
func answerRun(w http.ResponseWriter, run Run, firing *blueprint.Firing, verified bool) {
	var ending blueprint.Ending
	select {
	case <-run.Ended():
		ending, _ = run.Ending(context.Background())
	default:
	}
	answer := errorAnswer{ExecutionID: *firing.ExecutionID, Error: shownError{Code: string(blueprint.CodeInternal), Message: "the run failed"}}
	response := run.Response() // is set before the end
	switch {
	case response != nil:
		writeResponse(w, response)
	case !ending.Status.Terminal():
		writeFired(w, http.StatusAccepted, *firing.ExecutionID, firing.ID)
	case ending.Status == blueprint.StatusCompleted:
		writeJSON(w, http.StatusOK, ending.Output)
	case !verified:
		writeJSON(w, http.StatusInternalServerError, answer)
	default:
		answer.FiringID = firing.ID
		if f := ending.Failure; f != nil {
			answer.Error = shownError{cmp.Or(f.Code, answer.Error.Code), f.Message, f.NodeID}
		}
		writeJSON(w, http.StatusInternalServerError, answer)
	}
}

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
	if err != nil { // not a value from Decode
		status, body = http.StatusInternalServerError, []byte(`{"success":false,"error":{"code":"INTERNAL_SERVER_ERROR","message":"internal error"}}`)
	}
	w.Header().Set("Content-Type", "application/json")
	write(w, status, body)
}

// writeResponse writes the response of a respond node.
func writeResponse(w http.ResponseWriter, response *blueprint.Response) {
	status := cmp.Or(response.Status, http.StatusOK)
	if status < 200 || status > 599 {
		writeError(w, blueprint.Errorf(blueprint.CodeInternal, "the respond node chose the status %d, which is not the status of an HTTP response", status))
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
	if isText { // written without a copy, as many callers may receive it at once
		w.Header().Set("Content-Length", strconv.Itoa(len(text)))
		writeHead(w, status)
		_, _ = io.WriteString(w, text)
		return
	}
	write(w, status, body)
}

// write writes a response. Write errors mean that the caller disconnected.
func write(w http.ResponseWriter, status int, body []byte) {
	if len(body) > 0 {
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	}
	writeHead(w, status)
	_, _ = w.Write(body)
}

// writeHead writes the headers. The response of a blueprint has the same origin as
// the dashboard, so browsers must not sniff its type or run scripts in it.
func writeHead(w http.ResponseWriter, status int) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Content-Security-Policy", "sandbox")
	w.WriteHeader(status)
}

package blueprintd

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// Error is the error of a call whose response is not a result. Calls without a response,
// for example because the connection was refused, return errors of other types; it is then
// unknown whether the server executed the call.
type Error struct {
	Path       string        // the procedure
	Code       string        // NOT_FOUND, TOO_MANY_REQUESTS, ...; "" if the response is not from a blueprintd server
	HTTPStatus int           // 404, 429, ...
	Message    string        // what is wrong
	Hint       string        // what to do about it; may be ""
	Issues     []Issue       // the problems with the input, by field
	RetryAfter time.Duration // the delay that the server asks for; 0 = none
	Body       []byte        // the complete response body
}

// Issue is one problem with an input.
type Issue struct {
	Path    []any  `json:"path"`   // keys (string) and positions (float64), outermost first
	NodeID  string `json:"nodeId"` // the node of a blueprint, if the problem is in one
	Message string `json:"message"`
}

// Error returns the procedure, the message, the code and the status.
func (e *Error) Error() string {
	if e.Code == "" {
		return fmt.Sprintf("%s: %s (%d)", e.Path, e.Message, e.HTTPStatus)
	}
	return fmt.Sprintf("%s: %s (%s, %d)", e.Path, e.Message, e.Code, e.HTTPStatus)
}

// Busy reports whether the same call may succeed later: it exceeded a rate limit, or the
// server is full or stopping. The server has not executed it.
func (e *Error) Busy() bool {
	return e.HTTPStatus == http.StatusTooManyRequests || e.HTTPStatus == http.StatusServiceUnavailable
}

// open returns the payload of a response without its envelope.
func open(procedure string, response *http.Response, body []byte) (json.RawMessage, error) {
	var answer struct {
		Result *struct {
			Data struct {
				JSON json.RawMessage `json:"json"`
			} `json:"data"`
		} `json:"result"`
		Error *struct {
			JSON struct {
				Message string `json:"message"`
				Data    struct {
					Code   string  `json:"code"`
					Issues []Issue `json:"issues"`
				} `json:"data"`
			} `json:"json"`
		} `json:"error"`
	}
	err := json.Unmarshal(body, &answer)
	if err == nil && answer.Error == nil && answer.Result != nil && response.StatusCode < http.StatusBadRequest {
		return answer.Result.Data.JSON, nil
	}
	refused := &Error{Path: procedure, HTTPStatus: response.StatusCode, Body: body}
	if seconds, err := time.ParseDuration(response.Header.Get("Retry-After") + "s"); err == nil {
		refused.RetryAfter = seconds
	}
	if err != nil || answer.Error == nil || answer.Error.JSON.Data.Code == "" {
		refused.Message = "the answer is not that of a blueprintd server"
		refused.Hint = "check the address: the one where the server's dashboard is, such as https://flows.example.org"
		return nil, refused
	}
	said := answer.Error.JSON
	refused.Message, refused.Code, refused.Issues = said.Message, said.Data.Code, said.Data.Issues
	if response.StatusCode == http.StatusUnauthorized {
		refused.Hint = "make a key with blueprintd key create, or on the dashboard"
	}
	return nil, refused
}

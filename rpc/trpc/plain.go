package trpc

import (
	"net/http"

	"blueprintd/blueprint"
)

// PlainFunc answers a route outside the RPC root for an authenticated caller.
// An error that it returns is answered as plain JSON, so it must not have
// begun an answer by then.
type PlainFunc func(w http.ResponseWriter, r *http.Request, caller *Caller) error

// Authenticated guards a plain route with the same keys and the same rate
// limit as the procedures, one call for each request. The key needs a scope.
func (h *Handler) Authenticated(scope blueprint.KeyScope, next PlainFunc) http.Handler {
	return h.guard(scope, next, 1)
}

// AuthenticatedUnlimited guards a plain route with the keys alone.
func (h *Handler) AuthenticatedUnlimited(scope blueprint.KeyScope, next PlainFunc) http.Handler {
	return h.guard(scope, next, 0)
}

func (h *Handler) guard(scope blueprint.KeyScope, next PlainFunc, cost int) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		tracked := &answerTracker{ResponseWriter: w}
		if h.allowOrigin(tracked, r) {
			return
		}
		id := h.requestID()
		err := protect(func() error {
			if err := h.refusal(r); err != nil {
				discardBody(r, 2*h.options.MaxBody)
				return err
			}
			access, err := h.admit(r.Context(), h.options.Token(r), cost)
			if refused := InScope(access, scope); err == nil && refused != nil {
				err = refused
			}
			if err != nil {
				discardBody(r, 2*h.options.MaxBody)
				return err
			}
			caller := &Caller{Admission: access, RequestID: id, Via: h.options.Via, Header: w.Header(), Request: r}
			return next(tracked, r, caller)
		})
		if err == nil {
			return
		}
		failure := h.failure(&request{Request: r, id: id}, r.URL.Path, err)
		tracked.abort(err)
		writePlainError(tracked, failure)
	})
}

// WritePlainError answers a request with an error in the plain JSON form,
// {"error":{"code","message"}}, and logs what must not be shown.
func (h *Handler) WritePlainError(w http.ResponseWriter, r *http.Request, err error) {
	writePlainError(w, h.failure(&request{Request: r, id: h.requestID()}, r.URL.Path, err))
}

func writePlainError(w http.ResponseWriter, failure *blueprint.Error) {
	type plainError struct {
		Code    blueprint.Code `json:"code"`
		Message string         `json:"message"`
	}
	body, err := blueprint.Encode(map[string]plainError{"error": {failure.Code, failure.Message}})
	if err != nil {
		body = []byte(`{"error":{"code":"INTERNAL_SERVER_ERROR","message":"internal error"}}`)
	}
	setRetryAfter(w.Header(), []*call{{failure: failure}})
	writeJSON(w, failure.Code.HTTPStatus(), body)
}

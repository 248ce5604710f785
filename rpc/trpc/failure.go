package trpc

import (
	"errors"
	"net/http"
	"slices"

	"blueprintd/blueprint"
)

// failure turns any error into what the caller may read. It is the one place
// where errors of calls are logged.
func (h *Handler) failure(r *request, path string, err error) *blueprint.Error {
	var known *blueprint.Error
	var crashed *panicError
	internal := !errors.As(err, &known) || known.Code.HTTPStatus() == http.StatusInternalServerError
	switch attributes := []any{"procedure", path, "requestId", r.id, "error", err}; {
	case errors.As(err, &crashed):
		h.options.Logger.Error("call panicked", append(attributes, "stack", string(crashed.stack))...)
		return blueprint.Errorf(blueprint.CodeInternal, "internal error")
	case internal && r.Context().Err() != nil:
		// Whatever it was, the cause is that the caller left.
		h.options.Logger.Debug("call abandoned", attributes...)
		return blueprint.Errorf(blueprint.CodeClientClosed, "the client went away")
	case internal:
		h.options.Logger.Error("call failed", attributes...)
		return blueprint.Errorf(blueprint.CodeInternal, "internal error")
	}
	if known.Err != nil && known.Code == blueprint.CodeUnavailable {
		h.options.Logger.Warn("call refused", "procedure", path, "requestId", r.id, "code", known.Code, "error", err)
	}
	shown := *known
	shown.Issues = slices.Clone(shown.Issues)
	for i := range shown.Issues {
		if shown.Issues[i].Path == nil {
			shown.Issues[i].Path = []any{} // the input as a whole
		}
	}
	if shown.Message == "" && len(shown.Issues) > 0 {
		shown.Message = issuesText(shown.Issues)
	}
	if shown.Message == "" {
		shown.Message = string(shown.Code)
	}
	return &shown
}

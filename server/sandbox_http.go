package server

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"blueprintd/blueprint"
	"blueprintd/rpc/trpc"
	"blueprintd/server/sandbox"
)

// maxSandbox is how large a request to the sandbox may be, in bytes.
const maxSandbox = 4 << 20

// ruledOnly is boxOnly for what concerns the runs of all. What changes something
// is noted as the action.
func (s *Server) ruledOnly(action string, methods map[string]trpc.PlainFunc) trpc.PlainFunc {
	next := s.boxOnly(methods)
	return func(w http.ResponseWriter, r *http.Request, caller *trpc.Caller) error {
		if s.fakes != nil && methods[r.Method] != nil {
			if err := s.requireOwner(caller); err != nil {
				return err
			}
		}
		if err := next(w, r, caller); err != nil {
			return err
		}
		if r.Method == http.MethodPut || r.Method == http.MethodDelete {
			s.noteOwnerAction(r, caller, action, nil)
		}
		return nil
	}
}

// boxOnly answers by method where there is a sandbox, and 404 where there is none.
func (s *Server) boxOnly(methods map[string]trpc.PlainFunc) trpc.PlainFunc {
	var allowed []string
	for name := range methods {
		allowed = append(allowed, name)
	}
	slices.Sort(allowed)
	return func(w http.ResponseWriter, r *http.Request, caller *trpc.Caller) error {
		if s.fakes == nil {
			return &blueprint.Error{Code: blueprint.CodeNotFound, Message: "this server reaches the world; start it with --sandbox to have fakes in its place"}
		}
		next := methods[r.Method]
		if next == nil {
			w.Header().Set("Allow", strings.Join(allowed, ", "))
			return blueprint.Errorf(blueprint.CodeMethodNotSupported, "%s takes %s", r.URL.Path, strings.Join(allowed, " and "))
		}
		return next(w, r, caller)
	}
}

// sandboxClear answers DELETE /sandbox: calls and rules are forgotten.
func (s *Server) sandboxClear() trpc.PlainFunc {
	return s.ruledOnly("sandbox.clear", map[string]trpc.PlainFunc{http.MethodDelete: func(w http.ResponseWriter, _ *http.Request, _ *trpc.Caller) error {
		s.fakes.Clear()
		return WriteJSON(w, http.StatusOK, map[string]any{"calls": []any{}, "rules": []any{}})
	}})
}

// sandboxCalls answers GET /sandbox/calls with what went out, oldest first: the
// owner sees all of it, others what runs sent that they may see.
func (s *Server) sandboxCalls() trpc.PlainFunc {
	return s.boxOnly(map[string]trpc.PlainFunc{http.MethodGet: func(w http.ResponseWriter, r *http.Request, caller *trpc.Caller) error {
		query := r.URL.Query()
		filter := sandbox.Filter{ExecutionID: query.Get("executionId"), NodeType: query.Get("nodeType"), Host: query.Get("host")}
		if limit := query.Get("limit"); limit != "" {
			var err error
			if filter.Limit, err = strconv.Atoi(limit); err != nil || filter.Limit < 1 {
				return blueprint.Errorf(blueprint.CodeBadRequest, "limit: must be a whole number from 1")
			}
		}
		if !s.isOwner(caller) {
			filter.May = s.mayWatch(r.Context(), caller)
		}
		list, dropped := s.fakes.Calls(filter)
		return WriteJSON(w, http.StatusOK, map[string]any{"calls": list, "dropped": dropped})
	}})
}

// mayWatch tells of which runs a caller may see the traffic.
func (s *Server) mayWatch(ctx context.Context, caller *trpc.Caller) func(executionID string) bool {
	known := map[string]bool{}
	return func(id string) bool {
		may, asked := known[id]
		if !asked && id != "" {
			_, _, err := s.Store.Execution(ctx, caller.Principal, id)
			may = err == nil
			known[id] = may
		}
		return may
	}
}

// sandboxRules answers GET and PUT /sandbox/rules.
func (s *Server) sandboxRules() trpc.PlainFunc {
	show := func(w http.ResponseWriter, _ *http.Request, _ *trpc.Caller) error {
		return WriteJSON(w, http.StatusOK, map[string]any{"rules": s.fakes.Rules()})
	}
	return s.ruledOnly("sandbox.rules", map[string]trpc.PlainFunc{http.MethodGet: show, http.MethodPut: func(w http.ResponseWriter, r *http.Request, caller *trpc.Caller) error {
		value, err := jsonBody(w, r, maxSandbox)
		if err == nil {
			err = s.fakes.SetRules(value)
		}
		if err != nil {
			return err
		}
		return show(w, r, caller)
	}})
}

// sandboxExpectations answers GET and PUT /sandbox/expectations.
func (s *Server) sandboxExpectations() trpc.PlainFunc {
	show := func(w http.ResponseWriter, _ *http.Request, _ *trpc.Caller) error {
		return WriteJSON(w, http.StatusOK, map[string]any{"expect": s.fakes.Expectations()})
	}
	return s.ruledOnly("sandbox.expectations", map[string]trpc.PlainFunc{http.MethodGet: show, http.MethodPut: func(w http.ResponseWriter, r *http.Request, caller *trpc.Caller) error {
		value, err := jsonBody(w, r, maxSandbox)
		if err == nil {
			err = s.fakes.SetExpectations(value)
		}
		if err != nil {
			return err
		}
		return show(w, r, caller)
	}})
}

// sandboxVerify answers POST /sandbox/verify: whether all came that was expected.
func (s *Server) sandboxVerify() trpc.PlainFunc {
	return s.ruledOnly("", map[string]trpc.PlainFunc{http.MethodPost: func(w http.ResponseWriter, _ *http.Request, _ *trpc.Caller) error {
		unmet := s.fakes.Unmet()
		return WriteJSON(w, http.StatusOK, map[string]any{"met": len(unmet) == 0, "unmet": unmet})
	}})
}

// jsonBody reads a JSON value of at most so many bytes.
func jsonBody(w http.ResponseWriter, r *http.Request, most int64) (any, error) {
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, blueprint.Errorf(blueprint.CodePayloadTooLarge, "the body is larger than %d bytes", large.Limit)
	case err != nil:
		return nil, blueprint.BodyError(err)
	case !utf8.Valid(data):
		return nil, blueprint.Errorf(blueprint.CodeBadRequest, "the body is not valid UTF-8")
	}
	return blueprint.Decode(data)
}

package server

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/engine/nodes"
	"blueprintd/foundation/outbound"
	"blueprintd/project"
	"blueprintd/rpc"
	"blueprintd/rpc/trpc"
	"blueprintd/server/sandbox"
	"blueprintd/triggers/mail"
)

// newFakes makes what answers in the place of the network; nil without --sandbox.
func (s *Server) newFakes() (*sandbox.Sandbox, error) {
	o := s.Options.Sandbox
	if o == nil {
		return nil, nil
	}
	made, err := sandbox.New(sandbox.Options{Clock: s.Options.Clock, IDs: s.IDs.Stream("fakes"), Parse: mail.Parse, Known: RuledNames()})
	if err == nil && o.Expect != nil {
		err = made.SetExpectations(o.Expect)
	}
	return made, err
}

// RuledNames are the names that rules and expectations can be about.
func RuledNames() sandbox.Known {
	known := sandbox.Known{NodeTypes: slices.Sorted(maps.Keys(project.CatalogueOf(nodes.Dependencies{})))}
	for _, procedure := range append(rpc.Procedures(), rpc.SessionProcedures()...) {
		known.Procedures = append(known.Procedures, procedure.Name)
		if procedure.Kind == trpc.KindSubscription {
			known.Subscriptions = append(known.Subscriptions, procedure.Name)
		}
	}
	return known
}

// boxed puts the sandbox where the network would be.
func (s *Server) boxed(o outbound.Options) outbound.Options {
	if s.fakes != nil {
		o.Instead, o.RootCAs = s.fakes, s.fakes.Authorities()
	}
	return o
}

// running gives the node types for who runs them.
func (s *Server) running(catalogue blueprint.Catalogue) blueprint.Catalogue {
	if s.fakes == nil {
		return catalogue
	}
	return s.fakes.Catalogue(catalogue)
}

// fault gives what breaks calls of procedures; nil without a sandbox.
func (s *Server) fault() func(procedure string) *trpc.Fault {
	if s.fakes == nil {
		return nil
	}
	return func(procedure string) *trpc.Fault {
		f := s.fakes.Procedure(procedure)
		if f == nil {
			return nil
		}
		return &trpc.Fault{Failure: f.Failure, Status: f.Status, Value: f.Value, Header: f.Header, Cut: f.Cut, Whole: f.Whole, Wait: f.Wait}
	}
}

// misbehave answers a request to a plain way in that a rule of the sandbox is
// about, and tells whether it did.
func (s *Server) misbehave(w http.ResponseWriter, r *http.Request) bool {
	if s.fakes == nil {
		return false
	}
	route, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if route != "webhooks" && route != "v1" && route != "mcp" {
		return false
	}
	f := s.fakes.Route(route, r)
	if f == nil {
		return false
	}
	f.Wait(r.Context())
	if f.Status == 0 && !f.Cut {
		return false
	}
	var value any = f.Value
	if f.Failure != nil {
		said := map[string]any{"code": string(f.Failure.Code), "message": f.Failure.Message}
		if f.Failure.Code == "" {
			said["code"] = string(blueprint.CodeInternal)
		}
		value = map[string]any{"error": said}
		if route == "webhooks" {
			value = map[string]any{"success": false, "error": said}
		}
	}
	for name, values := range f.Header {
		w.Header()[name] = values
	}
	body := blueprint.BodyBytes(value)
	if f.Status != 0 {
		if w.Header().Get("Content-Type") == "" {
			w.Header().Set("Content-Type", "application/json")
		}
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		w.WriteHeader(f.Status)
		if f.Cut {
			body = body[:len(body)/2]
		}
		_, _ = w.Write(body)
	}
	if f.Cut {
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	return true
}

// Unmet tells what was expected of a sandbox and did not come, a line for each.
// The error ends the program with the exit code 1.
func (s *Server) Unmet() error {
	if s.fakes == nil {
		return nil
	}
	list := s.fakes.Unmet()
	for _, one := range list {
		fmt.Fprintln(s.Options.Sandbox.Told, blueprint.OneLine(one.Problem))
	}
	switch len(list) {
	case 0:
		return nil
	case 1:
		return blueprint.Hinted("see the line above", "an expectation was not met")
	}
	return blueprint.Hinted("see the lines above", "%d expectations were not met", len(list))
}

// UnmetBefore tells what was expected of the sandbox of a server that was stopped
// before it was ready.
func UnmetBefore(o Options) error {
	s := &Server{Options: o, IDs: sourceOf(o.SeedIDs)}
	var err error
	if s.fakes, err = s.newFakes(); err != nil {
		return err
	}
	return s.Unmet()
}

package rpc

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
	"blueprintd/foundation/ids"
	"blueprintd/rpc/trpc"
)

// hush is the text of all fields that only the caller of a run may read.
const hush = "hush"

// fullRun returns a run of ann with a value in every field.
func fullRun(privateTo string) *blueprint.Execution {
	three, text := int64(3), "a"
	signIn := &blueprint.AwaitingInput{NodeID: "in", Kind: blueprint.AwaitOAuth, Prompt: hush, URL: "https://" + hush, Schema: hush, Options: []string{"o"}, RequestedAt: 1, ExpiresAt: 2}
	approval := &blueprint.AwaitingInput{NodeID: "ok", Kind: blueprint.AwaitApproval, Prompt: "may it?", Schema: hush, URL: hush}
	outcome := &blueprint.AwaitingInput{NodeID: "out", Kind: blueprint.AwaitUnknownOutcome, Prompt: "did it?"}
	budget := &blueprint.AwaitingInput{NodeID: "more", Kind: blueprint.AwaitBudget, Prompt: "more?"}
	human := &blueprint.AwaitingInput{NodeID: "ask", Kind: blueprint.AwaitHuman, Prompt: hush}
	return &blueprint.Execution{
		ExecutionStatus: blueprint.ExecutionStatus{
			ID: "e", Status: blueprint.StatusFailed, Progress: 50, StartTime: 1, EndTime: 2, TotalSteps: 3, CompletedSteps: 1, FailedSteps: 2, CurrentStep: &text,
			Steps: []blueprint.Step{
				{NodeID: "a", NodeType: "http", Title: "A", Status: blueprint.StepFailed, StartTime: 1, EndTime: 2, DurationMs: &three, Attempt: 4, TokensUsed: &three,
					Input: hush, Output: hush, Masked: true, Error: &blueprint.StepError{Message: hush, Code: "c", Hint: hush, Exchange: &blueprint.StepExchange{}}},
				{NodeID: "b", Status: blueprint.StepCompleted, Output: hush},
			},
			Logs: []blueprint.LogEntry{{Message: hush}}, AwaitingInput: signIn, AwaitingInputs: []*blueprint.AwaitingInput{signIn, approval, outcome, budget, human},
		},
		LogID: "l", BlueprintID: "b", BlueprintVersion: "1.0.0", OrganizationID: "o", UserID: "ann", PrivateTo: privateTo, TriggerID: "t", FiringID: "f", ParentExecutionID: "p", RetryOf: "r",
		CreatedAt: 3, UpdatedAt: 4, InputVariables: map[string]any{"v": hush}, InputData: hush, Output: hush, Outputs: map[string]any{"a": hush},
		Failure: &blueprint.RunError{NodeID: "a", Message: hush, Code: "c", Hint: hush, Displaced: true}, DataSize: 5,
		Telemetry: blueprint.Telemetry{
			TotalTokensUsed: 1, UsedMCPServers: true, MCPServerCount: 2, MCPServerNames: []string{hush}, ReachedOutForData: true, ExternalDataSourcesCount: 3,
			DataSourcesSummary: []blueprint.DataSource{{Host: hush}}, RequiredLogin: true, OAuthFlowsTriggered: true, AuthenticationMethodsUsed: []string{hush},
			PrimaryAIProviderConnectionID: hush, AIProvidersUsedCount: 4, HasErrors: true, ErrorCount: 5, CriticalErrors: true, ErrorSummary: hush,
		},
	}
}

// hiddenRun is what other users than its caller see of fullRun("ann").
func hiddenRun() *blueprint.Execution {
	three, text := int64(3), "a"
	signIn := &blueprint.AwaitingInput{NodeID: "in", Kind: blueprint.AwaitOAuth, Prompt: blueprint.SignInPromptForOthers, Options: []string{"o"}, RequestedAt: 1, ExpiresAt: 2}
	return &blueprint.Execution{
		ExecutionStatus: blueprint.ExecutionStatus{
			ID: "e", Status: blueprint.StatusFailed, Progress: 50, StartTime: 1, EndTime: 2, TotalSteps: 3, CompletedSteps: 1, FailedSteps: 2, CurrentStep: &text,
			Steps: []blueprint.Step{
				{NodeID: "a", NodeType: "http", Title: "A", Status: blueprint.StepFailed, StartTime: 1, EndTime: 2, DurationMs: &three, Attempt: 4, TokensUsed: &three, Error: &blueprint.StepError{Message: hiddenData, Code: "c"}},
				{NodeID: "b", Status: blueprint.StepCompleted},
			},
			Logs: []blueprint.LogEntry{}, AwaitingInput: signIn,
			AwaitingInputs: []*blueprint.AwaitingInput{
				signIn, {NodeID: "ok", Kind: blueprint.AwaitApproval, Prompt: "may it?"}, {NodeID: "out", Kind: blueprint.AwaitUnknownOutcome, Prompt: "did it?"},
				{NodeID: "more", Kind: blueprint.AwaitBudget, Prompt: "more?"}, {NodeID: "ask", Kind: blueprint.AwaitHuman},
			},
		},
		LogID: "l", BlueprintID: "b", BlueprintVersion: "1.0.0", OrganizationID: "o", UserID: "ann", PrivateTo: "ann", RetryOf: "r", CreatedAt: 3, UpdatedAt: 4,
		InputVariables: map[string]any{}, Outputs: map[string]any{}, Failure: &blueprint.RunError{NodeID: "a", Message: hiddenData, Code: "c"},
		Telemetry: blueprint.Telemetry{
			TotalTokensUsed: 1, UsedMCPServers: true, MCPServerCount: 2, MCPServerNames: []string{}, ReachedOutForData: true, ExternalDataSourcesCount: 3, DataSourcesSummary: []blueprint.DataSource{},
			RequiredLogin: true, OAuthFlowsTriggered: true, AuthenticationMethodsUsed: []string{}, AIProvidersUsedCount: 4, HasErrors: true, ErrorCount: 5, CriticalErrors: true,
		},
	}
}

// accessStore is a database with one blueprint and its runs.
type accessStore struct {
	Store
	access      blueprint.Access // of the caller to the blueprint
	definition  error            // the error of Definition
	canManage   bool             // the caller may manage the blueprint of the run
	connections map[string]string
	m           *blueprint.Map
	grantErr    error
	created     *blueprint.NewAPIKey
}

func (s *accessStore) Execution(_ context.Context, _ blueprint.Principal, id string) (*blueprint.StoredExecution, bool, error) {
	if id == "unknown" {
		return nil, false, blueprint.Errorf(blueprint.CodeNotFound, "no such run")
	}
	return &blueprint.StoredExecution{Row: blueprint.ExecutionRow{ID: id, BlueprintID: "b", BlueprintVersion: "1.0.0", UserID: "ann"}}, s.canManage, nil
}

func (s *accessStore) Definition(context.Context, blueprint.Principal, string) (*blueprint.Definition, blueprint.Access, error) {
	if s.definition != nil {
		return nil, blueprint.AccessNone, s.definition
	}
	return &blueprint.Definition{BlueprintID: "b", OrganizationID: "o", Map: s.m}, s.access, nil
}

func (s *accessStore) GetBlueprint(context.Context, blueprint.Principal, string) (blueprint.BlueprintDetails, error) {
	return blueprint.BlueprintDetails{Blueprint: blueprint.Blueprint{ID: "b", Access: s.access, BlueprintMap: strayMap()}}, nil
}

func (s *accessStore) ListBlueprints(context.Context, blueprint.Principal, blueprint.BlueprintFilter) ([]blueprint.Blueprint, int, error) {
	return []blueprint.Blueprint{{ID: "b", Access: s.access, BlueprintMap: strayMap()}}, 1, nil
}

func (s *accessStore) VersionContent(context.Context, blueprint.Principal, string, string) (*blueprint.BlueprintVersion, error) {
	return &blueprint.BlueprintVersion{BlueprintMap: map[string]any{"nodes": []any{}}}, nil
}

func (s *accessStore) Connection(_ context.Context, _ blueprint.Principal, id string) (blueprint.Connection, error) {
	if name, ok := s.connections[id]; ok {
		return blueprint.Connection{ID: id, Name: name}, nil
	}
	return blueprint.Connection{Name: "not yours"}, blueprint.Errorf(blueprint.CodeForbidden, "not yours")
}

func (s *accessStore) MissingGrantFor(_ context.Context, _ blueprint.Principal, stored *blueprint.MissingGrant) (*blueprint.MissingGrant, error) {
	shown := *stored
	shown.Resource.Name = "CRM"
	return &shown, s.grantErr
}

func (s *accessStore) CreateLimitedKey(_ context.Context, given blueprint.NewAPIKey) (blueprint.APIKey, error) {
	s.created = &given
	return blueprint.APIKey{ID: "k", Scopes: given.Scopes, ExpiresAt: given.ExpiresAt}, nil
}

// accessRunner has one run, and records its calls.
type accessRunner struct {
	Runner
	privateTo string
	problem   *string
	viewErr   error
	room      int // of the last View; -1 = without a bound
	calls     []string
	request   *blueprint.StartRequest
	err       error  // of every call that changes something
	id        string // of new runs; "" = e2
}

func (r *accessRunner) View(context.Context, *blueprint.StoredExecution) (*blueprint.Execution, error) {
	r.room = -1
	return fullRun(r.privateTo), r.viewErr
}

func (r *accessRunner) ViewWithin(_ context.Context, _ *blueprint.StoredExecution, room int) (*blueprint.Execution, error) {
	r.room = room
	return fullRun(r.privateTo), r.viewErr
}

func (r *accessRunner) Summary(context.Context, *blueprint.StoredExecution) (*string, *blueprint.AwaitKind, string) {
	kind := blueprint.AwaitApproval
	return r.problem, &kind, r.privateTo
}

func (r *accessRunner) Recording(context.Context, *blueprint.StoredExecution) (*blueprint.Recording, error) {
	return &blueprint.Recording{Execution: fullRun(r.privateTo), Recorded: true, Exchanges: []blueprint.Exchange{{NodeID: hush}}}, r.viewErr
}

func (r *accessRunner) Resume(_ context.Context, answer blueprint.ResumeAnswer) error {
	r.calls = append(r.calls, fmt.Sprintf("resume %s as %s, manages %v", answer.ExecutionID, answer.UserID, answer.CanManage))
	return r.err
}

func (r *accessRunner) Cancel(_ context.Context, id, _ string) error {
	r.calls = append(r.calls, "cancel "+id)
	return r.err
}

func (r *accessRunner) Retry(_ context.Context, stored *blueprint.StoredExecution, _ string, principal blueprint.Principal, canManage bool) (string, error) {
	r.calls = append(r.calls, fmt.Sprintf("retry %s as %s, manages %v", stored.Row.ID, principal.UserID, canManage))
	return r.started(), r.err
}

func (r *accessRunner) Execute(_ context.Context, request *blueprint.StartRequest) (string, *blueprint.Execution, error) {
	r.request = request
	return r.started(), nil, r.err
}

func (r *accessRunner) Start(_ context.Context, request *blueprint.StartRequest) (string, error) {
	r.request = request
	return r.started(), r.err
}

func (r *accessRunner) started() string {
	if r.err != nil {
		return r.id
	}
	return "e2"
}

// newAccess returns a service over a store and a runner.
func newAccess(store *accessStore, runner *accessRunner) *Service {
	catalogue := blueprint.Catalogue{"note": {Type: "note", Schema: map[string]any{"properties": map[string]any{"text": map[string]any{}}}}}
	info := func() ServerInfo { return ServerInfo{Version: "v"} }
	return &Service{
		Options:  Options{Store: store, Runner: runner, Catalogue: catalogue, Info: info, IDs: ids.New(nil)},
		Exporter: NewExporter(store, runner, catalogue, info), evaluations: evaluationSlots(),
	}
}

func callerOf(user string) *trpc.Caller {
	return &trpc.Caller{Admission: blueprint.Admission{Principal: blueprint.Principal{UserID: user}, Scopes: blueprint.AllScopes()}, Header: http.Header{}}
}

// strayMap is a map with a key that its node type does not know.
func strayMap() map[string]any {
	return map[string]any{"nodes": []any{map[string]any{"id": "a", "type": "note", "title": "A", "config": map[string]any{"text": "x", "pasword": hush}}}}
}

// knownMap is strayMap without that key.
func knownMap() map[string]any {
	return map[string]any{"nodes": []any{map[string]any{"id": "a", "type": "note", "title": "A", "config": map[string]any{"text": "x"}}}}
}

// The data of a run belongs to its caller if PrivateTo says so; a sign-in always does.
func TestViewHidesData(t *testing.T) {
	signInHidden := func(x *blueprint.Execution) *blueprint.Execution {
		hidden := *x.AwaitingInputs[0]
		hidden.URL, hidden.Prompt = "", blueprint.SignInPromptForOthers
		x.AwaitingInputs[0], x.AwaitingInput = &hidden, &hidden
		return x
	}
	for name, test := range map[string]struct {
		privateTo, user string
		want            *blueprint.Execution
	}{
		"its caller":               {"", "ann", fullRun("")},
		"a manager":                {"", "bob", signInHidden(fullRun(""))},
		"caller of a private run":  {"ann", "ann", fullRun("ann")},
		"manager of a private run": {"ann", "bob", hiddenRun()},
		"no user":                  {"ann", "", hiddenRun()},
	} {
		t.Run(name, func(t *testing.T) {
			runner := &accessRunner{privateTo: test.privateTo}
			s, principal := newAccess(&accessStore{}, runner), blueprint.Principal{UserID: test.user}
			for _, room := range []int{-1, 0, 7} {
				got, err := s.view(t.Context(), principal, &blueprint.StoredExecution{}, room)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Errorf("view with room %d (-want +got):\n%s", room, diff)
				}
				if runner.room != room {
					t.Errorf("the view had room for %d bytes, want %d", runner.room, room)
				}
			}
			got, err := s.recording(t.Context(), principal, &blueprint.StoredExecution{})
			if err != nil {
				t.Fatal(err)
			}
			want := &blueprint.Recording{Execution: test.want, Recorded: true}
			if test.privateTo == "" || test.privateTo == test.user {
				want.Exchanges = []blueprint.Exchange{{NodeID: hush}}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("recording (-want +got):\n%s", diff)
			}
		})
	}
}

func TestViewFails(t *testing.T) {
	broken := errors.New("disk I/O error")
	s := newAccess(&accessStore{}, &accessRunner{viewErr: broken})
	if got, err := s.view(t.Context(), blueprint.Principal{UserID: "ann"}, &blueprint.StoredExecution{}, -1); got != nil || !errors.Is(err, broken) {
		t.Errorf("view: got %v, %v; want nil, %v", got, err, broken)
	}
	if got, err := s.recording(t.Context(), blueprint.Principal{UserID: "ann"}, &blueprint.StoredExecution{}); got != nil || !errors.Is(err, broken) {
		t.Errorf("recording: got %v, %v; want nil, %v", got, err, broken)
	}
}

// An empty run stays empty when its data is hidden.
func TestWithoutDataOfAnEmptyRun(t *testing.T) {
	got := withoutData(&blueprint.Execution{})
	want := &blueprint.Execution{InputVariables: map[string]any{}, Outputs: map[string]any{}, Telemetry: blueprint.NewTelemetry()}
	want.Steps, want.Logs = []blueprint.Step{}, []blueprint.LogEntry{}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("run (-want +got):\n%s", diff)
	}
}

const someConnection = "3b241101-e2bb-4255-8caf-4136c566a962"

func TestSummarizeHidesErrors(t *testing.T) {
	problem := "connection (" + someConnection + ") failed"
	approval := blueprint.AwaitApproval
	named, hidden := `connection "CRM" failed`, hiddenData
	for name, test := range map[string]struct {
		privateTo, user string
		problem, want   *string
	}{
		"no error":                {"ann", "bob", nil, nil},
		"own run":                 {"ann", "ann", &problem, &named},
		"run that all may read":   {"", "bob", &problem, &named},
		"private run of another":  {"ann", "bob", &problem, &hidden},
		"private run, no user id": {"ann", "", &problem, &hidden},
	} {
		t.Run(name, func(t *testing.T) {
			s := newAccess(&accessStore{connections: map[string]string{someConnection: "CRM"}}, &accessRunner{privateTo: test.privateTo, problem: test.problem})
			got := blueprint.ListedRun{}
			s.summarize(t.Context(), blueprint.Principal{UserID: test.user}, &got)
			if diff := cmp.Diff(blueprint.ListedRun{Error: test.want, Awaiting: &approval}, got); diff != "" {
				t.Errorf("listed run (-want +got):\n%s", diff)
			}
		})
	}
}

// The names of connections and of missing resources are shown to users who may know them.
func TestShowNames(t *testing.T) {
	const other = "11111111-e2bb-4255-8caf-4136c566a962"
	mine := func(name string) string { return fmt.Sprintf("uses %s and connection (%s)", name, other) }
	before, after := mine("connection ("+someConnection+")"), mine(`connection "CRM"`)
	grant := &blueprint.MissingGrant{BlueprintID: "b", Version: "1.0.0", Resource: blueprint.Resource{Kind: blueprint.ResourceConnection, ID: "c"}}
	shownGrant := *grant
	shownGrant.Resource.Name = "CRM"
	run := func(text string, grant *blueprint.MissingGrant) *blueprint.Execution {
		x := &blueprint.Execution{Failure: &blueprint.RunError{Message: text}}
		x.Steps = []blueprint.Step{{Error: &blueprint.StepError{Message: text}}, {}, {Error: &blueprint.StepError{Message: grant.Message(), Grant: grant}}}
		x.Logs, x.Telemetry.ErrorSummary = []blueprint.LogEntry{{Message: text}}, text
		return x
	}
	store := &accessStore{connections: map[string]string{someConnection: "CRM"}}
	s := newAccess(store, &accessRunner{})
	got := run(before, grant)
	shared := *got.Steps[0].Error
	shares := got.Steps[0].Error
	if err := s.showNames(t.Context(), blueprint.Principal{UserID: "ann"}, got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(run(after, &shownGrant), got); diff != "" {
		t.Errorf("run (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(shared, *shares); diff != "" {
		t.Errorf("the error of the step, which others may hold, was changed (-want +got):\n%s", diff)
	}
	failed := &blueprint.Execution{Failure: &blueprint.RunError{Message: "a: " + grant.Message(), Grant: grant}}
	if err := s.showNames(t.Context(), blueprint.Principal{UserID: "ann"}, failed); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&blueprint.RunError{Message: "a: " + shownGrant.Message(), Grant: &shownGrant}, failed.Failure); diff != "" {
		t.Errorf("failure (-want +got):\n%s", diff)
	}
	store.grantErr = errors.New("disk I/O error")
	for name, x := range map[string]*blueprint.Execution{
		"step": run(before, grant), "run": {Failure: &blueprint.RunError{Grant: grant}},
	} {
		t.Run(name, func(t *testing.T) {
			if err := s.showNames(t.Context(), blueprint.Principal{UserID: "ann"}, x); !errors.Is(err, store.grantErr) {
				t.Errorf("grant of a %s: got the error %v, want %v", name, err, store.grantErr)
			}
		})
	}
}

// Config keys that a node type does not define may hold a credential by mistake.
func TestUnknownConfigIsForManagers(t *testing.T) {
	for access, want := range map[blueprint.Access]map[string]any{
		blueprint.AccessNone: knownMap(), blueprint.AccessSee: knownMap(), blueprint.AccessView: knownMap(),
		blueprint.AccessManage: strayMap(), blueprint.AccessAdmin: strayMap(), blueprint.AccessOwner: strayMap(),
	} {
		t.Run(fmt.Sprint(access), func(t *testing.T) {
			s := newAccess(&accessStore{access: access}, &accessRunner{})
			one, err := s.blueprintGet(t.Context(), callerOf("ann"), resourceID{"b"})
			if err != nil {
				t.Fatal(err)
			}
			page, err := s.blueprintList(t.Context(), callerOf("ann"), blueprint.BlueprintFilter{Page: 1, Limit: 20})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]any{want, want}, []any{one.BlueprintMap, page.Data[0].BlueprintMap}); diff != "" {
				t.Errorf("maps of a single one and in a list (-want +got):\n%s", diff)
			}
		})
	}
}

// A run can be resumed and cancelled by users who still belong to its blueprint, and by
// a caller to whom it is private.
func TestMayAct(t *testing.T) {
	forbidden, missing := blueprint.Errorf(blueprint.CodeForbidden, "no access"), blueprint.Errorf(blueprint.CodeNotFound, "no such blueprint")
	broken := errors.New("disk I/O error")
	for name, test := range map[string]struct {
		user, privateTo string
		definition      error
		view            error
		want            error
	}{
		"member":                         {"bob", "", nil, nil, nil},
		"deleted blueprint":              {"bob", "", missing, nil, nil},
		"stranger":                       {"bob", "", forbidden, nil, forbidden},
		"stranger, private run":          {"bob", "ann", forbidden, nil, forbidden},
		"former member":                  {"ann", "", forbidden, nil, forbidden},
		"caller of a public blueprint":   {"ann", "ann", forbidden, nil, nil},
		"reader to whom it is private":   {"bob", "bob", forbidden, nil, forbidden},
		"run that cannot be read":        {"ann", "ann", forbidden, broken, broken},
		"blueprint that cannot be read":  {"ann", "ann", broken, nil, broken},
		"without a user, not private":    {"", "", forbidden, nil, forbidden},
		"unreadable run of a former one": {"ann", "", forbidden, broken, broken},
	} {
		t.Run(name, func(t *testing.T) {
			runner := &accessRunner{privateTo: test.privateTo, viewErr: test.view}
			s := newAccess(&accessStore{definition: test.definition, canManage: true}, runner)
			if _, got := s.MayAct(t.Context(), callerOf(test.user).Principal, "e"); !errors.Is(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
			var want []string
			if test.want == nil {
				want = []string{"resume e as " + test.user + ", manages true", "cancel e"}
			}
			_, resumed := s.executionResume(t.Context(), callerOf(test.user), executionResume{ID: "e"})
			_, cancelled := s.executionCancel(t.Context(), callerOf(test.user), executionCancel{ID: "e"})
			if diff := cmp.Diff(want, runner.calls); diff != "" {
				t.Errorf("calls of the runner (-want +got):\n%s", diff)
			}
			if test.view == nil && (!errors.Is(resumed, test.want) || !errors.Is(cancelled, test.want)) {
				t.Errorf("resume and cancel: got %v and %v, want %v", resumed, cancelled, test.want)
			}
		})
	}
}

func TestUnknownRunIsNotTouched(t *testing.T) {
	runner := &accessRunner{}
	s, caller := newAccess(&accessStore{access: blueprint.AccessOwner, canManage: true}, runner), callerOf("ann")
	for name, call := range map[string]func() error{
		"resume": func() error {
			_, err := s.executionResume(t.Context(), caller, executionResume{ID: "unknown"})
			return err
		},
		"cancel": func() error {
			_, err := s.executionCancel(t.Context(), caller, executionCancel{ID: "unknown"})
			return err
		},
		"retry": func() error {
			_, err := s.executionRetry(t.Context(), caller, executionRetry{ID: "unknown"})
			return err
		},
		"export": func() error { _, err := s.Export(t.Context(), caller.Principal, "unknown"); return err },
		"record": func() error { _, err := s.executionRecord(t.Context(), caller, executionID{"unknown"}); return err },
		"traffic": func() error {
			_, err := s.executionExchanges(t.Context(), caller, executionID{"unknown"})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			if code := blueprint.CodeOf(call()); code != blueprint.CodeNotFound {
				t.Errorf("got %q, want %q", code, blueprint.CodeNotFound)
			}
		})
	}
	if runner.calls != nil || caller.Noted.Kind != "" {
		t.Errorf("got the calls %v and the audit entry %+v, want none", runner.calls, caller.Noted)
	}
	status, err := s.executionStatus(t.Context(), caller, executionID{"unknown"})
	if err != nil || status.Status != blueprint.StatusNotFound {
		t.Errorf("status: got %v, %v; want %s", status, err, blueprint.StatusNotFound)
	}
}

// Runs use the secrets of a blueprint if their caller may manage it, however they are
// started.
func TestRunsManageByAccess(t *testing.T) {
	m, issues := blueprint.ParseMap(knownMap())
	if issues != nil {
		t.Fatalf("%v, want nil", issues)
	}
	for access, manages := range map[blueprint.Access]bool{
		blueprint.AccessView: false, blueprint.AccessManage: true, blueprint.AccessOwner: true,
	} {
		t.Run(fmt.Sprint(access), func(t *testing.T) {
			runner := &accessRunner{}
			s, caller := newAccess(&accessStore{access: access, m: m}, runner), callerOf("bob")
			if _, err := s.blueprintExecute(t.Context(), caller, blueprintExecute{ID: "b"}); err != nil {
				t.Fatal(err)
			}
			want := &blueprint.StartRequest{Definition: &blueprint.Definition{BlueprintID: "b", OrganizationID: "o", Map: m}, Principal: caller.Principal, CanManage: manages, InputData: map[string]any{}}
			if diff := cmp.Diff(want, runner.request); diff != "" {
				t.Errorf("request of execute (-want +got):\n%s", diff)
			}
			if caller.Noted.ID != "e2" || caller.Noted.Organization != "o" {
				t.Errorf("audit entry %+v, want the run e2 in the organization o", caller.Noted)
			}
			if _, err := s.executionRetry(t.Context(), caller, executionRetry{ID: "e"}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{fmt.Sprintf("retry e as bob, manages %v", manages)}, runner.calls); diff != "" {
				t.Errorf("retry (-want +got):\n%s", diff)
			}
		})
	}
}

func TestStartsAreRefused(t *testing.T) {
	forbidden := blueprint.Errorf(blueprint.CodeForbidden, "no access")
	empty := &blueprint.Map{}
	for name, test := range map[string]struct {
		store *accessStore
		want  error
	}{
		"no access":     {&accessStore{definition: forbidden}, forbidden},
		"no map":        {&accessStore{access: blueprint.AccessOwner}, errNoNodes},
		"map, no nodes": {&accessStore{access: blueprint.AccessOwner, m: empty}, errNoNodes},
	} {
		t.Run(name, func(t *testing.T) {
			runner, caller := &accessRunner{}, callerOf("bob")
			s := newAccess(test.store, runner)
			if _, err := s.blueprintExecute(t.Context(), caller, blueprintExecute{ID: "b"}); !errors.Is(err, test.want) {
				t.Errorf("execute: got %v, want %v", err, test.want)
			}
			if _, err := s.executeWithLogging(t.Context(), caller, executeWithLogging{Nodes: nodesInput{}}); !errors.Is(err, test.want) {
				t.Errorf("executeBlueprintWithLogging: got %v, want %v", err, test.want)
			}
			if _, err := s.executionRetry(t.Context(), caller, executionRetry{ID: "e"}); test.store.definition != nil && !errors.Is(err, test.want) {
				t.Errorf("retry: got %v, want %v", err, test.want)
			}
			if runner.request != nil || test.store.definition != nil && runner.calls != nil {
				t.Errorf("got the run %+v and the calls %v, want none", runner.request, runner.calls)
			}
		})
	}
}

// Nodes that differ from the stored ones run only for users who may store them.
func TestOtherNodesNeedTheRightToManage(t *testing.T) {
	stored := map[string]any{"nodes": append(strayMap()["nodes"].([]any), map[string]any{"id": "b", "type": "note", "title": "B", "config": map[string]any{}}), "edges": []any{map[string]any{"source": "a", "target": "b"}}}
	m, issues := blueprint.ParseMap(stored)
	if issues != nil {
		t.Fatalf("%v, want nil", issues)
	}
	nodes := nodesInput(stored["nodes"].([]any))
	shown := nodesInput(append(knownMap()["nodes"].([]any), nodes[1]))
	other := nodesInput{map[string]any{"id": "a", "type": "note", "title": "A", "config": map[string]any{"text": "y"}}, nodes[1]}
	same, reversed := stored["edges"].([]any), []any{map[string]any{"source": "b", "target": "a"}}
	for name, test := range map[string]struct {
		access blueprint.Access
		nodes  nodesInput
		edges  []any
		want   string
	}{
		"viewer, stored nodes":           {blueprint.AccessView, nodes, nil, "stored"},
		"viewer, stored nodes and edges": {blueprint.AccessView, nodes, same, "stored"},
		"viewer, nodes as shown":         {blueprint.AccessView, shown, nil, "stored"},
		"viewer, all as shown":           {blueprint.AccessView, shown, same, "stored"},
		"viewer, other config":           {blueprint.AccessView, other, nil, "FORBIDDEN"},
		"viewer, other edges":            {blueprint.AccessView, nodes, reversed, "FORBIDDEN"},
		"viewer, fewer nodes":            {blueprint.AccessView, nodes[:1], nil, "FORBIDDEN"},
		"viewer, empty edges":            {blueprint.AccessView, nodes, []any{}, "stored"},
		"manager, stored nodes":          {blueprint.AccessManage, nodes, nil, "stored"},
		"manager, empty edges":           {blueprint.AccessManage, nodes, []any{}, "stored"},
		"manager, other config":          {blueprint.AccessManage, other, nil, "other"},
		"manager, nodes as shown":        {blueprint.AccessManage, shown, nil, "other"},
		"manager, other edges":           {blueprint.AccessManage, nodes, reversed, "other"},
	} {
		t.Run(name, func(t *testing.T) {
			runner, caller := &accessRunner{}, callerOf("bob")
			s := newAccess(&accessStore{access: test.access, m: m}, runner)
			got := "stored"
			if _, err := s.executeWithLogging(t.Context(), caller, executeWithLogging{Nodes: test.nodes, Edges: test.edges}); err != nil {
				got = string(blueprint.CodeOf(err))
			} else if runner.request.AdHoc {
				got = "other"
				if runner.request.Definition.Map.Equivalent(m) {
					t.Error("the stored map runs, want the one that was sent")
				}
			}
			if got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
			if got == "stored" && runner.request.Definition.Map != m {
				t.Error("a map runs that is not the stored one")
			}
			if got == "FORBIDDEN" && (runner.request != nil || caller.Noted.Kind != "") {
				t.Errorf("got the run %+v and the audit entry %+v, want none", runner.request, caller.Noted)
			}
			if got != "FORBIDDEN" {
				want := trpc.Note{Kind: "execution", ID: "e2", Organization: "o", Detail: map[string]any{"blueprintId": "", "otherNodes": got == "other"}, Always: true}
				if diff := cmp.Diff(want, caller.Noted); diff != "" {
					t.Errorf("audit entry (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// An export requires access to both the blueprint and the data of the run.
func TestExportNeedsBoth(t *testing.T) {
	for name, test := range map[string]struct {
		canManage bool
		privateTo string
		want      blueprint.Code
	}{
		"manager":                          {true, "", ""},
		"manager of a run private to them": {true, "bob", ""},
		"manager of another's private run": {true, "ann", blueprint.CodeForbidden},
		"caller who may not manage":        {false, "bob", blueprint.CodeForbidden},
		"reader":                           {false, "", blueprint.CodeForbidden},
	} {
		t.Run(name, func(t *testing.T) {
			s := newAccess(&accessStore{canManage: test.canManage, access: blueprint.AccessManage}, &accessRunner{privateTo: test.privateTo})
			f, err := s.Export(t.Context(), blueprint.Principal{UserID: "bob"}, "e")
			if got := blueprint.CodeOf(err); got != test.want || (f != nil) != (test.want == "") {
				t.Errorf("got %q with a file: %v; want %q", got, f != nil, test.want)
			}
			_, err = s.ExportTest(t.Context(), blueprint.Principal{UserID: "bob"}, "e")
			if got := blueprint.CodeOf(err); test.want != "" && got != test.want {
				t.Errorf("as a test: got %q, want %q", got, test.want)
			}
		})
	}
}

// Connections that the exporting user may not use are known by their type alone.
func TestExportNamesOwnConnections(t *testing.T) {
	s := newAccess(&accessStore{connections: map[string]string{"mine": "CRM"}}, &accessRunner{})
	got := s.usedConnections(t.Context(), blueprint.Principal{UserID: "bob"}, &blueprint.Recording{Connections: []blueprint.UsedConnection{{ID: "mine"}, {ID: "theirs"}}})
	if len(got) != 1 || got["mine"].Name != "CRM" {
		t.Errorf("got %+v, want CRM alone", got)
	}
}

// A connection is neither tested nor signed in to by users who may not use it.
func TestConnectionsOfOthersAreNotUsed(t *testing.T) {
	for name, test := range map[string]struct {
		tester  ConnectionTester
		id      string
		want    blueprint.Code // of signIn and test
		message string
	}{
		"usable":       {tests{}, someConnection, "", `connection "CRM" answers`},
		"another's":    {tests{}, "theirs", blueprint.CodeForbidden, ""},
		"none offered": {nil, someConnection, blueprint.CodeUnavailable, "this server cannot test connections"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newAccess(&accessStore{connections: map[string]string{someConnection: "CRM"}}, &accessRunner{})
			s.Connections = test.tester
			caller := callerOf("ann")
			out, err := s.connectionSignIn(t.Context(), caller, resourceID{test.id})
			if got := blueprint.CodeOf(err); got != test.want || (out.URL != "") != (test.want == "") {
				t.Errorf("signIn: got %q and %q, want %q", got, out.URL, test.want)
			}
			if (caller.Noted.Kind != "") != (test.want == "") {
				t.Errorf("signIn: got the audit entry %+v with the error %q", caller.Noted, test.want)
			}
			caller = callerOf("ann")
			tested, err := s.connectionTest(t.Context(), caller, resourceID{test.id})
			want := test.want
			if test.tester == nil {
				want = ""
			}
			if got := blueprint.CodeOf(err); got != want || tested.Message != test.message || tested.OK != (test.want == "") {
				t.Errorf("test: got %q and %+v, want %q and %q", got, tested, want, test.message)
			}
		})
	}
}

// tests is a ConnectionTester for which every test and sign-in succeeds.
type tests struct{}

func (tests) Test(context.Context, string, string) (bool, string, error) {
	return true, "connection (" + someConnection + ") answers", nil
}

func (tests) SignIn(_ context.Context, user, id string) (string, error) {
	return "https://" + user + "/" + id, nil
}

// A key cannot create one with more scopes or a later expiry.
func TestKeyDoesNotGrow(t *testing.T) {
	soon := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(d time.Duration) *string {
		text := soon.Add(d).Format(time.RFC3339)
		return &text
	}
	read, run, all := blueprint.KeyScopes{blueprint.ScopeRead}, blueprint.KeyScopes{blueprint.ScopeRun, blueprint.ScopeRead}, blueprint.AllScopes()
	for name, test := range map[string]struct {
		maker   blueprint.KeyScopes
		expires blueprint.Time
		scopes  blueprint.KeyScopes
		at      *string
		want    string // the scopes and the end, or the code of the error
	}{
		"all by default":           {all, 0, nil, nil, "admin,read,run,write 0"},
		"some":                     {all, 0, run, nil, "read,run 0"},
		"default beyond the maker": {run, 0, nil, nil, "FORBIDDEN"},
		"same":                     {run, 0, run, nil, "read,run 0"},
		"included":                 {run, 0, read, nil, "read 0"},
		"more":                     {read, 0, run, nil, "FORBIDDEN"},
		"ends with it":             {all, blueprint.TimeOf(soon), read, at(0), "read 1893456000000"},
		"ends before":              {all, blueprint.TimeOf(soon), read, at(-time.Second), "read 1893455999000"},
		"ends after":               {all, blueprint.TimeOf(soon), read, at(time.Second), "FORBIDDEN"},
		"never ends":               {all, blueprint.TimeOf(soon), read, nil, "FORBIDDEN"},
		"maker never ends":         {all, 0, read, at(0), "read 1893456000000"},
		"no time":                  {all, 0, read, new("tomorrow"), "BAD_REQUEST"},
		"long ago":                 {all, 0, read, new("1960-01-01T00:00:00Z"), "read 1"}, // 0 would mean never
	} {
		t.Run(name, func(t *testing.T) {
			store := &accessStore{}
			caller := callerOf("ann")
			caller.Scopes, caller.ExpiresAt = test.maker, test.expires
			_, err := newAccess(store, &accessRunner{}).keyCreate(t.Context(), caller, keyCreate{Name: "k", Scopes: test.scopes, ExpiresAt: test.at})
			got := string(blueprint.CodeOf(err))
			if err == nil {
				got = fmt.Sprintf("%s %d", store.created.Scopes, store.created.ExpiresAt)
			}
			if got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
			if err != nil && store.created != nil {
				t.Errorf("the key %+v was stored", store.created)
			}
			if err == nil && (store.created.UserID != "ann" || !strings.HasPrefix(store.created.Key, "bpd_")) {
				t.Errorf("the key %q of %q was stored, want a new one of ann", store.created.Key, store.created.UserID)
			}
		})
	}
}

// A frozen service refuses mutations and allows everything else.
func TestFrozenRefusesMutations(t *testing.T) {
	refusal := blueprint.Errorf(blueprint.CodeForbidden, "this server only shows something")
	for _, freeze := range []error{nil, refusal} {
		ran := map[string]bool{}
		run := func(name string) func(context.Context, *trpc.Caller, struct{}) (succeeded, error) {
			return func(context.Context, *trpc.Caller, struct{}) (succeeded, error) {
				ran[name] = true
				return succeeded{true}, nil
			}
		}
		table := []trpc.Procedure{trpc.Query("x.get", blueprint.ScopeRead, run("x.get")), trpc.Mutation("x.set", blueprint.ScopeRead, run("x.set"))}
		if freeze != nil {
			table = frozen(table, freeze)
		}
		for _, p := range table {
			ask(t, p, "u", nil)
		}
		if diff := cmp.Diff(map[string]bool{"x.get": true, "x.set": freeze == nil}, map[string]bool{"x.get": ran["x.get"], "x.set": ran["x.set"]}); diff != "" {
			t.Errorf("what ran with the refusal %v (-want +got):\n%s", freeze, diff)
		}
	}
	s := newAccess(&accessStore{}, &accessRunner{})
	s.Frozen = refusal
	mutations := 0
	for _, p := range s.Procedures() {
		if p.Kind != trpc.KindMutation {
			continue
		}
		mutations++
		if status, text := ask(t, p, "u", map[string]any{}); status != http.StatusForbidden || !strings.Contains(text, refusal.Message) {
			t.Errorf("%s: got %d %s, want %d", p.Name, status, text, http.StatusForbidden)
		}
	}
	if mutations < 20 {
		t.Errorf("%d mutations were called, want all of them", mutations)
	}
}

// A failed call has an audit entry only if it started a run.
func TestFailedCallsAreNoted(t *testing.T) {
	broken := errors.New("disk I/O error")
	m, issues := blueprint.ParseMap(knownMap())
	if issues != nil {
		t.Fatalf("%v, want nil", issues)
	}
	for name, call := range map[string]func(*Service, *trpc.Caller) (bool, error){
		"resume": func(s *Service, c *trpc.Caller) (bool, error) {
			out, err := s.executionResume(t.Context(), c, executionResume{ID: "e"})
			return out != nil, err
		},
		"cancel": func(s *Service, c *trpc.Caller) (bool, error) {
			out, err := s.executionCancel(t.Context(), c, executionCancel{ID: "e"})
			return out != nil, err
		},
		"retry": func(s *Service, c *trpc.Caller) (bool, error) {
			out, err := s.executionRetry(t.Context(), c, executionRetry{ID: "e"})
			return out.Success, err
		},
		"execute": func(s *Service, c *trpc.Caller) (bool, error) {
			out, err := s.blueprintExecute(t.Context(), c, blueprintExecute{ID: "b"})
			return out.ExecutionID != "", err
		},
		"executeBlueprintWithLogging": func(s *Service, c *trpc.Caller) (bool, error) {
			out, err := s.executeWithLogging(t.Context(), c, executeWithLogging{Nodes: knownMap()["nodes"].([]any)})
			return out.Success, err
		},
	} {
		for _, id := range []string{"", "e3"} {
			t.Run(name+" "+id, func(t *testing.T) {
				caller := callerOf("ann")
				s := newAccess(&accessStore{access: blueprint.AccessManage, m: m}, &accessRunner{err: broken, id: id})
				succeeded, err := call(s, caller)
				if succeeded || !errors.Is(err, broken) {
					t.Errorf("got a success: %v, and the error %v; want %v", succeeded, err, broken)
				}
				if caller.Noted.ID != id && name != "resume" && name != "cancel" {
					t.Errorf("got the audit entry %+v, want one of the run %q", caller.Noted, id)
				}
				if caller.Noted.ID != "" && id == "" {
					t.Errorf("got the audit entry %+v, want none", caller.Noted)
				}
			})
		}
		t.Run(name+" succeeds", func(t *testing.T) {
			s := newAccess(&accessStore{access: blueprint.AccessManage, m: m}, &accessRunner{})
			caller := callerOf("ann")
			if _, err := call(s, caller); err != nil || caller.Noted.ID == "" {
				t.Errorf("got the error %v and the audit entry %+v, want none and one", err, caller.Noted)
			}
		})
	}
}

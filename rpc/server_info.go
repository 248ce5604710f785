package rpc

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"blueprintd/blueprint"
	"blueprintd/rpc/trpc"
)

// ServerInfo describes the server to any caller with a key.
type ServerInfo struct {
	Version    string         `json:"version"`
	StartedAt  blueprint.Time `json:"startedAt"`
	Now        blueprint.Time `json:"now"`
	APIHost    string         `json:"apiHost"`
	Ephemeral  bool           `json:"ephemeral"` // nothing is stored
	Sandbox    bool           `json:"sandbox"`   // fakes replace other services
	Clock      string         `json:"clock" words:"real|virtual"`
	MailDomain *string        `json:"mailDomain"` // nil = no mail is received
	Limits     ServerLimits   `json:"limits"`
	Events     []string       `json:"events"`     // that triggers can listen to, besides custom ones
	NodeTypes  int            `json:"nodeTypes"`  // the number of types
	MayOperate bool           `json:"mayOperate"` // whether the caller may call server.getStatus
}

// ServerLimits are the limits of the server; 0 = none.
type ServerLimits struct {
	MaxBlueprints  int     `json:"maxBlueprints"`  // of a user
	Blueprints     int     `json:"blueprints"`     // of the caller
	RateLimit      float64 `json:"rateLimit"`      // calls a second
	RateBurst      int     `json:"rateBurst"`      // calls at once
	MaxBody        int64   `json:"maxBody"`        // bytes
	SyncTimeoutMs  int64   `json:"syncTimeoutMs"`  // how long a synchronous call waits for its run
	MaxRunning     int     `json:"maxRunning"`     // runs at work at the same time
	MaxQueued      int     `json:"maxQueued"`      // runs waiting to start; more are refused
	KeepExecutions string  `json:"keepExecutions"` // as the flag of serve is written
	KeepFirings    string  `json:"keepFirings"`    // likewise
	KeepAudit      string  `json:"keepAudit"`      // likewise
	MaxDisk        int64   `json:"maxDisk"`        // bytes
}

func (s *Service) serverInfo(ctx context.Context, caller *trpc.Caller, _ struct{}) (ServerInfo, error) {
	count, err := s.Store.CountBlueprints(ctx, caller.Principal)
	if err != nil {
		return ServerInfo{}, err
	}
	info := s.Info()
	info.Limits.Blueprints, info.NodeTypes, info.Events = count, len(s.Catalogue), blueprint.ServiceEvents
	info.MayOperate = s.MayOperate != nil && s.MayOperate(caller)
	return info, nil
}

// ServerStatus is the state of the server for the people who operate it: of this process,
// and of the database that it shares with others.
type ServerStatus struct {
	Ready           bool            `json:"ready"`  // the server accepts work, as for /readyz
	Checks          []Check         `json:"checks"` // those of /readyz?verbose
	Now             blueprint.Time  `json:"now"`
	Version         string          `json:"version"`
	GoVersion       string          `json:"goVersion"`
	Database        string          `json:"database" words:"sqlite|postgres"`
	SchemaVersion   int             `json:"schemaVersion"`   // of the database
	StartedAt       blueprint.Time  `json:"startedAt"`       // of this process
	Runs            StatusRuns      `json:"runs"`            // the unfinished runs of this process
	Schedules       StatusSchedules `json:"schedules"`       // those that this process fires
	Disk            StatusDisk      `json:"disk"`            // the database and its disk, in bytes
	MemoryBytes     *int64          `json:"memoryBytes"`     // resident memory of this process; nil = unknown
	OpenConnections int64           `json:"openConnections"` // of clients to this process
	Processes       []Process       `json:"processes"`       // of a server on PostgreSQL; empty on SQLite
	Hours           []bucket        `json:"hours"`           // the last 24 hours, with the runs of all users
	Totals          sums            `json:"totals"`          // of these hours
}

// Check is one check of a server's health. Detail and Hint are for the operator.
type Check struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`         // what was found
	Hint   string `json:"hint,omitempty"` // what to do about it
}

// StatusRuns counts the unfinished runs of this process.
type StatusRuns struct {
	Working    int   `json:"working"`    // runs with a node at work
	MaxRunning int   `json:"maxRunning"` // the limit for them
	Queued     int   `json:"queued"`     // runs waiting to start
	MaxQueued  int   `json:"maxQueued"`  // the limit for them
	Blocked    int   `json:"blocked"`    // runs waiting for their concurrency group
	Waiting    int   `json:"waiting"`    // runs waiting for a point in time
	Paused     int64 `json:"paused"`     // runs waiting for an answer
}

// StatusSchedules describes the schedules that this process fires.
type StatusSchedules struct {
	Active  int64 `json:"active"`  // schedules that are not paused
	Overdue int64 `json:"overdue"` // schedules whose next tick should have fired
	Missed  int64 `json:"missed"`  // ticks that did not fire, since the start of the process
}

// StatusDisk describes the database and its disk, in bytes.
type StatusDisk struct {
	Database int64  `json:"database"` // size of the database with its log; 0 in memory
	Free     *int64 `json:"free"`     // space left on its disk; nil = unknown
	Limit    int64  `json:"limit"`    // --max-disk; 0 = none
}

// Process is one of the processes of a server on PostgreSQL.
type Process struct {
	Name         string   `json:"name"` // --node-name
	State        string   `json:"state" words:"live|leaving|drained|dead"`
	LeaseSeconds float64  `json:"leaseSeconds"` // until its lease expires, unless it is renewed
	Duties       []string `json:"duties"`       // what it does for all processes: schedules, events, history
}

func (s *Service) serverStatus(ctx context.Context, caller *trpc.Caller, _ struct{}) (ServerStatus, error) {
	if s.MayOperate == nil || !s.MayOperate(caller) {
		return ServerStatus{}, blueprint.Errorf(blueprint.CodeForbidden, "only the owner of this server may see its status")
	}
	status := s.Status(ctx)
	starts, end := bucketsOf(0, 0, false, time.UTC, status.Now.Time())
	hours, err := s.Store.ServerHours(ctx, hourOf(starts[0]), hourOf(end))
	if err != nil {
		return ServerStatus{}, err
	}
	status.Hours, status.Totals = fillBuckets(starts, end, hours)
	return status, nil
}

type nodeType struct {
	Type         string           `json:"type"`
	Title        string           `json:"title"`
	Description  string           `json:"description"`
	Category     string           `json:"category" words:"flow|data|people|services|events"`
	ConfigSchema map[string]any   `json:"configSchema"`
	Handles      []string         `json:"handles"` // besides "main"
	Effect       blueprint.Effect `json:"effect"`
	PassesInput  bool             `json:"passesInput"` // the output is the input
	Waits        string           `json:"waits" words:"none|time|person|runs"`
	Example      map[string]any   `json:"example"`
	Starter      map[string]any   `json:"starter"`          // the config of a new node
	Output       map[string]any   `json:"output,omitempty"` // a JSON Schema, where something is known before a run
	Expressions  []string         `json:"expressions"`      // keys of config, as in "cases[].when"
}

// nodeTypes lists the catalogue in the order of the palette.
func (s *Service) nodeTypes(context.Context, *trpc.Caller, struct{}) ([]nodeType, error) {
	kinds := slices.SortedFunc(maps.Values(s.Catalogue), func(a, b *blueprint.NodeType) int {
		return cmp.Or(a.Order-b.Order, cmp.Compare(a.Type, b.Type))
	})
	out := make([]nodeType, 0, len(kinds))
	for _, kind := range kinds {
		out = append(out, nodeType{
			kind.Type, kind.Title, kind.Description, kind.Category, kind.Schema, append([]string{}, kind.Handles...), kind.Effect,
			kind.PassesInput, cmp.Or(kind.Waits, "none"), kind.Example, kind.Starter, kind.Output, append([]string{}, kind.Expressions...),
		})
	}
	return out, nil
}

type connectionType struct {
	Type         connectionWord `json:"type"`
	Title        string         `json:"title"`
	Description  string         `json:"description"`
	ConfigSchema map[string]any `json:"configSchema"`
}

func (s *Service) connectionTypes(context.Context, *trpc.Caller, struct{}) ([]connectionType, error) {
	forms := blueprint.ConnectionForms()
	out := make([]connectionType, len(forms))
	for i, form := range forms {
		out[i] = connectionType{connectionWord(form.Type), form.Title, form.Description, form.Schema}
	}
	return out, nil
}

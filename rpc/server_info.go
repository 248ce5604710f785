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
	Ephemeral  bool           `json:"ephemeral"`
	Sandbox    bool           `json:"sandbox"`
	Clock      string         `json:"clock" words:"real|virtual"`
	MailDomain *string        `json:"mailDomain"` // nil = no mail is received
	Limits     ServerLimits   `json:"limits"`
	Events     []string       `json:"events"` // that triggers can listen to, besides custom ones
	NodeTypes  int            `json:"nodeTypes"`
	MayOperate bool           `json:"mayOperate"` // whether the caller may call server.getStatus
}

// ServerLimits are the limits of the server; 0 = none.
type ServerLimits struct {
	MaxBlueprints  int     `json:"maxBlueprints"`
	Blueprints     int     `json:"blueprints"` // of the caller
	RateLimit      float64 `json:"rateLimit"`  // calls a second
	RateBurst      int     `json:"rateBurst"`
	MaxBody        int64   `json:"maxBody"` // bytes
	SyncTimeoutMs  int64   `json:"syncTimeoutMs"`
	MaxRunning     int     `json:"maxRunning"`
	MaxQueued      int     `json:"maxQueued"`
	KeepExecutions string  `json:"keepExecutions"` // as the flags of serve are written
	KeepFirings    string  `json:"keepFirings"`
	KeepAudit      string  `json:"keepAudit"`
	MaxDisk        int64   `json:"maxDisk"` // bytes
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
	Ready           bool            `json:"ready"`
	Checks          []Check         `json:"checks"`
	Now             blueprint.Time  `json:"now"`
	Version         string          `json:"version"`
	GoVersion       string          `json:"goVersion"`
	Database        string          `json:"database" words:"sqlite|postgres"`
	SchemaVersion   int             `json:"schemaVersion"`
	StartedAt       blueprint.Time  `json:"startedAt"`
	Runs            StatusRuns      `json:"runs"`
	Schedules       StatusSchedules `json:"schedules"`
	Disk            StatusDisk      `json:"disk"`
	MemoryBytes     *int64          `json:"memoryBytes"` // resident; nil = unknown
	OpenConnections int64           `json:"openConnections"`
	Processes       []Process       `json:"processes"` // of a server on PostgreSQL
	Hours           []bucket        `json:"hours"`     // the last 24, of the runs of all users
	Totals          sums            `json:"totals"`    // of these hours
}

// Check is one check of a server's health. Detail and Hint are for the operator.
type Check struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
	Hint   string `json:"hint,omitempty"`
}

// StatusRuns counts the unfinished runs of this process.
type StatusRuns struct {
	Working    int   `json:"working"`
	MaxRunning int   `json:"maxRunning"`
	Queued     int   `json:"queued"`
	MaxQueued  int   `json:"maxQueued"`
	Blocked    int   `json:"blocked"` // by their concurrency group
	Waiting    int   `json:"waiting"` // for an instant
	Paused     int64 `json:"paused"`  // for an answer
}

// StatusSchedules describes the schedules that this process fires.
type StatusSchedules struct {
	Active  int64 `json:"active"`
	Overdue int64 `json:"overdue"`
	Missed  int64 `json:"missed"` // ticks since the start
}

// StatusDisk describes the database and its disk, in bytes.
type StatusDisk struct {
	Database int64  `json:"database"` // with its log; 0 in memory
	Free     *int64 `json:"free"`     // nil = unknown
	Limit    int64  `json:"limit"`    // 0 = none
}

// Process is one of the processes of a server on PostgreSQL.
type Process struct {
	Name         string   `json:"name"`
	State        string   `json:"state" words:"live|leaving|drained|dead"`
	LeaseSeconds float64  `json:"leaseSeconds"`
	Duties       []string `json:"duties"`
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

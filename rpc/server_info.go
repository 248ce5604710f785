package rpc

import (
	"cmp"
	"context"
	"maps"
	"slices"

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
	return info, nil
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

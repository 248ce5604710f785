package rpc

import (
	"context"

	"blueprintd/blueprint"
	"blueprintd/rpc/trpc"
)

// ServerInfo is what everybody with a key may know of the server.
type ServerInfo struct {
	Version    string         `json:"version"`
	StartedAt  blueprint.Time `json:"startedAt"`
	Now        blueprint.Time `json:"now"`
	APIHost    string         `json:"apiHost"`
	Ephemeral  bool           `json:"ephemeral"`
	Sandbox    bool           `json:"sandbox"` // nothing real is reached
	Clock      string         `json:"clock" words:"real|virtual"`
	MailDomain *string        `json:"mailDomain"` // nil = no mail is received
	Limits     ServerLimits   `json:"limits"`
	Events     []string       `json:"events"` // that triggers can listen to, besides custom ones
	NodeTypes  int            `json:"nodeTypes"`
}

// ServerLimits are what the server was started with; 0 = no limit.
type ServerLimits struct {
	MaxBlueprints  int     `json:"maxBlueprints"`
	Blueprints     int     `json:"blueprints"` // that the caller has
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

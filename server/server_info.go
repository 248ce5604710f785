package server

import (
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/rpc"
)

// info is what everybody with a key may know of a server that was started then.
func (s *Server) info(started time.Time) rpc.ServerInfo {
	o := &s.Options
	info := rpc.ServerInfo{
		Version: o.Version, StartedAt: blueprint.TimeOf(started), Now: blueprint.TimeOf(o.Clock.Now()), APIHost: s.APIHost(), Ephemeral: o.Ephemeral, Sandbox: s.fakes != nil, Clock: "real",
		Limits: rpc.ServerLimits{
			MaxBlueprints: o.MaxBlueprints, RateLimit: o.RateLimit, RateBurst: o.RateBurst, MaxBody: o.MaxBody, SyncTimeoutMs: o.SyncTimeout.Milliseconds(),
			MaxRunning: o.MaxRunning, MaxQueued: o.MaxQueued, KeepExecutions: o.KeepExecutions.String(), KeepFirings: o.KeepFirings.String(), KeepAudit: o.KeepAudit.String(), MaxDisk: o.MaxDisk,
		},
	}
	if _, virtual := o.Clock.(*clock.Virtual); virtual {
		info.Clock = "virtual"
	}
	if o.SMTPAddr != "" {
		info.MailDomain = &o.MailDomain
	}
	return info
}

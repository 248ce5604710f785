package main

import (
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/rpc"
)

// info is what everybody with a key may know of a server that was started then.
func (s *server) info(started time.Time) rpc.ServerInfo {
	o := &s.options
	info := rpc.ServerInfo{
		Version: o.version, StartedAt: blueprint.TimeOf(started), Now: blueprint.TimeOf(o.clock.Now()), APIHost: s.apiHost(), Ephemeral: o.ephemeral, Sandbox: s.fakes != nil, Clock: "real",
		Limits: rpc.ServerLimits{
			MaxBlueprints: o.maxBlueprints, RateLimit: o.rateLimit, RateBurst: o.rateBurst, MaxBody: o.maxBody, SyncTimeoutMs: o.syncTimeout.Milliseconds(),
			MaxRunning: o.maxRunning, MaxQueued: o.maxQueued, KeepExecutions: o.keepExecutions.String(), KeepFirings: o.keepFirings.String(), KeepAudit: o.keepAudit.String(), MaxDisk: o.maxDisk,
		},
	}
	if _, virtual := o.clock.(*clock.Virtual); virtual {
		info.Clock = "virtual"
	}
	if o.smtpAddr != "" {
		info.MailDomain = &o.mailDomain
	}
	return info
}

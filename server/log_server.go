package server

import (
	"blueprintd/engine"
	"blueprintd/foundation/fileio"
)

// logServing tells where the server is and on what it stands.
func (s *Server) logServing() {
	database := "memory"
	if !s.Options.Ephemeral {
		database = fileio.Absolute(s.Options.DB)
	}
	attributes := []any{"address", s.Listener.Addr().String(), "database", database, "version", s.Options.Version, "recovered", s.Engine.Stats().Recovered}
	attributes = append(attributes, "keep_executions", s.Options.KeepExecutions.String(), "keep_firings", s.Options.KeepFirings.String(), "keep_audit", s.Options.KeepAudit.String(), "max_disk", s.Options.MaxDisk)
	if s.Watchers != nil {
		attributes = append(attributes, "metrics", s.Watchers.Addr().String())
	}
	if at := s.SMTPAddress(); at != "" {
		attributes = append(attributes, "mail", at)
	}
	if s.Certificates != nil {
		attributes = append(attributes, "tls", s.Certificates.About())
	}
	s.Options.Logger.Info("serving", attributes...)
	if danger := s.Exposed(); danger != "" {
		s.Options.Logger.Warn(danger, "hint", exposedHint)
	}
	if danger := s.guessable(); danger != "" {
		s.Options.Logger.Warn(danger, "hint", guessableHint)
	}
}

// logStopping tells what is under way when the server begins to stop, and gives
// the numbers of then.
func (s *Server) logStopping() engine.Stats {
	stats := s.Engine.Stats()
	s.Options.Logger.Info("stopping", "working", stats.Working, "queued", stats.Queued, "connections", s.doors.Open())
	return stats
}

// logStopped tells what became of that. What did not end goes on at the next
// start.
func (s *Server) logStopped(before engine.Stats) {
	after := s.Engine.Stats()
	ended := after.Completed + after.Failed - before.Completed - before.Failed
	s.Options.Logger.Info("stopped", "ended", ended, "left", max(0, int64(before.Working+before.Queued)-ended), "connections", s.doors.Open())
}

package main

import (
	"blueprintd/engine"
	"blueprintd/foundation/fileio"
)

// logServing tells where the server is and on what it stands.
func (s *server) logServing() {
	database := "memory"
	if !s.options.ephemeral {
		database = fileio.Absolute(s.options.db)
	}
	attributes := []any{"address", s.listener.Addr().String(), "database", database, "version", s.options.version, "recovered", s.engine.Stats().Recovered}
	attributes = append(attributes, "keep_executions", s.options.keepExecutions.String(), "keep_firings", s.options.keepFirings.String(), "keep_audit", s.options.keepAudit.String(), "max_disk", s.options.maxDisk)
	if s.watchers != nil {
		attributes = append(attributes, "metrics", s.watchers.Addr().String())
	}
	if at := s.smtpAddress(); at != "" {
		attributes = append(attributes, "mail", at)
	}
	if s.certificates != nil {
		attributes = append(attributes, "tls", s.certificates.about())
	}
	s.options.logger.Info("serving", attributes...)
	if danger := s.exposed(); danger != "" {
		s.options.logger.Warn(danger, "hint", exposedHint)
	}
	if danger := s.guessable(); danger != "" {
		s.options.logger.Warn(danger, "hint", guessableHint)
	}
}

// logStopping tells what is under way when the server begins to stop, and gives
// the numbers of then.
func (s *server) logStopping() engine.Stats {
	stats := s.engine.Stats()
	s.options.logger.Info("stopping", "working", stats.Working, "queued", stats.Queued, "connections", s.doors.Open())
	return stats
}

// logStopped tells what became of that. What did not end goes on at the next
// start.
func (s *server) logStopped(before engine.Stats) {
	after := s.engine.Stats()
	ended := after.Completed + after.Failed - before.Completed - before.Failed
	s.options.logger.Info("stopped", "ended", ended, "left", max(0, int64(before.Working+before.Queued)-ended), "connections", s.doors.Open())
}

package server

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"blueprintd/engine"
	"blueprintd/foundation/metrics"
)

func (s *Server) logServing() {
	attributes := []any{"address", s.Listener.Addr().String(), "database", s.Store.Name(), "version", s.Options.Version, "recovered", s.Engine.Stats().Recovered}
	attributes = append(attributes, "keep_executions", s.Options.KeepExecutions.String(), "keep_firings", s.Options.KeepFirings.String(), "keep_audit", s.Options.KeepAudit.String(), "max_disk", s.Options.MaxDisk)
	if s.MetricsListener != nil {
		attributes = append(attributes, "metrics", s.MetricsListener.Addr().String())
	}
	if at := s.SMTPAddress(); at != "" {
		attributes = append(attributes, "mail", at)
	}
	if s.Certificates != nil {
		attributes = append(attributes, "tls", s.Certificates.About())
	}
	s.Options.Logger.Info("serving", attributes...)
	if danger := s.exposed(); danger != "" {
		s.Options.Logger.Warn("server is exposed", "danger", danger, "hint", exposedHint)
	}
	if limit := s.underPath(); limit != "" {
		s.Options.Logger.Warn("public URL has a path", "limit", limit, "hint", underPathHint)
	}
	if danger := s.predictableKeys(); danger != "" {
		s.Options.Logger.Warn("server is exposed", "danger", danger, "hint", predictableKeysHint)
	}
}

// logStopping logs the work in progress and returns its statistics for logStopped.
func (s *Server) logStopping() engine.Stats {
	stats := s.Engine.Stats()
	s.Options.Logger.Info("stopping", "working", stats.Working, "queued", stats.Queued, "connections", s.main.Open())
	return stats
}

// logStopped logs how many of these runs have ended; the rest continue at the next start.
func (s *Server) logStopped(before engine.Stats) {
	after := s.Engine.Stats()
	ended := after.Completed + after.Failed - before.Completed - before.Failed
	s.Options.Logger.Info("stopped", "ended", ended, "left", max(0, int64(before.Working+before.Queued)-ended), "connections", s.main.Open())
}

// At most httpLines messages of the HTTP server are logged per httpSpan, so that clients
// cannot fill the log.
const (
	httpLines = 20
	httpSpan  = time.Minute
)

const handshakeFailed = "http: TLS handshake error"

// httpLog is an io.Writer that logs the messages of the HTTP server, such as panics and
// failed handshakes. It is safe for concurrent use.
type httpLog struct {
	logger *slog.Logger

	mu      sync.Mutex
	span    metrics.Stopwatch
	lines   int // in this span
	omitted int
}

func newHTTPLog(logger *slog.Logger) *httpLog { return &httpLog{logger: logger, span: metrics.Begin()} }

// Write logs a message. Lines after the first are the stack of a goroutine.
func (l *httpLog) Write(data []byte) (int, error) {
	message, stack, _ := strings.Cut(strings.TrimSpace(string(data)), "\n")
	if strings.HasPrefix(message, handshakeFailed) && strings.HasSuffix(message, ": EOF") {
		return len(data), nil // a port scan, or a client without TLS that was refused
	}
	l.mu.Lock()
	omitted := 0
	if l.span.Elapsed() >= httpSpan {
		omitted = l.omitted
		l.span, l.lines, l.omitted = metrics.Begin(), 0, 0
	}
	l.lines++
	silent := l.lines > httpLines
	if silent {
		l.omitted++
	}
	l.mu.Unlock()
	if silent {
		return len(data), nil
	}
	attributes := []any{"error", strings.TrimPrefix(message, "http: ")}
	level := slog.LevelWarn
	if stack != "" {
		level = slog.LevelError
		attributes = append(attributes, "stack", stack)
	}
	if omitted > 0 {
		attributes = append(attributes, "omitted", omitted)
	}
	l.logger.Log(context.Background(), level, "HTTP server error", attributes...)
	return len(data), nil
}

package engine

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"blueprintd/blueprint"
)

// telemetry sums up what the nodes did.
func (s *stored) telemetry(x *blueprint.Execution) blueprint.Telemetry {
	t := blueprint.NewTelemetry()
	sources := map[string]*blueprint.DataSource{}
	var hosts []string
	var problems []string
	for i := range s.Steps {
		at := &s.Steps[i]
		t.TotalTokensUsed += at.Tokens
		for _, call := range at.Calls {
			source := sources[call.Host]
			if source == nil {
				source = &blueprint.DataSource{Host: call.Host, Statuses: []int{}}
				sources[call.Host] = source
				hosts = append(hosts, call.Host)
			}
			source.Calls++
			if call.Status != 0 && !slices.Contains(source.Statuses, call.Status) {
				source.Statuses = append(source.Statuses, call.Status)
			}
		}
		if at.Status == blueprint.StepFailed {
			t.ErrorCount++
			message := "failed"
			if at.Error != nil {
				message = at.Error.Message
			}
			problems = append(problems, fmt.Sprintf("%s: %s", at.Node, message))
		}
	}
	for _, host := range hosts {
		slices.Sort(sources[host].Statuses)
		t.DataSourcesSummary = append(t.DataSourcesSummary, *sources[host])
	}
	t.ReachedOutForData, t.ExternalDataSourcesCount = len(hosts) > 0, len(hosts)
	s.services(&t)
	t.HasErrors, t.CriticalErrors = t.ErrorCount > 0 || x.Status == blueprint.StatusFailed, x.Status == blueprint.StatusFailed
	if x.Failure != nil && x.Failure.Code == "cancelled" && x.Failure.NodeID == "" {
		problems = []string{x.Failure.Message}
	}
	if len(problems) > 0 {
		summary := strings.Join(problems[:min(3, len(problems))], "; ")
		if more := len(problems) - 3; more > 0 {
			summary += fmt.Sprintf(" (and %d more)", more)
		}
		t.ErrorSummary = summary
	} else if x.Failure != nil {
		t.ErrorSummary = x.Failure.Message
	}
	return t
}

// services sums up which connections the nodes used.
func (s *stored) services(t *blueprint.Telemetry) {
	tokens := map[string]int64{} // by connection to a provider of language models
	addresses := map[string]bool{}
	for i := range s.Steps {
		at := &s.Steps[i]
		for _, u := range at.Uses {
			t.RequiredLogin = t.RequiredLogin || u.SignIn
			if u.Auth != "" && !slices.Contains(t.AuthenticationMethodsUsed, u.Auth) {
				t.AuthenticationMethodsUsed = append(t.AuthenticationMethodsUsed, u.Auth)
			}
			if u.Type == blueprint.ConnectionAIProvider {
				tokens[u.Connection] += at.Tokens
			}
		}
		for _, server := range at.Servers {
			addresses[server.At] = true
			if !slices.Contains(t.MCPServerNames, server.Name) {
				t.MCPServerNames = append(t.MCPServerNames, server.Name)
			}
		}
		t.RequiredLogin = t.RequiredLogin || at.SignIn
		t.OAuthFlowsTriggered = t.OAuthFlowsTriggered || at.SignIn
	}
	slices.Sort(t.AuthenticationMethodsUsed)
	t.MCPServerCount, t.UsedMCPServers = len(addresses), len(addresses) > 0
	t.AIProvidersUsedCount = len(tokens)
	for _, connection := range slices.Sorted(maps.Keys(tokens)) {
		if primary := t.PrimaryAIProviderConnectionID; primary == "" || tokens[connection] > tokens[primary] {
			t.PrimaryAIProviderConnectionID = connection
		}
	}
}

// lifecycle gives the run's log: what nodes wrote, and between it the lines
// that follow from the steps and are not stored.
func (s *stored) lifecycle(x *blueprint.Execution, left int) []blueprint.LogEntry {
	logs := make([]blueprint.LogEntry, 0, 3+len(s.Logs)+2*len(x.Steps))
	add := func(at blueprint.Time, level string, node *string, message string) {
		logs = append(logs, blueprint.LogEntry{Timestamp: at, Level: level, NodeID: node, Message: message})
	}
	add(x.StartTime, "info", nil, "the run started")
	logs = append(logs, s.Logs...)
	for i := range x.Steps {
		at := &x.Steps[i]
		switch {
		case at.EndTime != 0 && at.EndTime < x.StartTime: // the run that this one retries told of it
		case at.Status == blueprint.StepCompleted && at.DurationMs != nil:
			add(at.EndTime, "info", &at.NodeID, fmt.Sprintf("completed in %d ms", *at.DurationMs))
		case at.Status == blueprint.StepFailed && at.Error != nil:
			add(at.EndTime, "error", &at.NodeID, "failed: "+at.Error.Message)
		}
		if a := s.Awaiting[at.NodeID]; a != nil {
			add(a.RequestedAt, "info", &at.NodeID, fmt.Sprintf("waits for input (%s)", a.Kind))
		}
	}
	switch x.Status {
	case blueprint.StatusCompleted:
		add(x.EndTime, "info", nil, "the run completed")
	case blueprint.StatusFailed:
		add(x.EndTime, "error", nil, "the run failed: "+x.Failure.Message)
	}
	if left > 0 {
		add(x.UpdatedAt, "warn", nil, fmt.Sprintf("the record is too large to show all of it: inputs or outputs of %d nodes are left out", left))
	}
	slices.SortStableFunc(logs, func(a, b blueprint.LogEntry) int { return int(a.Timestamp - b.Timestamp) })
	return logs
}

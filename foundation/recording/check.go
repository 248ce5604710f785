package recording

import (
	"fmt"
	"regexp"
	"slices"

	"blueprintd/blueprint"
)

// checker collects the issues of a file.
type checker struct{ issues []blueprint.Issue }

func (c *checker) add(message string, path ...any) {
	c.issues = append(c.issues, blueprint.Issue{Path: path, Message: message, Severity: blueprint.SeverityError})
}

var (
	executionID = regexp.MustCompile(`^exec_[0-9]{1,20}_[0-9a-z]{1,40}$`)
	version     = regexp.MustCompile(`^[0-9]{1,9}\.[0-9]{1,9}\.[0-9]{1,9}$`)
)

func (f *File) issues() []blueprint.Issue {
	c := &checker{}
	if f.Format != Format {
		c.add("must be "+Format, "format")
		return c.issues // of another format nothing else can be checked
	}
	c.blueprint(&f.Blueprint)
	c.run(&f.Run)
	if f.Cassette != nil {
		c.cassette(f.Cassette, "cassette")
	}
	return c.issues
}

func (c *checker) blueprint(b *Blueprint) {
	if !blueprint.IsUUID(b.ID) {
		c.add("must be a UUID", "blueprint", "id")
	}
	if !version.MatchString(b.Version) {
		c.add("must be a version such as 1.0.0", "blueprint", "version")
	}
	if b.Title == "" || len(b.Title) > 2000 {
		c.add("required, with at most 500 characters", "blueprint", "title")
	}
	_, issues := blueprint.ParseMap(b.Map)
	for _, issue := range issues {
		c.add(issue.Message, append([]any{"blueprint", "blueprint_map"}, issue.Path...)...)
	}
	_, issues = blueprint.ParseVariables(b.Variables)
	for _, issue := range issues {
		c.add(issue.Message, append([]any{"blueprint", "environment_variables"}, issue.Path...)...)
	}
}

var (
	statuses     = []blueprint.Status{blueprint.StatusRunning, blueprint.StatusPaused, blueprint.StatusCompleted, blueprint.StatusFailed}
	stepStatuses = []blueprint.StepStatus{blueprint.StepPending, blueprint.StepRunning, blueprint.StepCompleted, blueprint.StepFailed, blueprint.StepSkipped, blueprint.StepPaused}
)

func (c *checker) run(r *Run) {
	if !executionID.MatchString(r.ID) {
		c.add("must be the id of a run", "run", "id")
	}
	if !slices.Contains(statuses, r.Status) {
		c.add("must be running, paused, completed or failed", "run", "status")
	}
	if r.CreatedAt <= 0 {
		c.add("required", "run", "createdAt")
	}
	if r.Status.Terminal() != (r.EndTime != 0) {
		c.add("required for a run that has ended, not allowed for another", "run", "endTime")
	}
	if len(r.Steps) > MaxSteps {
		c.add(fmt.Sprintf("must have at most %d elements", MaxSteps), "run", "steps")
		return
	}
	for i := range r.Steps {
		if r.Steps[i].NodeID == "" {
			c.add("required", "run", "steps", i, "nodeId")
		}
		if !slices.Contains(stepStatuses, r.Steps[i].Status) {
			c.add("must be pending, running, completed, failed, skipped or paused", "run", "steps", i, "status")
		}
		if len(c.issues) > 100 {
			return
		}
	}
	for i, input := range r.AwaitingInputs {
		if input == nil {
			c.add("must be an object", "run", "awaitingInputs", i)
		}
	}
	if r.Steps == nil {
		r.Steps = []blueprint.Step{}
	}
	if r.Logs == nil {
		r.Logs = []blueprint.LogEntry{}
	}
}

func (c *checker) cassette(tape *Cassette, under ...any) {
	at := func(path ...any) []any { return append(slices.Clone(under), path...) }
	if tape.Format != CassetteFormat {
		c.add("must be "+CassetteFormat, at("format")...)
		return
	}
	if len(tape.Exchanges) > MaxExchanges {
		c.add(fmt.Sprintf("must have at most %d elements", MaxExchanges), at("exchanges")...)
		return
	}
	for i := range tape.Exchanges {
		x := &tape.Exchanges[i]
		if x.Request.Method == "" {
			c.add("required", at("exchanges", i, "request", "method")...)
		}
		if x.Request.URL == "" {
			c.add("required", at("exchanges", i, "request", "url")...)
		}
		if x.Response != nil && (x.Response.Status < 100 || x.Response.Status > 999) {
			c.add("must be from 100 to 999", at("exchanges", i, "response", "status")...)
		}
		if len(c.issues) > 100 {
			return
		}
	}
}

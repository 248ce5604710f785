package main

import (
	"net/http"
	"sync"
	"time"

	"blueprintd/tests/process"
)

// origin identifies the actor and the channel of a change.
type origin struct{ actor, via string }

// The actors of changes: the server's owner with the API key, the dashboard user,
// and the operator on the command line.
var (
	byKey      = origin{"admin", "api"}
	bySession  = origin{"browser", "dashboard"}
	byOperator = origin{"", "cli"}
)

// change is a requested change that was not refused.
type change struct {
	origin
	action       string
	target       string // "" = unknown
	run          string // the run that it started, if its line names it
	sent         time.Time
	at           time.Time // when the response came
	acknowledged bool      // the response reported success
}

// auditLine describes the audit line of an action: the kind of its target, and the key of the
// target's id in the input or, if "", in the response; the server has no id. late means
// that the line is written after the change, alone that the call writes nothing else.
type auditLine struct {
	kind, input, answer string
	late, run, alone    bool
}

// ofServer is the kind of the server, which has no id.
const ofServer = "server"

// auditLines are all actions of the load.
var auditLines = map[string]auditLine{
	"blueprint.create":                      {kind: "blueprint", answer: "id"},
	"blueprint.update":                      {kind: "blueprint", input: "id"},
	"blueprint.delete":                      {kind: "blueprint", input: "id"},
	"blueprint.execute":                     {kind: "execution", answer: "executionId", late: true},
	"execution.executeBlueprintWithLogging": {kind: "execution", answer: "executionId", late: true},
	"execution.resume":                      {kind: "execution", input: "executionId", late: true},
	"execution.cancel":                      {kind: "execution", input: "executionId", late: true},
	"execution.retry":                       {kind: "execution", answer: "executionId", late: true},
	"blueprintTriggers.create":              {kind: "trigger", answer: "id"},
	"blueprintTriggers.update":              {kind: "trigger", input: "triggerId"},
	"blueprintTriggers.delete":              {kind: "trigger", input: "triggerId"},
	"blueprintTriggers.rotateSecret":        {kind: "trigger", input: "triggerId"},
	"blueprintTriggers.fire":                {kind: "trigger", input: "triggerId", late: true, run: true},
	"blueprintTriggers.redeliver":           {kind: "firing", input: "firingId", late: true, run: true},
	"connection.create":                     {kind: "connection", answer: "id"},
	"connection.update":                     {kind: "connection", input: "id"},
	"connection.delete":                     {kind: "connection", input: "id"},
	"connection.test":                       {kind: "connection", input: "id", late: true, alone: true},
	"clock.advance":                         {kind: ofServer, late: true, alone: true},
	"apiKey.create":                         {kind: "key", answer: "id"},
	"apiKey.revoke":                         {kind: "key", input: "id"},
	"session.create":                        {kind: "session"},
	"session.setup":                         {kind: "session"},
	"session.delete":                        {kind: "session", input: "id"},
	"session.revoke":                        {kind: "session", input: "id"},
	"session.changePassword":                {kind: "user", input: "userId"},
	"user.add":                              {kind: "user", input: "userId"},
	"user.link":                             {kind: "user", input: "userId"},
}

// changeLog are all changes.
type changeLog struct {
	mu             sync.Mutex
	all            []*change
	unknown        []string // unknown actions
	refusedSignIns int      // number of refused sign-ins
}

// record records a change from its response; it returns nil if nothing was changed.
func (m *changeLog) record(who origin, sent time.Time, action string, input object, a answer) *change {
	m.mu.Lock()
	defer m.mu.Unlock()
	t, known := auditLines[action]
	if !known {
		m.unknown = append(m.unknown, action)
		return nil
	}
	if a.Status == http.StatusUnauthorized && action == "session.create" {
		m.refusedSignIns++
	}
	if a.Err == process.ErrDown || a.Err == nil && a.Status >= 300 && a.Status < 500 {
		return nil
	}
	d := &change{origin: who, action: action, sent: sent, at: now(), acknowledged: a.OK()}
	if t.kind == ofServer {
		d.target = ofServer
	} else if t.input != "" {
		d.target, _ = input[t.input].(string)
	} else if d.acknowledged {
		d.target = a.Text(t.answer)
	}
	if t.run && d.acknowledged {
		d.run = a.Text("executionId")
	}
	m.all = append(m.all, d)
	return d
}

// setTarget sets the target of a change that became known later.
func (m *changeLog) setTarget(d *change, target string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	d.target = target
}

package script

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"blueprintd/blueprint"
)

const (
	// DefaultMemory and MaxMemory bound the values of a script, in bytes.
	DefaultMemory  = 64 << 20
	MaxMemory      = 512 << 20
	DefaultTimeout = 10 * time.Second
	MaxTimeout     = 5 * time.Minute
	// MaxOutput bounds the result of a script, in bytes of JSON.
	MaxOutput = 1 << 20
	// MaxSource bounds the source of a script, in bytes.
	MaxSource = 256 << 10
)

// Codes of failures reported by Pool.Do.
const (
	CodeTimeout        = "timeout"
	CodeMemory         = "memory_exceeded"
	CodeOutputTooLarge = "output_too_large"
	CodeScript         = "script_error" // the script threw, or its result is not JSON
	CodeSyntax         = "syntax_error"
	CodeBadScript      = "bad_config" // a limit out of range, a source too long
	// CodeUnavailable says that no script can run: the pool has stopped, or the system
	// does not let a child confine itself.
	CodeUnavailable = "sandbox_unavailable"
	// CodeFailed means that a child ended, apparently not because of the script.
	CodeFailed = "sandbox_failed"
)

// Script is JavaScript to run, and its limits.
type Script struct {
	// Owner is the author; scripts of one owner may share a process.
	Owner string
	// Tenant groups owners, "" = the owner alone. Scripts of one tenant never take more
	// than half of the slots.
	Tenant string
	// Source is the body of a function, which may be async.
	Source string
	// Values are the names that the source sees, with plain JSON values.
	Values Values
	// Timeout is how long it may run once a process has it; 0 = DefaultTimeout. Memory
	// is in bytes; 0 = DefaultMemory.
	Timeout time.Duration
	Memory  int64
	// Now is the instant at which Date begins; with Still it stays there.
	Now   time.Time
	Still bool
	// Seed makes Math.random repeatable; 0 = random.
	Seed uint64

	compile bool // run nothing
}

// Values are the values that a script sees.
type Values struct {
	Input     any            `json:"input"`
	InputData any            `json:"inputData"`
	Variables map[string]any `json:"variables"`
	Nodes     map[string]any `json:"nodes"`
	// Denied names variables that are secret to this run; using one is an error.
	Denied []string `json:"denied,omitempty"`
}

// Outcome is the result of a script. Beside a failure it has the log so far.
type Outcome struct {
	Output any // a plain JSON value
	Log    []LogLine

	mistake *Mistake // beside a failure with CodeSyntax
}

// LogLine is a line written with console.
type LogLine struct {
	Level   string // debug, info, warn or error
	Message string
}

// Mentions reports whether a source may use a name that a script sees; values that it
// cannot use need not be collected. Code with eval or escapes may use any.
func Mentions(source, name string) bool {
	for _, text := range []string{name, "eval", `\u`} {
		if strings.Contains(source, text) {
			return true
		}
	}
	return false
}

// withDefaults returns the script with its defaults, or an error about a limit.
func (s Script) withDefaults() (Script, error) {
	s.Timeout = cmp.Or(s.Timeout, DefaultTimeout)
	s.Memory = cmp.Or(s.Memory, DefaultMemory)
	switch {
	case s.Timeout < time.Millisecond || s.Timeout > MaxTimeout:
		return s, refused("the time-out must be from 1 ms to %s", MaxTimeout)
	case s.Memory < 1<<20 || s.Memory > MaxMemory:
		return s, refused("the memory must be from 1 to %d MiB", MaxMemory>>20)
	case len(s.Source) > MaxSource:
		return s, refused("the source is longer than %d KiB", MaxSource>>10)
	case strings.ContainsRune(s.Source, 0):
		return s, refused("the source holds a NUL character")
	}
	return s, nil
}

// size returns the size of the process that a script needs, in units of 64 MiB.
func (s Script) size() int64 {
	size := int64(1)
	for size*DefaultMemory < s.Memory {
		size *= 2
	}
	return size
}

func refused(format string, args ...any) error {
	return &blueprint.Failure{Code: CodeBadScript, Message: fmt.Sprintf(format, args...), Permanent: true}
}

// Mistake is a syntax error.
type Mistake struct {
	Message string
	// Line and Column are from 1, in characters; 0 = unknown, as for an open bracket.
	Line, Column int

	end bool // at the end of the source
}

// Check compiles a source in a child, within the limits of every script, and runs
// nothing of it. It returns nil when the source compiles, else the errors of Do.
func (p *Pool) Check(ctx context.Context, s Script) (*Mistake, error) {
	if at := strings.IndexByte(s.Source, 0); at >= 0 && len(s.Source) <= MaxSource {
		line := s.Source[strings.LastIndexByte(s.Source[:at], '\n')+1 : at]
		return &Mistake{Message: "the source holds a NUL character", Line: 1 + strings.Count(s.Source[:at], "\n"), Column: 1 + utf8.RuneCountInString(line)}, nil
	}
	s.compile, s.Values = true, Values{}
	outcome, err := p.Do(ctx, s)
	if outcome.mistake != nil {
		return outcome.mistake, nil
	}
	return nil, err
}

// mistake locates an error of the interpreter in the source.
func (s *Script) mistake(e *thrown) *Mistake {
	m := &Mistake{Message: truncate(e.Message)}
	switch line := e.Line - wrapperLines; {
	case line > 1+strings.Count(s.Source, "\n"):
		m.end = true
	case line >= 1 && e.Column >= 1:
		m.Line, m.Column = line, e.Column
	}
	return m
}

func (m *Mistake) failure() *blueprint.Failure {
	if m.end {
		return &blueprint.Failure{Code: CodeSyntax, Message: m.Message + " (at the end)", Permanent: true}
	}
	return &blueprint.Failure{Code: CodeSyntax, Message: m.Message + positionText(m.Line, m.Column), Permanent: true}
}

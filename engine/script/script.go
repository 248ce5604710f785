package script

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"blueprintd/blueprint"
)

const (
	// DefaultMemory and MaxMemory bound the values of a script, in bytes.
	DefaultMemory = 64 << 20
	MaxMemory     = 512 << 20
	// DefaultTimeout and MaxTimeout bound the time of a script.
	DefaultTimeout = 10 * time.Second
	MaxTimeout     = 5 * time.Minute
	// MaxOutput bounds the result of a script, as bytes of JSON.
	MaxOutput = 1 << 20
	// MaxSource bounds the text of a script, in bytes.
	MaxSource = 256 << 10
)

// The codes of the failures that Pool.Do reports.
const (
	CodeTimeout        = "timeout"
	CodeMemory         = "memory_exceeded"
	CodeOutputTooLarge = "output_too_large"
	CodeScript         = "script_error" // the script threw, or its result is no JSON
	CodeSyntax         = "syntax_error"
	CodeBadScript      = "bad_config" // a limit out of range, a source too long
	// CodeUnavailable says that no script can be run: the sandbox does not run
	// (any more), or the system does not let it close itself in.
	CodeUnavailable = "sandbox_unavailable"
	// CodeFailed says that a child ended for a reason that is not the script's,
	// as far as one can tell.
	CodeFailed = "sandbox_failed"
)

// Script is one piece of JavaScript to run, and its bounds.
type Script struct {
	// Owner is who wrote it; scripts of one owner may share a process.
	Owner string
	// Tenant is what the owner belongs to; "" = the owner alone. Scripts of one
	// tenant never take more than half of the slots.
	Tenant string
	// Source is the body of a function, which may be async.
	Source string
	// Values are the names that the source sees, with plain JSON values.
	Values Values
	// Timeout is how long it may take, from the moment it is handed to its
	// process; 0 = DefaultTimeout. Memory is in bytes; 0 = DefaultMemory.
	Timeout time.Duration
	Memory  int64
	// Now is the instant at which Date begins. With Still it stays there.
	Now   time.Time
	Still bool
	// Seed is what Math.random follows from; 0 = it is random.
	Seed uint64

	compile bool // nothing of it is to run
}

// Values are what a script sees.
type Values struct {
	Input     any            `json:"input"`
	InputData any            `json:"inputData"`
	Variables map[string]any `json:"variables"`
	Nodes     map[string]any `json:"nodes"`
	// Denied names variables that are secret to this run: using one is an error
	// that says so.
	Denied []string `json:"denied,omitempty"`
}

// Outcome is what came of a script. There is one beside a failure, too: with
// what was logged until then.
type Outcome struct {
	Output any // a plain JSON value
	Log    []LogLine

	mistake *Mistake // beside a failure with CodeSyntax
}

// LogLine is what a script wrote with console.
type LogLine struct {
	Level   string // debug, info, warn or error
	Message string
}

// Mentions reports whether a source may use one of the names that a script sees.
// What it cannot use need not be collected. It errs on the safe side: code that
// is made while the script runs, and names that are spelled with escapes, may
// use any.
func Mentions(source, name string) bool {
	for _, text := range []string{name, "eval", `\u`} {
		if strings.Contains(source, text) {
			return true
		}
	}
	return false
}

// bounded returns the script with its defaults, or says what is out of range.
func (s Script) bounded() (Script, error) {
	if s.Timeout == 0 {
		s.Timeout = DefaultTimeout
	}
	if s.Memory == 0 {
		s.Memory = DefaultMemory
	}
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

// size is the size of the process that a script needs, in units of 64 MiB.
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

// Mistake is what keeps a source from being compiled.
type Mistake struct {
	Message string
	// Line and Column are its place in the source, from 1 and in characters; 0 =
	// unknown, as for a bracket that is not closed.
	Line, Column int

	end bool // it is only found at the end of the source
}

// Check compiles a source and runs nothing of it, in a child process and within
// the bounds of every script. It returns nil when the source can be compiled. Errors
// are those of Do, but for CodeSyntax.
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

// mistake places an error of the interpreter in the source.
func (s *Script) mistake(e *thrown) *Mistake {
	m := &Mistake{Message: bounded(e.Message)}
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
	return &blueprint.Failure{Code: CodeSyntax, Message: m.Message + place(m.Line, m.Column), Permanent: true}
}

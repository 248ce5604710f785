package script

import (
	"context"
	"strings"
	"unicode/utf8"

	"blueprintd/blueprint"
)

// Mistake is what keeps a source from being compiled.
type Mistake struct {
	Message string
	// Line and Column are its place in the source, from 1 and in characters; 0 =
	// unknown, as for a bracket that is not closed.
	Line, Column int

	end bool // it is only found at the end of the source
}

// Check compiles a source and runs nothing of it, in a child process and within
// the bounds of every script. It gives nil when the source can be compiled. Errors
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

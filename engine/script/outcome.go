package script

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"blueprintd/blueprint"
)

// encode writes the values for a child of a size.
func (v Values) encode(size int64) ([]byte, error) {
	data, err := blueprint.Encode(v)
	if err != nil {
		return nil, refused("the values cannot be written as JSON")
	}
	if most := maxValues(size); len(data) > most {
		return nil, &blueprint.Failure{Code: CodeMemory, Permanent: true, Message: fmt.Sprintf(
			"what the script sees takes %d KiB as JSON, and only %d KiB fit into its memory; hand over less, or raise memoryMb", len(data)>>10, most>>10)}
	}
	return data, nil
}

// outcome reads an answer. The child is not believed: all of it is checked
// against its bounds.
func (s *Script) outcome(a *answer) (*Outcome, error) {
	out := &Outcome{}
	var told report
	if len(a.Report) > 0 {
		if json.Unmarshal(a.Report, &told) != nil {
			return out, s.failedBecause("its answer cannot be read")
		}
		out.Log = logLines(told.Log)
	}
	if place := inexact(s.Values); place != "" {
		out.Log = slices.Insert(out.Log, 0, LogLine{"warn", place + " is a number that JavaScript cannot hold exactly; send it as a string"})
	}
	switch a.Fault {
	case "":
	case faultTimeout:
		return out, s.late()
	case faultMemory:
		return out, s.memory()
	case faultSyntax:
		if a.Syntax != nil {
			out.mistake = s.mistake(a.Syntax)
			return out, out.mistake.failure()
		}
		return out, s.failedBecause("its answer cannot be read")
	default:
		return out, s.failedBecause("the interpreter broke")
	}
	switch {
	case s.compile: // it compiles, and that is all
		return out, nil
	case told.TooLarge || len(told.Output) > MaxOutput:
		return out, &blueprint.Failure{Code: CodeOutputTooLarge, Message: fmt.Sprintf("the result is larger than %d KiB as JSON", MaxOutput>>10), Permanent: true}
	case told.Thrown != nil:
		return out, s.thrown(told.Thrown, told.Result)
	case !told.Ended:
		return out, &blueprint.Failure{Code: CodeTimeout, Message: fmt.Sprintf("the script waits for a promise that never settles, which outlasts its %d ms", s.Timeout.Milliseconds())}
	}
	value, err := blueprint.Decode(told.Output)
	if err != nil {
		return out, &blueprint.Failure{Code: CodeScript, Message: "the result cannot be used: " + err.Error()}
	}
	out.Output = value
	return out, nil
}

// logLines returns the log of a script within its bounds.
func logLines(told [][2]string) []LogLine {
	var lines []LogLine
	size := 0
	for _, line := range told[:min(len(told), maxLogLines+1)] {
		if size += len(line[1]); size > 4*maxLogSize { // a UTF-16 unit is at most three bytes
			break
		}
		if !slices.Contains([]string{"debug", "info", "warn", "error"}, line[0]) {
			line[0] = "info"
		}
		lines = append(lines, LogLine{line[0], line[1]})
	}
	return lines
}

func (s *Script) late() *blueprint.Failure {
	return &blueprint.Failure{Code: CodeTimeout, Message: fmt.Sprintf("the script took longer than %d ms", s.Timeout.Milliseconds())}
}

func (s *Script) memory() *blueprint.Failure {
	return &blueprint.Failure{Code: CodeMemory, Message: fmt.Sprintf("the script used more than its %d MiB of memory", s.Memory>>20)}
}

func (s *Script) failedBecause(what string) *blueprint.Failure {
	return &blueprint.Failure{Code: CodeFailed, Message: "the sandbox of the script broke: " + what}
}

// thrown is the failure of a script that ended with an error, which is of the
// result when the script itself ended well.
func (s *Script) thrown(e *thrown, result bool) *blueprint.Failure {
	message := e.Name + ": " + e.Message
	switch e.Name {
	case "null", "thrown":
		message = "the script threw " + e.Message
	case "":
		message = e.Message
	}
	if result {
		message = "the result cannot be written as JSON: " + message
	}
	line, column := s.position(e.Stack)
	return &blueprint.Failure{Code: CodeScript, Message: bounded(message) + place(line, column)}
}

// position returns the line and column of the innermost frame of a stack that
// lies in the source, or zeros.
func (s *Script) position(stack string) (line, column int) {
	for frame := range strings.Lines(stack) {
		if strings.Contains(frame, " (sandbox) ") {
			break
		}
		_, where, ok := strings.Cut(strings.TrimSpace(frame), "<eval>:")
		if !ok {
			continue
		}
		first, second, _ := strings.Cut(strings.TrimSuffix(where, ")"), ":")
		line, errLine := strconv.Atoi(first)
		column, errColumn := strconv.Atoi(second)
		if line -= wrapperLines; errLine == nil && errColumn == nil && line >= 1 && line <= 1+strings.Count(s.Source, "\n") {
			return line, column
		}
	}
	return 0, 0
}

func place(line, column int) string {
	if line < 1 || column < 1 {
		return ""
	}
	return fmt.Sprintf(" (line %d, column %d)", line, column)
}

// bounded cuts a text that a script made.
func bounded(text string) string {
	const most = 4 << 10
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + " ..."
}

// broken is the failure of a script whose process is gone, after an error of
// the exchange with it.
func (s *Script) broken(child *process, err error) *blueprint.Failure {
	if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, syscall.EPIPE) {
		return s.failedBecause("its process does not answer as it should")
	}
	complaint := child.stderr.text
	for _, sign := range []string{"out of memory", "cannot allocate memory", "failed to allocate", "stack overflow"} {
		if bytes.Contains(complaint, []byte(sign)) {
			return s.memory()
		}
	}
	switch state := child.cmd.ProcessState; {
	case endedBy(state, syscall.SIGKILL): // not by us: for want of memory on the machine, or after all its processor time
		return s.memory()
	case endedBy(state, syscall.SIGABRT): // by itself, which it does when memory fails it at a bad moment
		failure := s.memory()
		failure.Message += ", or found a fault of the interpreter"
		return failure
	}
	return s.failedBecause("its process ended")
}

// inexact returns the place of a number among the values that has no exact
// counterpart in JavaScript, "" when there is none. Only whole numbers count:
// nobody expects a fraction to be exact.
func inexact(v Values) string {
	for _, named := range []struct {
		name  string
		value any
	}{{"input", v.Input}, {"inputData", v.InputData}, {"variables", v.Variables}, {"nodes", v.Nodes}} {
		if path, found := inexactIn(named.value); found {
			slices.Reverse(path)
			return blueprint.PathText(append([]any{named.name}, path...))
		}
	}
	return ""
}

// inexactIn returns the path to such a number, the last step first.
func inexactIn(value any) (path []any, found bool) {
	switch v := value.(type) {
	case json.Number:
		return nil, loses(v.String())
	case []any:
		for i, member := range v {
			if path, found := inexactIn(member); found {
				return append(path, i), true
			}
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if path, found := inexactIn(v[name]); found {
				return append(path, name), true
			}
		}
	}
	return nil, false
}

// loses reports whether a whole number is another one once it is a double.
func loses(number string) bool {
	const exact = 15 // digits that always fit
	if len(strings.TrimPrefix(number, "-")) <= exact || strings.ContainsAny(number, ".eE") {
		return false
	}
	f, err := strconv.ParseFloat(number, 64)
	return err != nil || strconv.FormatFloat(f, 'f', 0, 64) != number
}

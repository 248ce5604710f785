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

func (v Values) encode(size int64) ([]byte, error) {
	data, err := blueprint.Encode(v)
	if err != nil {
		return nil, refused("the values cannot be written as JSON")
	}
	if most := maxValues(size); len(data) > most {
		return nil, &blueprint.Failure{Code: CodeMemory, Permanent: true, Message: fmt.Sprintf(
			"the values for the script take %d KiB as JSON, and only %d KiB fit into its memory; pass less data or raise memoryMb", len(data)>>10, most>>10)}
	}
	return data, nil
}

// outcome reads an answer. The child is not trusted: everything is checked against its
// limits.
func (s *Script) outcome(a *answer) (*Outcome, error) {
	out := &Outcome{}
	var told report
	if len(a.Report) > 0 {
		if json.Unmarshal(a.Report, &told) != nil {
			return out, s.sandboxFailure("its answer cannot be read")
		}
		out.Log = logLines(told.Log)
	}
	if place := inexact(s.Values); place != "" {
		out.Log = slices.Insert(out.Log, 0, LogLine{"warn", place + " is a number that JavaScript cannot hold exactly; send it as a string"})
	}
	switch a.Fault {
	case "":
	case faultTimeout:
		return out, s.timeoutFailure()
	case faultMemory:
		return out, s.memoryFailure()
	case faultSyntax:
		if a.Syntax != nil {
			out.mistake = s.mistake(a.Syntax)
			return out, out.mistake.failure()
		}
		return out, s.sandboxFailure("its answer cannot be read")
	default:
		return out, s.sandboxFailure("the interpreter broke")
	}
	switch {
	case s.compile: // it compiles
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

// logLines returns the log of a script within its limits.
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

func (s *Script) timeoutFailure() *blueprint.Failure {
	return &blueprint.Failure{Code: CodeTimeout, Message: fmt.Sprintf("the script took longer than %d ms", s.Timeout.Milliseconds())}
}

func (s *Script) memoryFailure() *blueprint.Failure {
	return &blueprint.Failure{Code: CodeMemory, Message: fmt.Sprintf("the script used more than its %d MiB of memory", s.Memory>>20)}
}

func (s *Script) sandboxFailure(what string) *blueprint.Failure {
	return &blueprint.Failure{Code: CodeFailed, Message: "the sandbox of the script broke: " + what}
}

// thrown returns the failure of a script that ended with an error; with result set the
// script ended well and its result is not JSON.
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
	return &blueprint.Failure{Code: CodeScript, Message: truncate(message) + positionText(line, column)}
}

// position returns the line and column of the innermost stack frame in the source, or
// zeros.
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

func positionText(line, column int) string {
	if line < 1 || column < 1 {
		return ""
	}
	return fmt.Sprintf(" (line %d, column %d)", line, column)
}

func truncate(text string) string {
	const most = 4 << 10
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + " ..."
}

// processFailure returns the failure of a script whose process is gone, after an error
// of the exchange with it.
func (s *Script) processFailure(child *process, err error) *blueprint.Failure {
	if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, syscall.EPIPE) {
		return s.sandboxFailure("its process does not answer as it should")
	}
	complaint := child.stderr.text
	for _, sign := range []string{"out of memory", "cannot allocate memory", "failed to allocate", "stack overflow"} {
		if bytes.Contains(complaint, []byte(sign)) {
			return s.memoryFailure()
		}
	}
	switch state := child.cmd.ProcessState; {
	case endedBy(state, syscall.SIGKILL): // not by the pool: out of memory, or of processor time
		return s.memoryFailure()
	case endedBy(state, syscall.SIGABRT): // by the runtime, which aborts when memory runs out at a bad moment
		failure := s.memoryFailure()
		failure.Message += ", or found a fault of the interpreter"
		return failure
	}
	return s.sandboxFailure("its process ended")
}

// inexact returns the place of an integer among the values that JavaScript cannot
// represent exactly, "" for none.
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

// inexactIn returns the path to such a number in reverse.
func inexactIn(value any) (path []any, found bool) {
	switch v := value.(type) {
	case json.Number:
		return nil, losesDigits(v.String())
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

// losesDigits reports whether an integer changes when it becomes a double.
func losesDigits(number string) bool {
	const exact = 15 // digits that always fit
	if len(strings.TrimPrefix(number, "-")) <= exact || strings.ContainsAny(number, ".eE") {
		return false
	}
	f, err := strconv.ParseFloat(number, 64)
	return err != nil || strconv.FormatFloat(f, 'f', 0, 64) != number
}

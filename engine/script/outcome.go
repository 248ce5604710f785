package script

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"reflect"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"modernc.org/libc"
	"modernc.org/libquickjs"
	"modernc.org/quickjs"

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

// outcome reads an answer. The child is not trusted: all limits are checked.
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
		return out, s.sandboxFailure("the interpreter failed")
	}
	switch {
	case s.compile: // it compiles
		return out, nil
	case told.TooLarge || len(told.Output) > MaxOutput:
		return out, &blueprint.Failure{Code: CodeOutputTooLarge, Message: fmt.Sprintf("the result is larger than %d KiB as JSON", MaxOutput>>10), Permanent: true}
	case told.Thrown != nil:
		return out, s.thrown(told.Thrown, told.Result)
	case !told.Ended:
		return out, &blueprint.Failure{Code: CodeTimeout, Message: fmt.Sprintf("the script waits for a promise that never settles, beyond its limit of %d ms", s.Timeout.Milliseconds())}
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
	return &blueprint.Failure{Code: CodeFailed, Message: "the sandbox of the script failed: " + what}
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

// position returns the place of the innermost stack frame in the source, or zeros.
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
		return s.sandboxFailure("its process sent an invalid answer")
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

//go:embed prelude.js
var prelude string

// compilePrelude returns the prelude as bytecode, with its limits filled in.
func compilePrelude() ([]byte, error) {
	vm, err := quickjs.NewVM()
	if err != nil {
		return nil, err
	}
	defer vm.Close()
	bounds := fmt.Sprintf("({lines: %d, log: %d, thrown: %d, output: %d})", maxLogLines, maxLogSize, maxThrown, MaxOutput)
	return vm.Compile(prelude+bounds, quickjs.EvalGlobal)
}

// evaluate runs one script in a new virtual machine. No script may follow a last answer.
func evaluate(q *request, prelude, values []byte) (a *answer) {
	ctx, cancel := context.WithTimeout(context.Background(), q.Timeout)
	defer cancel()
	vm, err := quickjs.NewVM()
	if err != nil {
		return &answer{Fault: faultMemory, Last: true}
	}
	memory := watchMemory(vm)
	defer func() {
		// The interpreter may follow an invalid pointer after a failed allocation.
		if crash := recover(); crash != nil {
			fmt.Fprintf(os.Stderr, "%v\n%s", crash, debug.Stack())
			a = &answer{Fault: faultCrash, Last: true}
		}
		if memory.refused {
			a.Fault = faultMemory
		}
	}()
	vm.SetMemoryLimit(uintptr(q.Memory))
	vm.SetMaxStackSize(maxStack)
	vm.SetCanBlock(false)
	m := &machine{VM: vm, ctx: ctx, memory: memory}
	a = m.run(q, prelude, values)
	if a.Last = memory.refused || a.Fault != "" && a.Fault != faultSyntax; !a.Last {
		vm.Close()
	}
	return a
}

type machine struct {
	*quickjs.VM
	ctx    context.Context
	memory *allocator
}

// resetTimeout limits the next call to the remaining time and reports if there is any.
func (m *machine) resetTimeout() bool {
	left := m.remaining()
	m.SetEvalTimeout(max(left, clockTolerance))
	return left > clockTolerance
}

// clockTolerance is by how much the interpreter's clock and ours may differ.
const clockTolerance = 2 * time.Millisecond

// remaining returns the time left. It does not use ctx.Err, which may be late.
func (m *machine) remaining() time.Duration {
	deadline, _ := m.ctx.Deadline()
	return time.Until(deadline)
}

func (m *machine) run(q *request, prelude, values []byte) *answer {
	if !m.resetTimeout() {
		return &answer{Fault: faultTimeout}
	}
	if _, err := m.Compile(wrapperCheck+q.Source+wrapperCheckEnd, quickjs.EvalGlobal); err != nil {
		return m.compileError(q.Source, err)
	}
	if q.Compile {
		if _, err := m.Compile(wrapperRun+q.Source+wrapperRunEnd, quickjs.EvalGlobal); err != nil {
			return m.compileError(q.Source, err)
		}
		return &answer{}
	}
	start, err := m.EvalBytecodeValue(prelude)
	if err != nil {
		return m.outOfResources()
	}
	defer start.Free()
	script, err := m.EvalValue(wrapperRun+q.Source+wrapperRunEnd, quickjs.EvalGlobal)
	if err != nil {
		return m.compileError(q.Source, err)
	}
	defer script.Free()
	m.resetTimeout()
	if _, err := start.Call(quickjs.UndefinedValue, script, unsafe.String(unsafe.SliceData(values), len(values)), float64(q.Now), q.Still, float64(q.Seed>>32), float64(uint32(q.Seed))); err != nil {
		return m.outOfResources()
	}
	for !m.memory.refused && m.resetTimeout() {
		// A job's error is that of a promise that the script does not await.
		if n, _ := m.ExecutePendingJobs(); n == 0 {
			return m.report(start, false)
		}
	}
	return m.report(start, !m.memory.refused)
}

// report returns what the prelude reports about the script. With late set its time
// ended before its last promise reaction: its result does not count, since the
// interrupt itself may have ended a chain of promises.
func (m *machine) report(start quickjs.Value, late bool) *answer {
	m.SetEvalTimeout(killDelay / 4)
	told, err := start.Call(quickjs.UndefinedValue, quickjs.Undefined{})
	text, ok := told.(string)
	if err != nil || !ok || !json.Valid([]byte(text)) {
		return m.outOfResources()
	}
	a := &answer{Report: json.RawMessage(text)}
	var r report
	if json.Unmarshal(a.Report, &r) != nil {
		return &answer{Fault: faultCrash}
	}
	if late {
		a.Fault = faultTimeout
	}
	return a
}

// outOfResources returns the answer when the prelude failed: time or memory has run out.
func (m *machine) outOfResources() *answer {
	if m.remaining() <= clockTolerance {
		return &answer{Fault: faultTimeout}
	}
	return &answer{Fault: faultMemory}
}

// compileError returns the answer for a source that does not compile.
func (m *machine) compileError(source string, err error) *answer {
	var e *quickjs.Error
	if !errors.As(err, &e) || e.Name != "SyntaxError" {
		return m.outOfResources()
	}
	what := &thrown{Name: e.Name, Message: e.Message, Line: e.LineNumber, Column: e.ColumnNumber}
	// If the other wrapper fails differently, the source closes the function
	// early, and neither message is useful.
	_, other := m.Compile(wrapperRun+source+wrapperRunEnd, quickjs.EvalGlobal)
	var second *quickjs.Error
	if other == nil || errors.As(other, &second) && second.Message != e.Message {
		what.Message = "a bracket closes the function before its end, or one is not closed"
	}
	return &answer{Fault: faultSyntax, Syntax: what}
}

// allocator wraps the allocation functions of a virtual machine to note when memory is
// refused. To the script this is an exception, which it may catch or lose in a promise:
// without the note a script that ran out of memory could seem to have succeeded.
type allocator struct {
	vm      *quickjs.VM
	refused bool
	// Referenced here because the garbage collector does not scan the machine's memory.
	malloc  mallocFunc
	realloc reallocFunc
}

type (
	mallocFunc  = func(tls *libc.TLS, state uintptr, size libquickjs.Tsize_t) uintptr
	reallocFunc = func(tls *libc.TLS, state, block uintptr, size libquickjs.Tsize_t) uintptr
)

func watchMemory(vm *quickjs.VM) *allocator {
	a := &allocator{vm: vm}
	runtime := uintptr(reflect.ValueOf(vm).Elem().FieldByName("runtime").Elem().FieldByName("cRuntime").Uint())
	functions := &(*(**libquickjs.TJSRuntime)(unsafe.Pointer(&runtime))).Fmalloc_ctx.Fmf
	malloc := *(*mallocFunc)(unsafe.Pointer(&functions.Fjs_malloc))
	a.malloc = func(tls *libc.TLS, state uintptr, size libquickjs.Tsize_t) uintptr {
		return a.note(malloc(tls, state, size), size)
	}
	realloc := *(*reallocFunc)(unsafe.Pointer(&functions.Fjs_realloc))
	a.realloc = func(tls *libc.TLS, state, block uintptr, size libquickjs.Tsize_t) uintptr {
		return a.note(realloc(tls, state, block, size), size)
	}
	functions.Fjs_malloc = *(*uintptr)(unsafe.Pointer(&a.malloc))
	functions.Fjs_realloc = *(*uintptr)(unsafe.Pointer(&a.realloc))
	return a
}

// note stops the script when an allocation failed.
func (a *allocator) note(block uintptr, size libquickjs.Tsize_t) uintptr {
	if block == 0 && size > 0 {
		a.refused = true
		a.vm.Interrupt()
	}
	return block
}

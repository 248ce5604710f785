package script

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"runtime/debug"
	"time"
	"unsafe"

	"modernc.org/libc"
	"modernc.org/libquickjs"
	"modernc.org/quickjs"
)

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

// evaluate runs one script in a fresh virtual machine. After a last answer the process
// must not be reused.
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

// resetTimeout limits the next call to the remaining time, and reports whether there is
// any.
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

// outOfResources returns the answer when the prelude failed: time or memory has run
// out.
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

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

// compilePrelude returns the prelude as the interpreter's own code, with its
// bounds filled in.
func compilePrelude() ([]byte, error) {
	vm, err := quickjs.NewVM()
	if err != nil {
		return nil, err
	}
	defer vm.Close()
	bounds := fmt.Sprintf("({lines: %d, log: %d, thrown: %d, output: %d})", maxLogLines, maxLogSize, maxThrown, MaxOutput)
	return vm.Compile(prelude+bounds, quickjs.EvalGlobal)
}

// evaluate runs one script in a virtual machine of its own. An answer that is
// the last tells that this process is spoiled.
func evaluate(q *request, prelude, values []byte) (a *answer) {
	ctx, cancel := context.WithTimeout(context.Background(), q.Timeout)
	defer cancel()
	vm, err := quickjs.NewVM()
	if err != nil {
		return &answer{Fault: faultMemory, Last: true}
	}
	memory := watchMemory(vm)
	defer func() {
		// The interpreter is not sound when memory fails it: it may follow a
		// pointer to nowhere. Whatever is left of it is left alone.
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
	a = m.script(q, prelude, values)
	if a.Last = memory.refused || a.Fault != "" && a.Fault != faultSyntax; !a.Last {
		vm.Close()
	}
	return a
}

// machine is a virtual machine with a deadline.
type machine struct {
	*quickjs.VM
	ctx    context.Context
	memory *allocator
}

// patience allows the next call what is left of the time, and says whether
// there is any.
func (m *machine) patience() bool {
	left := m.left()
	m.SetEvalTimeout(max(left, tick))
	return left > tick
}

// tick is by how much the interpreter's clock and ours may differ.
const tick = 2 * time.Millisecond

// left is what is left of the time. The context is asked for its deadline, not
// whether it has ended: that nobody may have had time to notice yet.
func (m *machine) left() time.Duration {
	deadline, _ := m.ctx.Deadline()
	return time.Until(deadline)
}

func (m *machine) script(q *request, prelude, values []byte) *answer {
	if !m.patience() {
		return &answer{Fault: faultTimeout}
	}
	if _, err := m.Compile(wrapperCheck+q.Source+wrapperCheckEnd, quickjs.EvalGlobal); err != nil {
		return m.unreadable(q.Source, err)
	}
	if q.Compile {
		if _, err := m.Compile(wrapperRun+q.Source+wrapperRunEnd, quickjs.EvalGlobal); err != nil {
			return m.unreadable(q.Source, err)
		}
		return &answer{}
	}
	start, err := m.EvalBytecodeValue(prelude)
	if err != nil {
		return m.failed()
	}
	defer start.Free()
	script, err := m.EvalValue(wrapperRun+q.Source+wrapperRunEnd, quickjs.EvalGlobal)
	if err != nil {
		return m.unreadable(q.Source, err)
	}
	defer script.Free()
	m.patience()
	if _, err := start.Call(quickjs.UndefinedValue, script, unsafe.String(unsafe.SliceData(values), len(values)), float64(q.Now), q.Still, float64(q.Seed>>32), float64(uint32(q.Seed))); err != nil {
		return m.failed()
	}
	for !m.memory.refused && m.patience() {
		// An error of a job is that of a promise which the script did not wait for.
		if n, _ := m.ExecutePendingJobs(); n == 0 {
			return m.report(start, false)
		}
	}
	return m.report(start, !m.memory.refused)
}

// report returns what the prelude says of the script. A script is late when its
// time ended before its last promise reaction: what it returned by then does not
// count, since the interrupt itself may have ended a chain of promises.
func (m *machine) report(start quickjs.Value, late bool) *answer {
	m.SetEvalTimeout(grace / 4)
	told, err := start.Call(quickjs.UndefinedValue, quickjs.Undefined{})
	text, ok := told.(string)
	if err != nil || !ok || !json.Valid([]byte(text)) {
		return m.failed()
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

// failed returns the answer when the prelude cannot do its work: there is no time
// or no memory left for it.
func (m *machine) failed() *answer {
	if m.left() <= tick {
		return &answer{Fault: faultTimeout}
	}
	return &answer{Fault: faultMemory}
}

// unreadable returns the answer for a source that does not compile.
func (m *machine) unreadable(source string, err error) *answer {
	var e *quickjs.Error
	if !errors.As(err, &e) || e.Name != "SyntaxError" {
		return m.failed()
	}
	what := &thrown{Name: e.Name, Message: e.Message, Line: e.LineNumber, Column: e.ColumnNumber}
	// Where the other wrapper fails in another way, the function was closed
	// before its end, and what either of them expects then means nothing.
	_, other := m.Compile(wrapperRun+source+wrapperRunEnd, quickjs.EvalGlobal)
	var second *quickjs.Error
	if other == nil || errors.As(other, &second) && second.Message != e.Message {
		what.Message = "a bracket closes the function before its end, or one is not closed"
	}
	return &answer{Fault: faultSyntax, Syntax: what}
}

// allocator replaces the allocation functions of a virtual machine by ones that
// note when memory is refused. To the script this is an exception like any
// other: it may catch it, and in a promise that nothing waits for it is lost, so
// that a script which ran out of memory would seem to have ended well.
type allocator struct {
	vm      *quickjs.VM
	refused bool
	// The replacements are kept here because the machine's own memory, which
	// names them too, is none that the garbage collector looks at.
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

// note stops the script when it was given no block of the size it asked for.
func (a *allocator) note(block uintptr, size libquickjs.Tsize_t) uintptr {
	if block == 0 && size > 0 {
		a.refused = true
		a.vm.Interrupt()
	}
	return block
}

package script

import (
	"reflect"
	"unsafe"

	"modernc.org/libc"
	"modernc.org/libquickjs"
	"modernc.org/quickjs"
)

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

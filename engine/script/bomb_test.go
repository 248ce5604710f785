package script

import (
	"context"
	"flag"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// thorough gives bombs as much memory and time as make check does.
var thorough = flag.Bool("thorough", false, "give bombs as much memory and time as make check does")

// What no interpreter can stop by itself, or what eats a machine: each must end
// with its code, in its time, and leave the pool as it was.
func TestBombs(t *testing.T) {
	p := running(t)
	memory, timeout := int64(DefaultMemory/4), 50*time.Millisecond
	if *thorough {
		memory, timeout = DefaultMemory, 100*time.Millisecond
	}
	for _, test := range []struct{ name, source, want string }{
		{"loop", "for (;;);", "timeout"},
		{"loop of promises", "for (;;) await null", "timeout"},
		{"loop in a floating promise", "(async () => { for (;;) await null })(); return 1", "timeout"},
		{"chain of promises", "const again = () => { for (let i = 0; i < 1e5; i++); return Promise.resolve().then(again) }; again(); return 1", "timeout"},
		{"chain of promises that is awaited", "const again = () => { for (let i = 0; i < 1e5; i++); return Promise.resolve().then(again) }; return again()", "timeout"},
		{"loop of promises that is caught", "const loop = async () => { for (;;) { for (let i = 0; i < 1e5; i++); await null } }; return loop().catch(() => 1)", "timeout"},
		{"loop of promises beside the result", "const loop = async () => { for (;;) { for (let i = 0; i < 1e5; i++); await null } }; return Promise.any([loop(), 1])", "timeout"},
		{"chain of promises that nothing waits for", "const again = () => Promise.resolve().then(again); again(); return 1", "memory_exceeded"},
		{"chain of promises that is swallowed", "const again = () => Promise.resolve().then(again).catch(() => {}); again(); return 1", "memory_exceeded"},
		{"chain of promises in catch", "const again = () => Promise.resolve().then(again).catch(again); again(); return 1", "memory_exceeded timeout"},
		{"chain of promises in finally", "const again = () => Promise.resolve().finally(again); again(); return 1", "memory_exceeded"},
		{"chain of promises that keeps nothing", "const again = () => { Promise.resolve().then(again) }; again(); return 1", "timeout"},
		{"chain of Promise.race", "const again = () => Promise.race([new Promise(() => {}), Promise.resolve().then(again)]); again(); return 1", "memory_exceeded"},
		{"chain of thenables", "const t = { then(r) { r(t) } }; Promise.resolve(t); return 1", "timeout"},
		{"array in a floating promise", "(async () => { const a = []; for (;;) { a.push(new Array(1000).fill(1)); await null } })(); return 1", "memory_exceeded"},
		{"array at the start of a floating promise", "(async () => { const a = []; for (;;) a.push(new Array(1000).fill(1)) })(); return 1", "memory_exceeded"},
		{"recursion in a floating catch", "const f = async () => { try { await null; await f() } catch { await f() } }; f(); return 1", "memory_exceeded timeout"},
		{"recursion in a floating finally", "const f = async () => { try { await null } finally { await f() } }; f(); return 1", "memory_exceeded"},
		{"floating generator", "async function* g() { for (;;) yield 1 } (async () => { for await (const x of g()); })(); return 1", "timeout"},
		{"floating generator that is kept", "async function* g() { for (;;) yield new Array(1000) } (async () => { const a = []; for await (const x of g()) a.push(x) })(); return 1", "memory_exceeded timeout"},
		{"floating generator of generators", "async function* g() { yield 1; yield* g() } (async () => { for await (const x of g()); })(); return 1", "memory_exceeded timeout"},
		{"array that is caught", "try { const a = []; for (;;) a.push(new Array(1000).fill(1)) } catch { return 1 }", "memory_exceeded"},
		{"long string that is caught", "try { 'x'.repeat(2 ** 29) } catch { return 1 }", "memory_exceeded"},
		{"promise that never settles", "return new Promise(() => {})", "timeout"},
		{"promise behind one that never settles", "await new Promise(() => {}).then(() => 1); return 2", "timeout"},
		{"thenable that never settles", "return { then() {} }", "timeout"},
		{"loop that catches", "for (;;) try { for (;;); } catch {}", "timeout"},
		{"loop in finally", "try { for (;;); } finally { for (;;); }", "timeout"},
		{"loop in an async finally", "async function f() { try { for (;;); } finally { await f() } } for (;;) try { await f() } catch {}", "timeout"},
		{"loop in a thrown value", "throw { toJSON() { for (;;); } }", "timeout"},
		{"loop in toJSON", "return { toJSON() { for (;;); } }", "timeout"},
		{"loop in a getter", "return { get a() { for (;;); } }", "timeout"},
		{"loop in a thenable", "return { then() { for (;;); } }", "timeout"},
		{"loop in a proxy", "return new Proxy({}, { ownKeys() { for (;;); } })", "timeout"},
		{"loop in an iterator", "const [a] = { [Symbol.iterator]: () => ({ next() { for (;;); } }) }", "timeout"},
		{"loop in an error's name", "throw Object.defineProperty(new Error(), 'name', { get() { for (;;); } })", "timeout"},
		{"loop in a console value", "console.log({ toJSON() { for (;;); } })", "timeout"},
		{"regular expression", "return /(a+)+$/.test('a'.repeat(40) + 'b')", "timeout"},
		{"holes to join", "return new Array(5e8).join('ab').length", "timeout memory_exceeded"},
		{"holes to fill", "return new Array(2e9).fill(0).length", "memory_exceeded timeout"},
		{"holes to sort", "const a = []; a.length = 4e9; a.sort(); return 1", "timeout memory_exceeded script_error"},
		{"holes to search", "const a = []; a.length = 4294967295; return a.indexOf(1)", "timeout"},
		{"brackets to parse", "return JSON.parse('['.repeat(1e5) + ']'.repeat(1e5)).length", "script_error timeout memory_exceeded"},
		{"brackets to compile", "return eval('['.repeat(2e5) + ']'.repeat(2e5)).length", "script_error timeout memory_exceeded"},
		{"great number", "return String(9n ** (9n ** 9n)).length", "timeout memory_exceeded script_error"},
		{"array", "const a = []; for (;;) a.push(new Array(1000).fill(1))", "memory_exceeded"},
		{"objects", "let a = {}; for (;;) a = { a }", "memory_exceeded"},
		{"strings", "const a = []; for (let i = 0; ; i++) a.push('x'.repeat(1000) + i)", "memory_exceeded"},
		{"doubled string", "let s = 'x'; for (;;) s += s", "script_error memory_exceeded"},
		{"doubled strings", "const a = []; for (;;) { let s = 'x'; while (s.length < 1e6) s += s; a.push(s) }", "memory_exceeded"},
		{"long string", "return 'x'.repeat(2 ** 29)", "memory_exceeded"},
		{"longer string", "return 'x'.repeat(2 ** 40)", "script_error"},
		{"buffer", "return new ArrayBuffer(2e9).byteLength", "memory_exceeded script_error"},
		{"buffers", "const a = []; for (;;) a.push(new Uint8Array(1e6).fill(1))", "memory_exceeded"},
		{"map", "const m = new Map(); for (let i = 0; ; i++) m.set(i, { i })", "memory_exceeded"},
		{"promises", "const a = []; for (;;) a.push(Promise.resolve().then(() => a))", "memory_exceeded"},
		{"closures that catch", "const a = []; for (;;) try { for (;;) a.push(() => a) } catch {}", "memory_exceeded timeout"},
		{"recursion", "function f() { f() } f()", "script_error"},
		{"recursion through the interpreter", "function f() { [1].map(f) } f()", "script_error"},
		{"recursion in toString", "const o = { toString() { return '' + o } }; return '' + o", "script_error"},
		{"recursion of getters", "const o = { get a() { return o.a } }; return o.a", "script_error"},
		{"recursion of proxies", "let p = {}; for (let i = 0; i < 1e5; i++) p = new Proxy(p, {}); return p.a", "script_error"},
		{"deep result", "let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return a", "script_error timeout memory_exceeded"},
		{"long result", "return 'x'.repeat(1 << 20)", "output_too_large"},
		{"result of many", "return new Array(1e6).fill(1)", "output_too_large"},
		{"result of many bytes", "return 'é'.repeat(6e5)", "output_too_large"},
		{"endless log", "for (;;) console.log('x'.repeat(1000))", "timeout"},
		{"long log", "console.log('x'.repeat(1e6)); return 1", ""},
		{"long error", "throw new Error('x'.repeat(1e6))", "script_error"},
		{"many arguments", "return Math.max(...new Array(1e6).fill(1))", "script_error memory_exceeded"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := script(test.source)
			s.Timeout = time.Minute // a busy machine takes long to fill the memory
			want := test.want
			if strings.Contains(want, CodeTimeout) || slow && want != "" {
				s.Timeout = timeout
			}
			if strings.Contains(want, "memory_exceeded") { // the others would exceed it
				s.Memory = memory
			}
			if slow && want != "" {
				want += " timeout memory_exceeded"
			}
			out, err := p.Do(context.Background(), s)
			got := told(out, err)
			code, _, failed := strings.Cut(got, ": ")
			if failed != (err != nil) || failed != (test.want != "") || failed && !strings.Contains(" "+want+" ", " "+code+" ") {
				t.Errorf("got %.200s, want %s", got, want)
			}
			if len(got) > 6<<10 {
				t.Errorf("the answer has %d bytes, want at most %v", len(got), 6<<10)
			}
			size := 0
			for _, line := range out.Log {
				size += len(line.Message)
			}
			if len(out.Log) > maxLogLines+1 || size > 4*maxLogSize {
				t.Errorf("the log has %d lines with %d bytes, want at most %v and at most %v", len(out.Log), size, maxLogLines+1, 4*maxLogSize)
			}
		})
	}
}

// While bombs go off in every other slot, the scripts of others run as ever.
func TestOthersAreUntouched(t *testing.T) {
	p := running(t)
	ctx, stop := context.WithCancel(context.Background())
	var bombs sync.WaitGroup
	sources := []string{"for (;;);", "return new Array(5e8).join('ab')", "const a = []; for (;;) a.push({})", "return /(a+)+$/.test('a'.repeat(40) + 'b')"}
	for i := range p.slots - 1 {
		bombs.Go(func() {
			for ctx.Err() == nil {
				s := script(sources[i%len(sources)])
				s.Owner, s.Timeout = "bomber", 100*time.Millisecond
				p.Do(ctx, s)
			}
		})
	}
	for range 100 {
		if got := do(p, script("return 6 * 7")); got != "42" {
			t.Fatalf("%v, want 42", got)
		}
	}
	stop()
	bombs.Wait()
}

// A tenant that uses all its slots leaves slots for others.
func TestOneTenantLeavesCapacity(t *testing.T) {
	p := running(t)
	ctx, stop := context.WithCancel(context.Background())
	var bombs sync.WaitGroup
	for i := range 4 {
		bombs.Go(func() {
			s := script("for (;;);")
			s.Owner, s.Tenant, s.Memory, s.Timeout = fmt.Sprint("bomb", i), "bomber", MaxMemory, MaxTimeout
			p.Do(ctx, s)
		})
	}
	for p.count() == 0 { // until one has been let in
		runtime.Gosched()
	}
	for i := range 20 {
		s := script("return 6 * 7")
		s.Owner, s.Tenant = fmt.Sprint("o", i), "other"
		patience, enough := context.WithTimeout(context.Background(), time.Minute)
		if got := told(p.Do(patience, s)); got != "42" {
			t.Errorf("%v, want 42", got)
		}
		enough()
	}
	stop()
	bombs.Wait()
}

package script

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"time"
)

// childArgument is the first argument of a child; the second is its size in
// units of 64 MiB.
const childArgument = "sandbox-child"

// Child makes this process a child of a sandbox when it was started as one, and
// then does not return. A program that uses a Pool calls it before anything
// else; so does the TestMain of a package whose tests do.
func Child() {
	if len(os.Args) != 3 || os.Args[1] != childArgument {
		return
	}
	size, err := strconv.ParseInt(os.Args[2], 10, 32)
	if err != nil || size < 1 || size > MaxMemory/DefaultMemory {
		os.Exit(2)
	}
	os.Exit(child(size, os.Stdin, os.Stdout))
}

const (
	// maxStack bounds the recursion of a script, in frames of the interpreter,
	// so that it is an error which a script can catch; maxGoStack is what those
	// take at most, and ends the child.
	maxStack   = 6000
	maxGoStack = 128 << 20
	// childThreads is how many threads a child has for good: one that runs, one
	// that reads, one for each of the few things that the runtime does beside.
	childThreads = 6
	// maxChildTime is how much processor time a child may have used before it
	// takes another script. Its limit is twice that and more, so that a script
	// that began just before always has its whole time.
	maxChildTime = 5 * time.Minute
)

const (
	// roomOfSize is how much a child may map for each unit of its size: the
	// values, what is being copied, and what the allocator keeps.
	roomOfSize = 3 * DefaultMemory
	// roomOfRuntime is for its stack, and for a frame that it reads.
	roomOfRuntime = maxGoStack + 64<<20
)

// roomOf returns how much more a child of a size may map than at its start.
func roomOf(size int64) int64 { return size*roomOfSize + roomOfRuntime }

// child serves scripts until its parent closes its standard input.
func child(size int64, in io.Reader, out io.Writer) int {
	runtime.GOMAXPROCS(1)
	debug.SetMaxStack(maxGoStack)
	time.Local = time.UTC
	os.Setenv("TZ", "UTC")
	hello := greeting{}
	prepared, err := compilePrelude()
	if err == nil {
		startThreads(childThreads)
		err = lockDown(size)
	}
	if err != nil {
		hello.Problem = err.Error()
	}
	reader, writer := bufio.NewReaderSize(in, 32<<10), bufio.NewWriterSize(out, 32<<10)
	if send(writer, hello) != nil || err != nil {
		return 1
	}
	_, idle := mapped()
	var buffer []byte
	for {
		head, err := readFrame(reader, nil, maxRequest)
		if err != nil {
			return 0
		}
		var q request
		if json.Unmarshal(head, &q) != nil {
			return 1
		}
		values, err := readFrame(reader, buffer, maxValues(size))
		if err != nil {
			return 1
		}
		buffer = values
		watchdog := time.AfterFunc(q.Timeout+2*grace, func() { os.Exit(3) }) // for a child whose parent is gone
		a := evaluate(&q, prepared, values)
		watchdog.Stop()
		clear(values)
		_, used := mapped()
		used -= idle
		a.ID = q.ID
		// What was mapped for one script is not all given back for the next.
		a.Last = a.Last || used > roomOf(size)/4 || processorTime() > maxChildTime
		if send(writer, a) != nil {
			return 1
		}
		if a.Last {
			return 0
		}
	}
}

// send writes a value as one frame.
func send(w *bufio.Writer, value any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	if err := writeFrame(w, data); err != nil {
		return err
	}
	return w.Flush()
}

// startThreads makes the runtime start threads that it keeps: later it may not.
func startThreads(n int) {
	ready, done := make(chan bool), make(chan bool)
	for range n {
		go func() {
			runtime.LockOSThread()
			ready <- true
			<-done
			runtime.UnlockOSThread()
			ready <- true
		}()
	}
	for range n {
		<-ready
	}
	close(done)
	for range n {
		<-ready
	}
}

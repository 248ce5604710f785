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

// childArgument is the first argument of a child; the second is its size in 64 MiB.
const childArgument = "sandbox-child"

// Child serves scripts and does not return if this process was started as a child of a
// Pool. A program with a Pool must call it first, and so must TestMain in its tests.
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
	// maxStack bounds the recursion of a script, in interpreter frames, with an error
	// that a script can catch; maxGoStack bounds their memory and ends the child.
	maxStack   = 6000
	maxGoStack = 128 << 20
	// childThreads is the number of threads that a child keeps: one each to run, to read,
	// and for the background work of the runtime.
	childThreads = 6
	// maxChildTime is how much processor time a child may have used before its next
	// script. Its limit is more than twice that, so that every script has its full
	// time.
	maxChildTime = 5 * time.Minute
)

const (
	// mappedPerSize is how much a child may map for each unit of its size: the values,
	// copies, and the allocator's overhead.
	mappedPerSize = 3 * DefaultMemory
	// mappedByRuntime is the memory for its stack, and for a frame that it reads.
	mappedByRuntime = maxGoStack + 64<<20
)

// maxMapped returns how much more a child may map than at its start.
func maxMapped(size int64) int64 { return size*mappedPerSize + mappedByRuntime }

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
		watchdog := time.AfterFunc(q.Timeout+2*killDelay, func() { os.Exit(3) }) // if the parent is gone
		a := evaluate(&q, prepared, values)
		watchdog.Stop()
		clear(values)
		_, used := mapped()
		used -= idle
		a.ID = q.ID
		// Memory mapped for one script is not all returned for the next.
		a.Last = a.Last || used > maxMapped(size)/4 || processorTime() > maxChildTime
		if send(writer, a) != nil {
			return 1
		}
		if a.Last {
			return 0
		}
	}
}

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

// startThreads makes the runtime start threads, which it keeps: later it cannot.
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

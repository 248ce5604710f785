package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"
)

// ledgerArgument, as the first argument, makes this program the ledger.
const ledgerArgument = "run-the-ledger"

// entry is one call that reached the ledger.
type entry struct {
	At     int64  `json:"at"`     // Unix nanoseconds, as it arrived
	Key    string `json:"key"`    // its Idempotency-Key
	Node   string `json:"node"`   // the id of the node that called
	Status int    `json:"status"` // what it was answered; 0 = the connection was cut
	Delay  int    `json:"delay"`  // milliseconds until the answer
}

// serveLedger runs the ledger until its standard input ends, which it does
// with the program that started it. Each call is a line of the file, synced
// before the call is answered.
func serveLedger(path string, in io.Reader, out io.Writer) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	l := &ledger{file: file, calls: map[string]int{}}
	go func() {
		io.Copy(io.Discard, in)
		listener.Close()
	}()
	fmt.Fprintf(out, "http://%s\n", listener.Addr())
	if err := http.Serve(listener, l); err != nil && !strings.Contains(err.Error(), "use of closed") {
		return err
	}
	return nil
}

type ledger struct {
	mu    sync.Mutex
	file  *os.File
	calls map[string]int
}

// ServeHTTP notes a call and answers in the mood that the call's key has.
// Query: node, the caller; mood: "flaky" fails the first calls of some keys,
// "broken" fails all, "cut" drops the connection of some unanswered, "quick"
// keeps nobody waiting.
func (l *ledger) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e := entry{At: now().UnixNano(), Key: r.Header.Get("Idempotency-Key"), Node: r.FormValue("node"), Status: http.StatusOK}
	dice := dice(e.Key)
	switch {
	case dice%10 < 6, r.FormValue("mood") == "quick":
		e.Delay = int(dice/10) % 10
	case dice%10 < 9:
		e.Delay = 50 + int(dice/10)%250
	default:
		e.Delay = 300 + int(dice/10)%600
	}
	n, err := l.note(&e, r.FormValue("mood"), dice)
	if err != nil {
		fmt.Fprintln(os.Stderr, "ledger:", err)
		os.Exit(1) // a ledger that forgets is worse than none
	}
	select {
	case <-time.After(time.Duration(e.Delay) * time.Millisecond):
	case <-r.Context().Done():
		return
	}
	if e.Status == 0 {
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(e.Status)
	json.NewEncoder(w).Encode(map[string]any{"key": e.Key, "n": n})
}

func (l *ledger) note(e *entry, mood string, dice uint32) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls[e.Key]++
	n := l.calls[e.Key]
	switch {
	case mood == "broken", mood == "flaky" && n <= int(dice/7)%3:
		e.Status = http.StatusInternalServerError
	case mood == "cut" && dice/13%3 == 0:
		e.Status = 0
	}
	line, err := json.Marshal(e)
	if err == nil {
		_, err = l.file.Write(append(line, '\n'))
	}
	if err == nil {
		err = l.file.Sync()
	}
	return n, err
}

// dice is a number that a key always has.
func dice(key string) uint32 {
	hash := fnv.New32a()
	io.WriteString(hash, key)
	return hash.Sum32() >> 3
}

// readLedger gives the calls by key, each in the order of arrival.
func readLedger(path string) (map[string][]entry, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	calls := map[string][]entry{}
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var e entry
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		calls[e.Key] = append(calls[e.Key], e)
	}
	return calls, lines.Err()
}

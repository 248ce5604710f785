package main

import (
	"bufio"
	"context"
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

// entry is one effect that reached the ledger.
type entry struct {
	At        int64  `json:"at"`             // Unix nanoseconds, as it arrived
	Kind      string `json:"kind,omitempty"` // "" = a call without credentials
	Key       string `json:"key"`            // its Idempotency-Key, or the address in it
	Node      string `json:"node"`           // the node that caused it, in the form of pattern
	Status    int    `json:"status"`         // status of the response; 0 = the connection was cut
	Delay     int    `json:"delay"`          // milliseconds until the response
	MessageID string `json:"email,omitempty"`
	Wrong     string `json:"wrong,omitempty"` // what is wrong with it, in addition
}

// sites are the addresses of the ledger: all services, another host that a redirect leads
// to, and the mail server.
type sites struct{ services, otherHost, mail string }

// serveLedger runs the ledger until its standard input ends, together with the program that
// started it. Each effect is a line of the file, synced before the response.
func serveLedger(path string, in io.Reader, out io.Writer) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	var listeners [3]net.Listener
	for i := range listeners {
		if listeners[i], err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			return err
		}
	}
	l := &ledger{file: file, calls: map[string]int{}, tokens: map[string]time.Time{}}
	l.at = sites{"http://" + listeners[0].Addr().String(), "http://" + listeners[1].Addr().String(), listeners[2].Addr().String()}
	go func() {
		io.Copy(io.Discard, in)
		listeners[0].Close()
	}()
	go http.Serve(listeners[1], http.HandlerFunc(l.otherHost))
	go l.serveMail(listeners[2])
	fmt.Fprintf(out, "%s %s %s\n", l.at.services, l.at.otherHost, l.at.mail)
	if err := http.Serve(listeners[0], l.services()); err != nil && !strings.Contains(err.Error(), "use of closed") {
		return err
	}
	return nil
}

type ledger struct {
	at     sites
	mu     sync.Mutex
	file   *os.File
	calls  map[string]int
	tokens map[string]time.Time // expiry of each
}

// services returns all services at the first address of the ledger.
func (l *ledger) services() http.Handler {
	tools := l.toolServer()
	mux := http.NewServeMux()
	mux.HandleFunc("/call", l.call("", ""))
	mux.HandleFunc("/guarded/call", l.call("guarded", "guarded"))
	mux.HandleFunc("/guarded/away", l.redirect)
	mux.HandleFunc("/metered/call", l.call("metered", "identity"))
	mux.HandleFunc("/oauth/token", l.token)
	mux.HandleFunc("/ai/v1/chat/completions", l.chat)
	mux.HandleFunc("/ai/v1/models", l.probe("model", object{"data": []any{object{"id": "parrot"}}}))
	mux.HandleFunc("/slack/api/chat.postMessage", l.post)
	mux.HandleFunc("/slack/api/auth.test", l.probe("chat", object{"ok": true, "team": "torture", "user": "bot"}))
	mux.HandleFunc("/tools", l.tools(tools))
	mux.HandleFunc("/", l.root)
	return mux
}

// call returns the handler for http-request nodes, which carry the credentials of a
// connection, or none for "". The query has node, the caller, and behavior, described at
// handle.
func (l *ledger) call(kind, connection string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		shown, body, wrong := l.credentials(r, connection)
		e := entry{Kind: kind, Key: r.Header.Get("Idempotency-Key"), Node: r.URL.Query().Get("node"), Wrong: wrong}
		var request struct{ From string }
		if json.Unmarshal(body, &request); request.From != e.Key && e.Wrong == "" {
			e.Wrong = fmt.Sprintf("the call of %q arrived with the key %q", request.From, e.Key)
		}
		n, ok := l.handle(r.Context(), &e, r.URL.Query().Get("behavior"))
		if !ok {
			return
		}
		// The echo contains the credentials, which the run must redact.
		reply(w, e.Status, object{"key": e.Key, "n": n, "echo": shown})
	}
}

func reply(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(value)
}

// handle records an effect and waits for a time that depends on its key. It returns the
// number of effects of the key, and false if the caller must not respond. Behaviors: "flaky"
// fails the first calls of some keys, "broken" fails all calls, "doomed" all calls of some
// keys, "later" refuses the first call of some keys as too many requests, "cut" drops the
// connection of some without a response, and "quick" does not wait.
func (l *ledger) handle(ctx context.Context, e *entry, behavior string) (n int, answer bool) {
	dice := hashOf(e.Key)
	e.At, e.Status = now().UnixNano(), http.StatusOK
	switch {
	case dice%10 < 6, behavior == "quick":
		e.Delay = int(dice/10) % 10
	case dice%10 < 9:
		e.Delay = 50 + int(dice/10)%250
	default:
		e.Delay = 300 + int(dice/10)%600
	}
	n, err := l.record(e, behavior, dice)
	if err != nil {
		fmt.Fprintln(os.Stderr, "ledger:", err)
		os.Exit(1) // an incomplete ledger is worthless
	}
	select {
	case <-time.After(time.Duration(e.Delay) * time.Millisecond):
	case <-ctx.Done():
		return n, false
	}
	if e.Status == 0 && e.Kind != "mail" {
		panic(http.ErrAbortHandler)
	}
	return n, true
}

func (l *ledger) record(e *entry, behavior string, dice uint32) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls[e.Kind+" "+e.Key]++
	n := l.calls[e.Kind+" "+e.Key]
	switch {
	case behavior == "broken", behavior == "flaky" && n <= int(dice/7)%3, behavior == "doomed" && dice/13%8 == 0:
		e.Status = http.StatusInternalServerError
	case behavior == "later" && n == 1 && dice/17%3 == 0:
		e.Status = http.StatusTooManyRequests
	case behavior == "cut" && dice/13%3 == 0:
		e.Status = 0
	}
	return n, l.write(e)
}

// write adds a line. The caller holds l.mu.
func (l *ledger) write(e *entry) error {
	line, err := json.Marshal(e)
	if err == nil {
		_, err = l.file.Write(append(line, '\n'))
	}
	if err == nil {
		err = l.file.Sync()
	}
	return err
}

// recordUnkeyed records an event without a key, such as a request to a wrong address.
func (l *ledger) recordUnkeyed(kind, wrong string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.write(&entry{At: now().UnixNano(), Kind: kind, Status: http.StatusOK, Wrong: wrong}); err != nil {
		fmt.Fprintln(os.Stderr, "ledger:", err)
		os.Exit(1)
	}
}

// hashOf returns a number that depends only on the key.
func hashOf(key string) uint32 {
	hash := fnv.New32a()
	io.WriteString(hash, key)
	return hash.Sum32() >> 3
}

// effect identifies something that may happen once: a kind and a key.
type effect struct{ kind, key string }

// readLedger returns the effects with their entries in the order of arrival.
func readLedger(path string) (map[effect][]entry, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	calls := map[effect][]entry{}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e entry
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		calls[effect{e.Kind, e.Key}] = append(calls[effect{e.Kind, e.Key}], e)
	}
	return calls, lines.Err()
}

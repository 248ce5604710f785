package limits

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"blueprintd/blueprint"
)

// refused checks that err is the error of a body without room.
func refused(t *testing.T, err error) *blueprint.Error {
	t.Helper()
	var e *blueprint.Error
	if !errors.As(err, &e) || e.Code != blueprint.CodeUnavailable || e.RetryAfter <= 0 {
		t.Fatalf("error %v, want CodeUnavailable with a time to wait", err)
	}
	return e
}

// read sends a body through bodies and calls during with the error of reading it, before
// the request ends.
func (b *Bodies) read(text string, during func(err error)) {
	b.Handler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, err := io.ReadAll(r.Body)
		during(err)
	})).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/", strings.NewReader(text)))
}

// texts returns a body of n bytes without values.
func texts(n int) string { return strings.Repeat("x", n) }

// A body waits until the requests before it have been answered.
func TestBodiesQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bodies := NewBodies(BodyLimits{Arriving: 1 << 20, Decoded: 1 << 20, Largest: 1 << 20, MaxWait: 10 * time.Second})
		answer := make(chan struct{})
		results := make(chan error, 16)
		for range cap(results) {
			go bodies.read(texts(400<<10), func(err error) {
				results <- err
				<-answer
			})
		}
		for left := cap(results); left > 0; left-- {
			synctest.Wait()
			if at := len(results); at != 1 || bodies.Held() != 400<<10 || bodies.Waiting() != int64(left-1) {
				t.Fatalf("read %d bodies, holding %d bytes, %d waiting; want 1, one body and %d", at, bodies.Held(), bodies.Waiting(), left-1)
			}
			if err := <-results; err != nil {
				t.Fatal(err)
			}
			time.Sleep(100 * time.Millisecond)
			answer <- struct{}{}
		}
		synctest.Wait()
		if bodies.Held() != 0 || bodies.Waiting() != 0 {
			t.Errorf("holding %d bytes with %d waiting after the last answer, want 0 and 0", bodies.Held(), bodies.Waiting())
		}
	})
}

// A body is refused if there is no room within MaxWait. Small and medium bodies are read
// while a large one holds all room and another one waits for it.
func TestBodiesWaitIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bodies := NewBodies(BodyLimits{Arriving: 1 << 20, Decoded: 1 << 20, Largest: 1 << 20, MaxWait: 10 * time.Second})
		bodies.read("["+strings.Repeat("0,", 20_000)+"0]", func(err error) { // larger than all room
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			var waiting sync.WaitGroup
			waiting.Go(func() {
				bodies.read(texts(700<<10), func(err error) {
					refused(t, err)
					if waited := time.Since(began); waited != 10*time.Second {
						t.Errorf("refused after %s, want %v", waited, 10*time.Second)
					}
				})
			})
			synctest.Wait()
			for _, size := range []int{100, smallBody, smallBody + 1, 60 << 10} {
				bodies.read(texts(size), func(err error) {
					if err != nil || time.Since(began) != 0 {
						t.Errorf("a body of %d bytes beside a large one: %v after %s, want 0", size, err, time.Since(began))
					}
				})
			}
			waiting.Wait()
		})
		bodies.read(texts(3<<20), func(err error) {
			if err != nil {
				t.Errorf("a single body larger than all room: %v", err)
			}
		})
	})
}

// Concurrent bodies that together need more than all room are all read: none holds memory
// that another one needs while it waits.
func TestBodiesDoNotDeadlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bodies := NewBodies(BodyLimits{Arriving: 256 << 10, Decoded: 1 << 20, Largest: 1 << 20, MaxWait: 10 * time.Second})
		var all sync.WaitGroup
		for range 20 {
			for _, claimed := range []int64{200 << 10, -1} {
				all.Go(func() {
					text := strings.Repeat("0,", 100<<10)
					r := httptest.NewRequest(http.MethodPost, "/", iotest.HalfReader(strings.NewReader(text)))
					r.ContentLength = claimed
					bodies.Handler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
						got, err := io.ReadAll(r.Body)
						if err != nil || string(got) != text {
							t.Errorf("read %d bytes: %v, want %v", len(got), err, text)
						}
						time.Sleep(10 * time.Millisecond)
					})).ServeHTTP(httptest.NewRecorder(), r)
				})
			}
		}
		all.Wait()
	})
}

// A disconnected client and a closed body hold no room.
func TestBodiesRelease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bodies := NewBodies(BodyLimits{Arriving: 1 << 20, Decoded: 1 << 20, Largest: 1 << 20, MaxWait: time.Hour})
		bodies.Handler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if _, err := io.ReadAll(r.Body); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			gone := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(texts(900<<10))).WithContext(ctx)
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				bodies.Handler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
					if _, err := io.ReadAll(r.Body); err == nil {
						t.Error("the body was read without room, want an error")
					}
				})).ServeHTTP(httptest.NewRecorder(), gone)
			}()
			synctest.Wait()
			cancel()
			<-ended
			if r.Body.Close(); bodies.Held() != 0 {
				t.Errorf("holding %d bytes after the body was closed, want 0", bodies.Held())
			}
			bodies.read(texts(900<<10), func(err error) {
				if err != nil {
					t.Error(err)
				}
			})
		})).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/", strings.NewReader(texts(900<<10))))
	})
}

// A list of many small values counts more than its text. A request that only declares a long
// body, and a body that ends early, count nothing.
func TestBodiesEstimate(t *testing.T) {
	bodies := NewBodies(BodyLimits{Arriving: 1 << 20, Decoded: 1 << 20, Largest: 1 << 20})
	bodies.read("["+strings.Repeat("0,", 10_000)+"0]", func(err error) {
		if held := bodies.Held(); err != nil || held < 10_000*valueSize {
			t.Errorf("ten thousand zeros count as %d bytes, %v; want at least %v", held, err, 10_000*valueSize)
		}
	})
	hold, release := io.Pipe()
	var claims sync.WaitGroup
	for range 10 {
		claims.Go(func() {
			r := httptest.NewRequest(http.MethodPost, "/", hold)
			r.ContentLength = 1 << 20
			bodies.Handler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { io.ReadAll(r.Body) })).ServeHTTP(httptest.NewRecorder(), r)
		})
	}
	bodies.read(texts(1<<20), func(err error) {
		if err != nil {
			t.Errorf("beside ten declared bodies: %v", err)
		}
	})
	release.Close()
	claims.Wait()
}

func TestConnectionLimit(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	conns := NewConnections(listener, 1)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "in") })}
	served := make(chan error, 1)
	go func() { served <- server.Serve(conns) }()
	defer func() {
		server.Close()
		<-served
	}()
	dial := func() (net.Conn, *bufio.Reader) {
		conn, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		return conn, bufio.NewReader(conn)
	}
	ask := func(conn net.Conn, r *bufio.Reader) *http.Response {
		if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		response, err := http.ReadResponse(r, nil)
		if err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, response.Body)
		return response
	}
	first, firstReader := dial()
	if got := ask(first, firstReader); got.StatusCode != http.StatusOK {
		t.Fatalf("the first connection: status %d, want %v", got.StatusCode, http.StatusOK)
	}
	second, secondReader := dial()
	got := ask(second, secondReader)
	if got.StatusCode != http.StatusServiceUnavailable || got.Header.Get("Retry-After") == "" || !got.Close {
		t.Fatalf("the second connection: status %d, header %v; want %v, Retry-After not empty and Close", got.StatusCode, got.Header, http.StatusServiceUnavailable)
	}
	if conns.Open() != 1 || conns.Refused() != 1 {
		t.Errorf("open %d, refused %d, want 1 and 1", conns.Open(), conns.Refused())
	}
	if got := ask(first, firstReader); got.StatusCode != http.StatusOK {
		t.Errorf("the first connection afterwards: status %d, want %v", got.StatusCode, http.StatusOK)
	}
}

// slowWriter records the writes and deadlines of a connection.
type slowWriter struct {
	*httptest.ResponseRecorder
	pieces    []int
	deadlines []time.Time
	fail      error
	during    func() // called by Write
}

func (w *slowWriter) Write(p []byte) (int, error) {
	w.pieces = append(w.pieces, len(p))
	if w.during != nil {
		w.during()
	}
	if w.fail != nil && len(w.pieces) == 2 {
		return 7, w.fail
	}
	return w.ResponseRecorder.Write(p)
}

func (w *slowWriter) WriteString(text string) (int, error) { return w.Write([]byte(text)) }

func (w *slowWriter) SetWriteDeadline(at time.Time) error {
	w.deadlines = append(w.deadlines, at)
	return nil
}

func TestAnswersLimit(t *testing.T) {
	answers := NewAnswers(3*piece, nil)
	serve := func(w http.ResponseWriter, size int) (written int, err error) {
		answers.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			written, err = w.Write(make([]byte, size))
		})).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
		return written, err
	}
	// The first answer makes no progress after its first piece while others are written.
	stuck := &slowWriter{ResponseRecorder: httptest.NewRecorder()}
	stuck.during = func() {
		stuck.during = nil
		if _, err := serve(httptest.NewRecorder(), piece); err != nil || answers.Held() != 2*piece {
			t.Errorf("a small answer: %v, holding %d bytes; want %v", err, answers.Held(), 2*piece)
		}
		if _, err := serve(httptest.NewRecorder(), 2*piece); err != nil || answers.Held() != 0 {
			t.Errorf("an answer for which another is aborted: %v, holding %d bytes; want 0", err, answers.Held())
		}
	}
	if written, err := serve(stuck, 2*piece); written != piece || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the answer without progress: wrote %d, %v; want %v and %v", written, err, piece, os.ErrDeadlineExceeded)
	}
	if written, err := serve(httptest.NewRecorder(), 10*piece); written != 10*piece || err != nil || answers.Held() != 0 {
		t.Errorf("a single answer larger than the limit: wrote %d, %v, holding %d bytes; want %v and 0", written, err, answers.Held(), 10*piece)
	}
}

func TestAnswersPieces(t *testing.T) {
	answer := strings.Repeat("y", 2*piece+5)
	var written int
	var failure error
	answers := NewAnswers(1<<20, nil)
	handler := answers.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		written, failure = io.WriteString(w, answer)
		if _, err := w.Write(nil); err != nil && failure == nil {
			t.Error(err)
		}
	}))
	w := &slowWriter{ResponseRecorder: httptest.NewRecorder()}
	handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	if written != len(answer) || failure != nil || w.Body.String() != answer {
		t.Errorf("wrote %d of %d bytes: %v; want all of them", written, len(answer), failure)
	}
	if want := []int{piece, piece, 5, 0}; !slices.Equal(w.pieces, want) || len(w.deadlines) != len(want) {
		t.Errorf("pieces %v with %d deadlines, want %v with one each", w.pieces, len(w.deadlines), want)
	}
	w = &slowWriter{ResponseRecorder: httptest.NewRecorder(), fail: io.ErrClosedPipe}
	handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	if written != piece+7 || !errors.Is(failure, io.ErrClosedPipe) {
		t.Errorf("a disconnected client: wrote %d, %v; want %v and %v", written, failure, piece+7, io.ErrClosedPipe)
	}
}

// With HTTP/2 an expired deadline ends the answer even between writes, so a deadline is set
// only while something is sent.
func TestAnswersHTTP2Deadlines(t *testing.T) {
	w := &slowWriter{ResponseRecorder: httptest.NewRecorder()}
	last := func() time.Time { return w.deadlines[len(w.deadlines)-1] }
	request := httptest.NewRequest(http.MethodGet, "/", nil)
	request.ProtoMajor = 2
	NewAnswers(1<<20, nil).Handler(http.HandlerFunc(func(out http.ResponseWriter, _ *http.Request) {
		w.during = func() {
			if last().IsZero() {
				t.Error("a piece is written without a deadline")
			}
		}
		io.WriteString(out, "a")
		if !last().IsZero() {
			t.Error("a deadline is set after a piece")
		}
		control := http.NewResponseController(out)
		if control.Flush(); len(w.deadlines) != 4 || w.deadlines[2].IsZero() || !last().IsZero() {
			t.Errorf("deadlines after Flush: %v", w.deadlines)
		}
		if err := control.SetWriteDeadline(time.Now()); err != nil || !last().IsZero() {
			t.Errorf("SetWriteDeadline by a handler: %v", err)
		}
	})).ServeHTTP(w, request)
	if last().IsZero() {
		t.Error("no deadline at the end")
	}
}

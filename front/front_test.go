package front

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"blueprintd/blueprint"
)

// refused is the error of a body for which there was no room.
func refused(t *testing.T, err error) *blueprint.Error {
	t.Helper()
	var e *blueprint.Error
	if !errors.As(err, &e) || e.Code != blueprint.CodeUnavailable || e.RetryAfter <= 0 {
		t.Fatalf("error %v, want CodeUnavailable with a time to wait", err)
	}
	return e
}

func TestBodiesHaveRoomTogether(t *testing.T) {
	bodies := NewBodies(100)
	// The first request holds 60 bytes while a second one tries.
	second := func(size int) (err error) {
		bodies.Handler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			_, err = io.ReadAll(r.Body)
		})).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/", strings.NewReader(strings.Repeat("x", smallBody+size))))
		return err
	}
	bodies.Handler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if _, err := io.ReadAll(r.Body); err != nil {
			t.Fatal(err)
		}
		if held := bodies.Held(); held != 60 {
			t.Errorf("%d bytes are held, want 60", held)
		}
		if err := second(40); err != nil {
			t.Errorf("a body that fits exactly: %v", err)
		}
		refused(t, second(41))
		if err := second(0); err != nil {
			t.Errorf("a small body beside a large one: %v", err)
		}
	})).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/", strings.NewReader(strings.Repeat("x", smallBody+60))))
	if held := bodies.Held(); held != 0 {
		t.Errorf("%d bytes are held when all is answered", held)
	}
	if err := second(1000); err != nil {
		t.Errorf("a body larger than all room, alone: %v", err)
	}
}

// A list of many small values takes more than its text.
func TestBodiesWeighWhatTheyBecome(t *testing.T) {
	bodies := NewBodies(1 << 20)
	bodies.Handler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if _, err := io.ReadAll(r.Body); err != nil {
			t.Fatal(err)
		}
		if held := bodies.Held(); held < 10_000*valueSize {
			t.Errorf("ten thousand zeros take %d bytes", held)
		}
	})).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/", strings.NewReader("["+strings.Repeat("0,", 10_000)+"0]")))
}

func TestOneConnectionMoreIsTurnedAway(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	doors := NewConnections(listener, 1)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "in") })}
	served := make(chan error, 1)
	go func() { served <- server.Serve(doors) }()
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
		t.Fatalf("the first connection: status %d", got.StatusCode)
	}
	second, secondReader := dial()
	got := ask(second, secondReader)
	if got.StatusCode != http.StatusServiceUnavailable || got.Header.Get("Retry-After") == "" || !got.Close {
		t.Fatalf("the second connection: status %d, header %v", got.StatusCode, got.Header)
	}
	if doors.Open() != 1 || doors.Refused() != 1 {
		t.Errorf("open %d, refused %d, want 1 and 1", doors.Open(), doors.Refused())
	}
	if got := ask(first, firstReader); got.StatusCode != http.StatusOK {
		t.Errorf("the first connection goes on: status %d", got.StatusCode)
	}
}

// slowWriter is a connection that notes how it is written to.
type slowWriter struct {
	*httptest.ResponseRecorder
	pieces    []int
	deadlines []time.Time
	fail      error
	during    func() // happens while it writes
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

func TestAnswersHaveRoomTogether(t *testing.T) {
	answers := NewAnswers(3*piece, nil)
	serve := func(w http.ResponseWriter, size int) (written int, err error) {
		answers.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			written, err = w.Write(make([]byte, size))
		})).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
		return written, err
	}
	// The first answer stands still after its first piece, while others come.
	stuck := &slowWriter{ResponseRecorder: httptest.NewRecorder()}
	stuck.during = func() {
		stuck.during = nil
		if _, err := serve(httptest.NewRecorder(), piece); err != nil || answers.Held() != 2*piece {
			t.Errorf("a small answer: %v, %d bytes are held", err, answers.Held())
		}
		if _, err := serve(httptest.NewRecorder(), 2*piece); err != nil || answers.Held() != 0 {
			t.Errorf("an answer for which another is given up: %v, %d bytes are held", err, answers.Held())
		}
	}
	if written, err := serve(stuck, 2*piece); written != piece || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the answer that stood still: wrote %d, %v", written, err)
	}
	if written, err := serve(httptest.NewRecorder(), 10*piece); written != 10*piece || err != nil || answers.Held() != 0 {
		t.Errorf("an answer larger than all room, alone: wrote %d, %v, %d bytes are held", written, err, answers.Held())
	}
}

func TestAnswersAreWrittenInPiecesThatHaveTheirTime(t *testing.T) {
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
		t.Errorf("wrote %d of %d bytes: %v", written, len(answer), failure)
	}
	if want := []int{piece, piece, 5, 0}; !slices.Equal(w.pieces, want) || len(w.deadlines) != len(want) {
		t.Errorf("pieces %v with %d deadlines, want %v with one each", w.pieces, len(w.deadlines), want)
	}
	w = &slowWriter{ResponseRecorder: httptest.NewRecorder(), fail: io.ErrClosedPipe}
	handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	if written != piece+7 || !errors.Is(failure, io.ErrClosedPipe) {
		t.Errorf("a reader that is gone: wrote %d, %v", written, failure)
	}
}

// A deadline of HTTP/2 ends the answer whenever it passes, so that there is one
// only while something is sent.
func TestAnswersOfHTTP2MayPause(t *testing.T) {
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
			t.Error("after a piece there is a deadline")
		}
		control := http.NewResponseController(out)
		if control.Flush(); len(w.deadlines) != 4 || w.deadlines[2].IsZero() || !last().IsZero() {
			t.Errorf("sending it off has the deadlines %v", w.deadlines)
		}
		if err := control.SetWriteDeadline(time.Now()); err != nil || !last().IsZero() {
			t.Errorf("a handler sets a deadline: %v", err)
		}
	})).ServeHTTP(w, request)
	if last().IsZero() {
		t.Error("the end has no deadline")
	}
}

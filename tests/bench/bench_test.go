package main

import (
	"blueprintd/tests/process"
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestMain runs the jobs of child processes like the program does.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 {
		if code, known := child(os.Args[1]); known {
			os.Exit(code)
		}
	}
	os.Exit(m.Run())
}

// quick returns the options of -quick and more, with the program that all tests share, in
// the folder of the module.
func quick(t *testing.T, args ...string) (options, *bytes.Buffer) {
	t.Helper()
	program := process.Path(t)
	t.Chdir("../..")
	o, err := parse(append([]string{"-quick", "-dir", t.TempDir(), "-binary", program}, args...))
	if err != nil {
		t.Fatal(err)
	}
	out := &bytes.Buffer{}
	o.out, o.progress = out, io.Discard
	return o, out
}

// TestBench measures everything briefly and checks that every figure exists and is
// possible, not that it is good.
func TestBench(t *testing.T) {
	folder := t.TempDir()
	page, data := filepath.Join(folder, "page.md"), filepath.Join(folder, "figures.json")
	if err := os.WriteFile(page, []byte("before\n"+tablesBegin+"\nold\n"+tablesEnd+"\nafter\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o, out := quick(t, "-write", page, "-json", data)
	if err := bench(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	written, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if want := "before\n" + tablesBegin + "\n\n" + strings.TrimSpace(out.String()) + "\n\n" + tablesEnd + "\nafter\n"; string(written) != want {
		t.Errorf("the page is\n%s\nwant\n%s", written, want)
	}
	var f figures
	written, err = os.ReadFile(data)
	if err == nil {
		err = json.Unmarshal(written, &f)
	}
	if err != nil {
		t.Fatal(err)
	}
	checkFigures(t, &f)
}

func checkFigures(t *testing.T, f *figures) {
	t.Helper()
	var names []string
	for _, row := range f.Rows {
		names = append(names, row.Name)
		if len(row.Results) != 1 || row.Connections != 4 {
			t.Errorf("row %s has %d results for %d connections, want 1 and 4", row.Name, len(row.Results), row.Connections)
			continue
		}
		r := row.Results[0]
		if r.Completed < 1 || r.Answered < r.Completed || r.Elapsed < 100*time.Millisecond {
			t.Errorf("row %s: %+v, want at least one of at least as many answered, in 100 ms or more", row.Name, r)
		}
		if r.P50 <= 0 || r.P99 < r.P50 || r.Highest < r.P99 {
			t.Errorf("row %s: %v, %v, %v, want the median, the 99th percentile and the highest in this order", row.Name, r.P50, r.P99, r.Highest)
		}
		if r.CPU < 0 || r.Peak < 1<<20 {
			t.Errorf("row %s: %v of processor time and a peak of %d bytes, want at least 0 and 1 MiB", row.Name, r.CPU, r.Peak)
		}
		// One page holds at most two runs; a file grows by several pages.
		if stores := !slices.Contains([]string{"a", "f"}, row.Name); stores && r.Answered > 100 && r.Growth/r.Answered < int64(f.RunSize)/2 {
			t.Errorf("row %s: the database grew by %d bytes for %d runs", row.Name, r.Growth, r.Answered)
		}
		if inserts := strings.HasPrefix(row.Name, "b"); inserts != (r.Batch > 0) {
			t.Errorf("row %s: %.1f runs to a commit", row.Name, r.Batch)
		}
	}
	if want := []string{"a", "b1", "b2", "c", "d", "e", "f"}; !slices.Equal(names, want) {
		t.Errorf("the rows are %v, want %v", names, want)
	}
	if len(f.Ratios) != 3 || f.Ratios[0].Name != "c/b1" || len(f.Ratios[0].Values) != 1 || f.Ratios[0].Values[0] <= 0 {
		t.Errorf("the ratios are %+v, want length 3, Name c/b1, length 1 and more than 0", f.Ratios)
	}
	if f.Idle < 1<<20 || f.RunSize < 500 || f.RunSize > 10_000 {
		t.Errorf("idle %d bytes, a run %d bytes; want at least %v, at least 500 and at most %v", f.Idle, f.RunSize, 1<<20, 10_000)
	}
	if len(f.Starts) != 3 || f.Starts[2].Times[0] <= 0 || f.Starts[2].Size <= f.Starts[1].Size {
		t.Errorf("the starts are %+v, want length 3, more than 0 and more than %v", f.Starts, f.Starts[1].Size)
	}
	if len(f.Waiting) != 2 {
		t.Fatalf("the waiting runs are %+v, want length 2", f.Waiting)
	}
	for _, w := range f.Waiting {
		if w.Runs != 50 || min(w.Before, w.After, w.Restored, w.Idle) < 1<<20 {
			t.Errorf("waiting runs: %+v, want 50 of them, and at least 1 MiB at each time", w)
		}
		if w.Stored <= 0 || w.Ready <= 0 || w.Empty <= 0 {
			t.Errorf("waiting runs: %+v, want how much is stored, and how long the starts take", w)
		}
	}
	if len(f.Open) != 2 || f.Open[1].What != "HTTPS" || f.Open[1].Connections != 20 || min(f.Open[1].Before, f.Open[1].After) < 1<<20 {
		t.Errorf("the idle connections are %+v, want 20 with HTTP and with HTTPS, and at least 1 MiB at each time", f.Open)
	}
	if share := f.loadShare(); share <= 0 || share > 1.5 {
		t.Errorf("the load generator took %.2f processors, want more than 0 and at most %v", share, 1.5)
	}
	if f.Machine.Cores < 1 || f.Machine.Processor == "" || f.Machine.Date == "" {
		t.Errorf("the machine is %+v, want Cores at least 1, Processor not empty and Date not empty", f.Machine)
	}
}

func TestOptions(t *testing.T) {
	for _, args := range [][]string{{"-rows", "a,z"}, {"-connections", "0"}, {"-connections", "1,x"}, {"-rounds", "0"}, {"-seconds", "0"}, {"-profile", "b"}, {"extra"}} {
		if _, err := parse(args); err == nil {
			t.Errorf("%q is taken, want an error", args)
		}
	}
	o, err := parse([]string{"-quick", "-rounds", "2"})
	if err != nil || o.rounds != 2 || o.starts != 1 || o.connections[0] != 4 {
		t.Errorf("-quick -rounds 2 returned %+v, %v; want rounds 2, starts 1 and connections 4", o, err)
	}
}

// TestLoad loads a server that fails in various ways.
func TestLoad(t *testing.T) {
	t.Parallel()
	in, end := io.Pipe()
	out, lines := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- serveEcho(in, lines) }()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	address := strings.TrimPrefix(echoLine.FindStringSubmatch(strings.TrimSpace(line))[1], "http://")
	job := loadJob{Address: address, Connections: 3, Most: 10, Server: os.Getpid(), Requests: [][]byte{postRequest(address, "/", payload())}}
	r, err := generate(&job)
	if err != nil || r.Answered != 10 || r.Completed != 10 || r.Failed != 0 {
		t.Errorf("ten requests: %+v, %v; want ten completed", r, err)
	}
	if r.P50 <= 0 {
		t.Errorf("ten requests: a median of %v, want more than 0", r.P50)
	}
	job.Requests = [][]byte{postRequest(address, "/", "{")}
	if r, err = generate(&job); err != nil || r.Failed != 10 || r.Completed != 0 || !strings.HasPrefix(r.Failure, "400 ") {
		t.Errorf("ten bad requests: %+v, %v; want Failed 10, Completed 0 and \"400 \" at the start", r, err)
	}
	end.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if _, err := generate(&job); err == nil {
		t.Error("nothing listens and no error is reported, want an error")
	}
}

func TestHistogram(t *testing.T) {
	var h, other histogram
	for i := range 1000 {
		h.note(time.Duration(i+1) * time.Microsecond)
	}
	other.note(time.Hour)
	h.add(&other)
	for q, want := range map[float64]time.Duration{0: time.Microsecond, 0.5: 501 * time.Microsecond, 0.99: 991 * time.Microsecond, 1: time.Hour} {
		t.Run(fmt.Sprint(q), func(t *testing.T) {
			if got := h.quantile(q); float64(got) < float64(want)*0.99 || float64(got) > float64(want)*1.01 {
				t.Errorf("quantile %v is %s, want about %s", q, got, want)
			}
		})
	}
	for _, value := range []uint64{0, 1, 127, 128, 255, 256, 257, 511, 512, 1 << 20, 1<<63 - 1} {
		if got := middle(bucket(value)); got < float64(value)*0.99 || got > float64(value)*1.01 {
			t.Errorf("%d is noted as %.0f", value, got)
		}
	}
	if (&histogram{}).quantile(0.5) != 0 {
		t.Error("the median of nothing is not 0")
	}
}

func TestBetween(t *testing.T) {
	for _, page := range []string{"", tablesBegin, tablesEnd + tablesBegin} {
		if _, err := between([]byte(page), "new", tablesBegin, tablesEnd); err == nil {
			t.Errorf("%q has both markers in order, want an error", page)
		}
	}
}

// FuzzParseResponse compares the parser with that of net/http: where both find a whole
// response, it is the same one.
func FuzzParseResponse(f *testing.F) {
	for _, seed := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
		"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no",
		"HTTP/1.1 202 Accepted\r\ncontent-length:0\r\nX: y\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\nok\r\n0\r\n",
		"HTTP/1.1 204 No Content\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.0 200 OK\r\n\r\n", "HTTP/1.1 2", "",
		"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		status, length, err := parseResponse(data)
		if length < 0 || length > len(data) || err != nil && length != 0 {
			t.Fatalf("status %d, length %d of %d, %v", status, length, len(data), err)
		}
		if length == 0 {
			return
		}
		request, _ := http.NewRequestWithContext(context.Background(), http.MethodPost, "http://localhost/", nil)
		whole, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(data[:length])), request)
		if err != nil {
			return // stricter about details that do not matter here
		}
		defer whole.Body.Close()
		if whole.StatusCode != status {
			t.Errorf("status %d, net/http says %d", status, whole.StatusCode)
		}
	})
}

// Every layer of the table has its time, and together they are the server's.
func TestLayers(t *testing.T) {
	o, out := quick(t, "-layers", "-seconds", "0.5")
	if err := bench(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	for _, of := range layers {
		if !strings.Contains(text, "| "+string(of)+" |") {
			t.Errorf("no row %q in\n%s", of, text)
		}
	}
	if strings.Contains(text, "| SQLite | 0.0 ") || strings.Contains(text, "| all of the server | 0.0 ") {
		t.Errorf("no time in\n%s", text)
	}
}

// Every shape has its row, and the chains are compared with a bare client.
func TestShapes(t *testing.T) {
	o, out := quick(t, "-shapes")
	if err := bench(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	for _, s := range o.shapes("") {
		if !strings.Contains(out.String(), "| "+s.what+" | ") {
			t.Errorf("no row %q in\n%s", s.what, out)
		}
	}
	for _, method := range []string{http.MethodPost, http.MethodGet} {
		if !strings.Contains(out.String(), chainOf(method)+": a bare Go client takes") {
			t.Errorf("no comparison with a bare client for %s in\n%s", method, out)
		}
	}
}

func TestStartup(t *testing.T) {
	o, out := quick(t, "-startup")
	if err := bench(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	for _, what := range []string{"new database, made by this start", "empty database", "loaded database"} {
		if !strings.Contains(out.String(), "| "+what+" | ") {
			t.Errorf("no row %q in\n%s", what, out)
		}
	}
	if strings.Contains(out.String(), " 0 [") || strings.Contains(out.String(), "| 0.0 | 0.0 |") {
		t.Errorf("no CPU time or no memory in\n%s", out)
	}
}

// The picture of a day is well-formed and has its lines; the table has the requests.
func TestDay(t *testing.T) {
	picture := filepath.Join(t.TempDir(), "day.svg")
	o, out := quick(t, "-day", picture)
	if err := bench(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if want := "| 200 webhooks, answered at the end of the run | "; !strings.Contains(out.String(), want) {
		t.Errorf("no %q in\n%s", want, out)
	}
	data, err := os.ReadFile(picture)
	if err != nil {
		t.Fatal(err)
	}
	decoder, lines := xml.NewDecoder(bytes.NewReader(data)), 0
	for {
		token, err := decoder.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, data)
		}
		if start, ok := token.(xml.StartElement); ok && start.Name.Local == "polyline" {
			lines++
		}
	}
	if lines != 3 || !strings.Contains(string(data), ">backup</text>") {
		t.Errorf("%d lines, want 3, and the backups, in\n%s", lines, data)
	}
}

func TestQuantile(t *testing.T) {
	thousand := make([]time.Duration, 1000)
	for i := range thousand {
		thousand[i] = time.Duration(i + 1)
	}
	for share, want := range map[float64]time.Duration{0.5: 500, 0.99: 990, 0.999: 999, 1: 1000} {
		t.Run(fmt.Sprint(share), func(t *testing.T) {
			if got := quantile(thousand, share); got != want {
				t.Errorf("got %d, want %d", got, want)
			}
		})
	}
	if got := quantile(nil, 0.5); got != 0 {
		t.Errorf("of none: %d, want 0", got)
	}
}

func TestLayerOf(t *testing.T) {
	for name, test := range map[string]struct {
		stack []string // innermost first
		want  layer
	}{
		"SQLite in the store":    {[]string{"runtime.memmove", "modernc.org/sqlite/lib._sqlite3Step", "database/sql.(*Stmt).ExecContext", "blueprintd/store.(*Store).add"}, layerSQLite},
		"JSON in a trigger":      {[]string{"encoding/json.Marshal", "blueprintd/triggers.writeJSON", "net/http.(*conn).serve"}, layerEncode},
		"memory for the engine":  {[]string{"runtime.mallocgc", "blueprintd/engine.(*run).write", "blueprintd/triggers.(*Service).begin", "net/http.(*conn).serve"}, layerEngine},
		"help for the collector": {[]string{"runtime.gcDrainN", "runtime.gcAssistAlloc", "runtime.mallocgc", "blueprintd/engine.(*run).write"}, layerGC},
		"a goroutine that rests": {[]string{"runtime.futex", "runtime.findRunnable", "runtime.schedule", "runtime.park_m", "runtime.mcall"}, layerScheduler},
		"anything else":          {[]string{"runtime.memmove", "main.main"}, layerOther},
	} {
		t.Run(name, func(t *testing.T) {
			if got := layerOf(test.stack); got != test.want {
				t.Errorf("layerOf(%v) = %q, want %q", test.stack, got, test.want)
			}
		})
	}
}

package main

import (
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"blueprintd/tests/faultfs"
	"blueprintd/tests/process"
)

// form is a database of an older version of the program, with runs in every state, and the
// content of its form.json; see tests/e2e/forms_test.go.
type form struct {
	number  int // its schema version
	current int // the program's version
	image   faultfs.Image

	Now      string            `json:"now"`
	Runs     map[string]string `json:"runs"`
	Statuses map[string]string `json:"statuses"`
}

// upgrades returns one phase for each database in testdata/forms with an older schema
// version than the program's: a server starts on it, upgrades it, and stops.
func upgrades(b *worker) (phases []*phase, err error) {
	folders, err := filepath.Glob("testdata/forms/*")
	if err != nil || len(folders) == 0 {
		return nil, errors.Join(err, errors.New("there is no testdata/forms: run this in the root of the sources"))
	}
	current, err := b.currentForm()
	if err != nil {
		return nil, err
	}
	for _, folder := range folders {
		number, err := strconv.Atoi(filepath.Base(folder))
		if err != nil {
			return nil, err
		}
		if number >= current {
			continue
		}
		f, err := readForm(folder)
		if err != nil {
			return nil, err
		}
		f.number, f.current = number, current
		phases = append(phases, &phase{name: fmt.Sprintf("upgrade of form %d", number), form: f})
	}
	return phases, nil
}

// currentForm returns the schema version of a database that the program makes.
func (w *worker) currentForm() (int, error) {
	folder := filepath.Join(w.leftDir, "fresh")
	if err := os.Mkdir(folder, 0o700); err != nil {
		return 0, err
	}
	defer os.RemoveAll(folder)
	s, err := w.launch(folder)
	if err != nil {
		return 0, err
	}
	defer s.Kill()
	if address, _ := s.await(10 * time.Second); address == "" {
		return 0, fmt.Errorf("the server is not ready: %s", s.logTail())
	}
	if err := s.stop(); err != nil {
		return 0, err
	}
	return formOf(filepath.Join(folder, "blueprintd.db"))
}

// formOf returns the schema version of a database without a write-ahead log.
func formOf(path string) (int, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	const userVersion = 60 // in the header of the file
	if len(data) < userVersion+4 {
		return 0, fmt.Errorf("%s is not a database", path)
	}
	return int(binary.BigEndian.Uint32(data[userVersion:])), nil
}

// readForm reads the database of a form, with its log and its key.
func readForm(folder string) (*form, error) {
	f := &form{image: faultfs.Image{}}
	for from, to := range map[string]string{"server.db.gz": "blueprintd.db", "server.db-wal.gz": "blueprintd.db-wal"} {
		packed, err := os.Open(filepath.Join(folder, from))
		if err != nil {
			return nil, err
		}
		defer packed.Close()
		reader, err := gzip.NewReader(packed)
		if err != nil {
			return nil, err
		}
		data, err := io.ReadAll(reader)
		if err != nil {
			return nil, err
		}
		f.image[to] = faultfs.File{Data: data, Mode: 0o600}
	}
	key, err := os.ReadFile(filepath.Join(folder, "master.key"))
	if err != nil {
		return nil, err
	}
	f.image["blueprintd.db.key"] = faultfs.File{Data: key, Mode: 0o600}
	text, err := os.ReadFile(filepath.Join(folder, "form.json"))
	if err != nil {
		return nil, err
	}
	return f, json.Unmarshal(text, f)
}

// expectations returns expectations with the runs of a form instead of the resources of clients.
func (f *form) expectations() *expectations {
	b := newExpectations()
	b.form, b.shared.key = f, process.Key
	return b
}

// check verifies that every run has its status, and that those that wait for an answer
// end with one.
func (f *form) check(c *api) (wrong []string) {
	for _, name := range slices.Sorted(maps.Keys(f.Runs)) {
		if got := c.waitForStatus(f.Runs[name], f.Statuses[name]); got != "" {
			wrong = append(wrong, fmt.Sprintf("the run %q of form %d is %s, not %s", name, f.number, got, f.Statuses[name]))
		}
	}
	for _, answer := range []struct {
		run   string
		input object
	}{
		{"asked", object{"city": "Berlin"}}, {"interrupted", object{"action": "mark-done"}},
		{"first order", object{"approved": true}}, {"second order", object{"approved": true}}, {"third order", object{"approved": true}},
	} {
		id := f.Runs[answer.run]
		got := c.waitForStatus(id, paused)
		if got == "" {
			c.mutate("execution.resume", object{"executionId": id, "input": answer.input})
			got = c.waitForStatus(id, completed)
		}
		if got != "" {
			wrong = append(wrong, fmt.Sprintf("the run %q of form %d does not end: it is %s", answer.run, f.number, got))
		}
	}
	return wrong
}

// checkFiles verifies that a stopped server has left the upgraded database and the copy of
// the old one.
func (f *form) checkFiles(folder string) (wrong []string) {
	database := filepath.Join(folder, "blueprintd.db")
	for path, want := range map[string]int{database: f.current, fmt.Sprintf("%s.v%d", database, f.number): f.number} {
		if got, err := formOf(path); err != nil || got != want {
			wrong = append(wrong, fmt.Sprintf("%s has schema version %d, want %d (%v)", filepath.Base(path), got, want, err))
		}
	}
	return wrong
}

// waitForStatus waits until a run has a status. It returns the actual status, or "" if they are
// equal.
func (c *api) waitForStatus(id, status string) (instead string) {
	for end := now().Add(maxWait); ; time.Sleep(5 * time.Millisecond) {
		a := c.query("execution.getExecutionStatus", object{"executionId": id})
		got := a.Text("status")
		if a.OK() && got == status {
			return ""
		}
		if now().After(end) || a.OK() && (got == completed || got == "failed") {
			return a.String()
		}
	}
}

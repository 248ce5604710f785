package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"
)

// line is a connection of a client that makes requests in sequence.
type line struct {
	net.Conn
	in   *bufio.Reader
	used int // requests with a response
}

func dial(ctx context.Context, address string) (*line, error) {
	conn, err := (&net.Dialer{Timeout: 20 * time.Second}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	return &line{Conn: conn, in: bufio.NewReaderSize(conn, 2<<10)}, nil
}

// post returns the bytes of a request, without its body.
func post(address, path string, length int, headers ...string) string {
	return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n%s\r\n", path, address, length, strings.Join(append(headers, ""), "\r\n"))
}

// outcome is the result of a request.
type outcome struct {
	status int    // 0 = no response
	retry  string // the header Retry-After
	closes bool   // the connection is no longer usable
	id     string // the acknowledged run
	begun  bool   // at least one byte of a response came
	err    error
}

// ask sends a request and waits for its response.
func (l *line) ask(request string) outcome {
	if _, err := io.WriteString(l, request); err != nil {
		if early := l.receive(); early.begun { // the response came before the request
			return early
		}
		return outcome{closes: true, err: err}
	}
	return l.receive()
}

// receive reads a response.
func (l *line) receive() outcome {
	o := outcome{closes: true}
	if _, o.err = l.in.Peek(1); o.err != nil {
		return o
	}
	o.begun = true
	response, err := http.ReadResponse(l.in, nil)
	if o.err = err; err != nil {
		return o
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if o.err = err; err != nil {
		return o
	}
	var said struct {
		ExecutionID string `json:"executionId"`
	}
	_ = json.Unmarshal(body, &said)
	o.status, o.retry, o.closes, o.id = response.StatusCode, response.Header.Get("Retry-After"), response.Close, said.ExecutionID
	l.used++
	return o
}

// note counts an outcome and records the run that it names. first is true for the first
// request of a connection.
func (w *worker) note(o outcome, first bool) {
	what := fmt.Sprintf("%d", o.status)
	switch {
	case o.err != nil && o.begun:
		what = "answer cut off"
	case o.err != nil && first:
		what = "new connection " + cause(o.err)
	case o.err != nil:
		what = "kept connection " + cause(o.err)
	case (o.status == http.StatusServiceUnavailable || o.status == http.StatusTooManyRequests) && o.retry == "":
		what += " without Retry-After"
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.result.Counts[what]++
	if o.id != "" {
		w.result.IDs = append(w.result.IDs, o.id)
	}
}

// cause returns the reason of a failed connection in one word.
func cause(err error) string {
	var timeout net.Error
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "closed"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "reset"
	case errors.As(err, &timeout) && timeout.Timeout():
		return "timed out"
	}
	return err.Error()
}

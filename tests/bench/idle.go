package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"blueprintd/tests/process"
)

// idle holds the cost of connections that are kept open without a request.
type idle struct {
	What        string `json:"what"`
	Connections int    `json:"connections"`
	Before      int64  `json:"beforeBytes"` // resident, after as many requests through one connection
	After       int64  `json:"afterBytes"`  // resident, with the connections, each after one request
}

// measureIdle opens connections with HTTP and with TLS, each on its own server, and leaves
// them open after one webhook.
func measureIdle(ctx context.Context, o *options) (list []idle, err error) {
	for _, kind := range []struct {
		what   string
		secure bool
	}{{"HTTP", false}, {"HTTPS", true}} {
		one, err := leaveIdle(ctx, o, kind.secure)
		if err != nil {
			return nil, fmt.Errorf("idle connections with %s: %w", kind.what, err)
		}
		one.What = kind.what
		o.say("%d idle connections with %s: %.1f MB", one.Connections, one.What, mega(one.After-one.Before))
		list = append(list, *one)
	}
	return list, nil
}

func leaveIdle(ctx context.Context, o *options, secure bool) (*idle, error) {
	folder, err := os.MkdirTemp(o.folder, "idle")
	if err != nil {
		return nil, err
	}
	s := &stage{folder: folder, server: &server{binary: o.binary, folder: folder}}
	defer s.close()
	dial := (&net.Dialer{}).DialContext
	if secure {
		pair, err := process.MakeKeyPair(folder, now().Add(24*time.Hour))
		if err != nil {
			return nil, err
		}
		settings := &tls.Config{RootCAs: pair.Pool}
		dial = (&tls.Dialer{Config: settings}).DialContext
		transport := &http.Transport{TLSClientConfig: settings}
		defer transport.CloseIdleConnections()
		s.server.client = &http.Client{Transport: transport}
		s.server.storage = []string{"--db", s.server.database(), "--tls-cert", pair.Cert, "--tls-key", pair.Key}
	}
	if err := s.server.start(ctx); err != nil {
		return nil, err
	}
	if s.flows, err = storeFlows(ctx, s.server); err != nil {
		return nil, err
	}
	var open []net.Conn
	defer func() {
		for _, conn := range open {
			conn.Close()
		}
	}()
	connect := func() (net.Conn, *bufio.Reader, error) {
		conn, err := dial(ctx, "tcp", s.server.host())
		if err != nil {
			return nil, nil, err
		}
		open = append(open, conn)
		return conn, bufio.NewReader(conn), nil
	}
	request := postRequest(s.server.host(), "/webhooks/blueprint/"+s.flows.wait, payload())
	one := &idle{Connections: o.idle}
	conn, answers, err := connect()
	for range o.idle {
		if err == nil {
			err = exchange(conn, answers, request)
		}
	}
	if err != nil {
		return nil, err
	}
	if one.Before, err = s.rest(ctx, o); err != nil {
		return nil, err
	}
	for range o.idle {
		if conn, answers, err = connect(); err == nil {
			err = exchange(conn, answers, request)
		}
		if err != nil {
			return nil, err
		}
	}
	if one.After, err = s.rest(ctx, o); err != nil {
		return nil, err
	}
	return one, s.server.stop()
}

// exchange sends a request and reads its answer, which must be a success.
func exchange(conn net.Conn, answers *bufio.Reader, request []byte) error {
	if err := conn.SetDeadline(now().Add(time.Minute)); err != nil {
		return err
	}
	if _, err := conn.Write(request); err != nil {
		return err
	}
	response, err := http.ReadResponse(answers, nil)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the server answers %s", response.Status)
	}
	return nil
}

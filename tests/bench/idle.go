package main

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"
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
		trusted, err := writeCertificate(folder)
		if err != nil {
			return nil, err
		}
		settings := &tls.Config{RootCAs: trusted}
		dial = (&tls.Dialer{Config: settings}).DialContext
		transport := &http.Transport{TLSClientConfig: settings}
		defer transport.CloseIdleConnections()
		s.server.client = &http.Client{Transport: transport}
		s.server.storage = []string{"--db", s.server.database(), "--tls-cert", filepath.Join(folder, certificateFile), "--tls-key", filepath.Join(folder, keyFile)}
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

// The files of writeCertificate.
const (
	certificateFile = "tls.crt"
	keyFile         = "tls.key"
)

// writeCertificate writes a certificate for the loopback and its key into a folder, and
// returns what trusts it.
func writeCertificate(folder string) (*x509.CertPool, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: now().Add(-time.Hour), NotAfter: now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate})
	if err := os.WriteFile(filepath.Join(folder, certificateFile), text, 0o600); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(folder, keyFile), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600); err != nil {
		return nil, err
	}
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(text)
	return trusted, nil
}

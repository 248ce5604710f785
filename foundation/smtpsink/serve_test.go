package smtpsink_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http/httptest"
	"net/smtp"
	"net/textproto"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"blueprintd/foundation/smtpsink"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// send sends one message with the client of the standard library, over a pipe.
func send(t *testing.T, secure *tls.Config, roots *x509.CertPool, accept smtpsink.Accept) error {
	t.Helper()
	ours, theirs := net.Pipe()
	served := make(chan struct{})
	go func() {
		defer close(served)
		smtpsink.Serve(theirs, "mx.example.com", secure, accept)
	}()
	defer func() { <-served }()
	defer ours.Close()
	client, err := smtp.NewClient(ours, "mx.example.com")
	if err != nil {
		return err
	}
	if err := client.Hello("test"); err != nil {
		return err
	}
	if secure != nil {
		if err := client.StartTLS(&tls.Config{ServerName: "example.com", RootCAs: roots}); err != nil {
			return err
		}
		if err := client.Auth(smtp.PlainAuth("", "ada", "pass", "mx.example.com")); err != nil {
			return err
		}
	}
	if err := client.Mail("ada@example.com"); err != nil {
		return err
	}
	for _, to := range []string{"bo@example.org", "cy@example.org"} {
		if err := client.Rcpt(to); err != nil {
			return err
		}
	}
	w, err := client.Data()
	if err != nil {
		return err
	}
	if _, err := w.Write([]byte("Subject: Hi\n\n.dot\n" + strings.Repeat("x", 100_000) + "\n")); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	_ = client.Quit() // with TLS, either side may be the last to say so
	return nil
}

func TestAMessageArrives(t *testing.T) {
	donor := httptest.NewTLSServer(nil) // of whom only the certificate is wanted
	donor.Close()
	roots := x509.NewCertPool()
	roots.AddCert(donor.Certificate())
	for name, secure := range map[string]*tls.Config{"plain": nil, "STARTTLS": {Certificates: donor.TLS.Certificates}} {
		t.Run(name, func(t *testing.T) {
			var got string
			err := send(t, secure, roots, func(from string, to []string, data []byte) (int, string) {
				got = from + " " + strings.Join(to, ",") + " " + string(data[:len("Subject: Hi\r\n\r\n.dot\r\n")])
				return 250, ""
			})
			if want := "ada@example.com bo@example.org,cy@example.org Subject: Hi\r\n\r\n.dot\r\n"; err != nil || got != want {
				t.Errorf("%v: %q, want %v", err, got, want)
			}
		})
	}
}

func TestRefusalIsReported(t *testing.T) {
	err := send(t, nil, nil, func(string, []string, []byte) (int, string) { return 554, "no\r\n250 spam" })
	var reply *textproto.Error
	if !errors.As(err, &reply) || reply.Code != 554 || reply.Msg != "no 250 spam" {
		t.Errorf("%v, want Code 554 and Msg no 250 spam", err)
	}
}

// A client that goes away ends the dialogue.
func TestTheDialogueEndsWithTheConnection(t *testing.T) {
	ours, theirs := net.Pipe()
	served := make(chan struct{})
	go func() {
		defer close(served)
		smtpsink.Serve(theirs, "mx", nil, nil)
	}()
	buffer := make([]byte, 100)
	if _, err := ours.Read(buffer); err != nil {
		t.Fatal(err)
	}
	ours.Close()
	<-served
}

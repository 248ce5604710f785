package mcp

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"blueprintd/foundation/outbound"
)

var (
	errTooLarge     = errors.New("the answer is too large")
	errForeignID    = errors.New("a response to an unknown request")
	errTooManyTries = errors.New("too many requests in one exchange")
)

const versionHeader = "Mcp-Protocol-Version"

// httpClient returns the SDK's client, whose requests go through the guarded client.
func (s *Session) httpClient() *http.Client {
	return &http.Client{Transport: roundTripper{s}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

type roundTripper struct{ session *Session }

// RoundTrip sends a request with the connection's credentials. The response ends with
// the session, even if the SDK still waits for it.
func (t roundTripper) RoundTrip(request *http.Request) (*http.Response, error) {
	s, record := t.session, recordOf(request.Context())
	ctx, cancel := context.WithCancel(request.Context())
	unbind := context.AfterFunc(s.ctx, cancel)
	release := func() {
		unbind()
		cancel()
	}
	response, err := s.send(ctx, request, record)
	if err != nil {
		if request.Body != nil {
			request.Body.Close()
		}
		record.setError(err)
		release()
		return nil, err
	}
	if response.StatusCode < 200 || response.StatusCode > 299 {
		record.update(func() {
			record.status, record.retryAfter = response.StatusCode, outbound.RetryAfter(response.Header, time.Time{})
		})
	}
	response.Body = &boundedBody{ReadCloser: response.Body, left: s.client.maxAnswer, record: record, failed: response.StatusCode < 200 || response.StatusCode > 299, release: release}
	return response, nil
}

// send sends a request, and again with renewed credentials when the server rejects the
// first ones: it has done nothing yet.
func (s *Session) send(ctx context.Context, request *http.Request, record *exchangeRecord) (*http.Response, error) {
	response, err := s.sendOnce(ctx, request, record)
	if err != nil || response.StatusCode != http.StatusUnauthorized || s.connection.Renew == nil || request.Body != nil && request.GetBody == nil {
		return response, err
	}
	response.Body.Close()
	if err := s.connection.Renew(ctx); err != nil {
		return nil, err
	}
	again := request.Clone(request.Context())
	if request.GetBody != nil {
		if again.Body, err = request.GetBody(); err != nil {
			return nil, err
		}
	}
	return s.sendOnce(ctx, again, record)
}

func (s *Session) sendOnce(ctx context.Context, request *http.Request, record *exchangeRecord) (*http.Response, error) {
	if !record.beginRequest() {
		return nil, errTooManyTries
	}
	if request.Method == http.MethodDelete { // the end of the session
		ctx = outbound.WithoutEvidence(ctx)
	}
	request = request.Clone(outbound.Authorize(ctx, s.connection.Authorize))
	request.Header.Set("User-Agent", "blueprintd/"+s.client.version)
	if version, agreed := s.version.Load().(string); agreed && request.Header.Get(versionHeader) == "" {
		request.Header.Set(versionHeader, version)
	}
	return s.client.http.Do(request)
}

// boundedBody is a response body of bounded size. It records what ends it early.
type boundedBody struct {
	io.ReadCloser
	left    int64
	record  *exchangeRecord
	failed  bool // the status is an error
	release func()
}

func (b *boundedBody) Read(into []byte) (int, error) {
	n, err := b.ReadCloser.Read(into)
	if b.left -= int64(n); b.left < 0 {
		n, err = 0, errTooLarge
	}
	if err != nil && err != io.EOF {
		b.record.setError(err)
	}
	return n, err
}

func (b *boundedBody) Close() error {
	defer b.release()
	if b.failed {
		outbound.Drain(b.ReadCloser)
	}
	return b.ReadCloser.Close()
}

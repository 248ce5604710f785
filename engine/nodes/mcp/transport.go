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
	errForeignID    = errors.New("an answer to something that was not asked")
	errTooManyTries = errors.New("too many requests in one exchange")
)

const versionHeader = "Mcp-Protocol-Version"

// httpClient returns for the SDK a client whose every request goes the guarded way.
func (s *Session) httpClient() *http.Client {
	return &http.Client{Transport: roundTripper{s}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

type roundTripper struct{ session *Session }

// RoundTrip sends a request with the connection's credentials. It lives no
// longer than the session, whatever the SDK goes on waiting for.
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
		record.failed(err)
		release()
		return nil, err
	}
	if response.StatusCode < 200 || response.StatusCode > 299 {
		record.change(func() {
			record.status, record.wait = response.StatusCode, outbound.RetryAfter(response.Header, time.Time{})
		})
	}
	response.Body = &boundedBody{ReadCloser: response.Body, left: s.client.maxAnswer, record: record, failed: response.StatusCode < 200 || response.StatusCode > 299, release: release}
	return response, nil
}

// send sends a request, and once more when the server does not take the
// credentials and there are others to be had: it has done nothing yet.
func (s *Session) send(ctx context.Context, request *http.Request, record *record) (*http.Response, error) {
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

func (s *Session) sendOnce(ctx context.Context, request *http.Request, record *record) (*http.Response, error) {
	if !record.begin() {
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

// boundedBody is the body of an answer that may have so many bytes and no
// more. What ends it early is recorded.
type boundedBody struct {
	io.ReadCloser
	left    int64
	record  *record
	failed  bool // the status is no success
	release func()
}

// Read reads on.
func (b *boundedBody) Read(into []byte) (int, error) {
	n, err := b.ReadCloser.Read(into)
	if b.left -= int64(n); b.left < 0 {
		n, err = 0, errTooLarge
	}
	if err != nil && err != io.EOF {
		b.record.failed(err)
	}
	return n, err
}

// Close ends the answer.
func (b *boundedBody) Close() error {
	defer b.release()
	if b.failed {
		outbound.Drain(b.ReadCloser)
	}
	return b.ReadCloser.Close()
}

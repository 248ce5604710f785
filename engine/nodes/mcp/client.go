package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"blueprintd/blueprint"
	"blueprintd/foundation/outbound"
)

const (
	// standardTimeout and longestTimeout are the default and the maximum of timeoutMs.
	standardTimeout = time.Minute
	longestTimeout  = time.Hour
	// closeTimeout bounds the request that ends a session.
	closeTimeout = 2 * time.Second
	// maxAnswer bounds a response, after decompression.
	maxAnswer = 10 << 20
	// maxRequests bounds the requests of an exchange: an interrupted stream is resumed.
	maxRequests = 100
)

// Client opens sessions with MCP servers. It is safe for concurrent use.
type Client struct {
	http    *outbound.Client
	version string
	// Shortened by tests.
	maxAnswer    int64
	closeTimeout time.Duration
}

// New returns a client that sends through http and identifies itself by version.
func New(http *outbound.Client, version string) *Client {
	return &Client{http: http, version: version, maxAnswer: maxAnswer, closeTimeout: closeTimeout}
}

// Check opens and closes a session and returns the server's name.
func (c *Client) Check(ctx context.Context, connection *blueprint.OpenConnection) (server string, err error) {
	session, err := c.Open(ctx, connection)
	if err != nil {
		return "", err
	}
	defer session.Close()
	return session.Server(), nil
}

// Open opens a session over a connection of type mcp-server, which must be closed.
// Errors are *blueprint.Failure with NotSent, *blueprint.Pause, or ctx's.
func (c *Client) Open(ctx context.Context, connection *blueprint.OpenConnection) (*Session, error) {
	address, timeout, err := settings(connection)
	if err != nil {
		return nil, err
	}
	s := &Session{client: c, connection: connection, host: address.Host, address: normalAddress(address), timeout: timeout}
	s.ctx, s.end = context.WithCancel(context.WithoutCancel(ctx))
	httpClient := &http.Client{Transport: roundTripper{s}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	transport := &recordingTransport{s, &sdk.StreamableClientTransport{
		Endpoint: address.String(), HTTPClient: httpClient, MaxRetries: 2, DisableStandaloneSSE: true, MaxEventSize: int(c.maxAnswer),
	}}

	client := sdk.NewClient(&sdk.Implementation{Name: "blueprintd", Version: c.version}, &sdk.ClientOptions{
		Capabilities: &sdk.ClientCapabilities{}, MultiRoundTrip: &sdk.MultiRoundTripOptions{Disabled: true},
	})
	err = s.exchange(ctx, func(ctx context.Context) error {
		defer context.AfterFunc(ctx, s.end)() // no time is left to close it
		s.sdk, err = client.Connect(ctx, transport, nil)
		return err
	})
	if err != nil {
		s.end()
		return nil, markNotSent(err)
	}
	return s, nil
}

// settings reads the config of a connection. Unknown keys are refused: one may be meant
// to change what the connection does.
func settings(connection *blueprint.OpenConnection) (address *url.URL, timeout time.Duration, err error) {
	if connection.Type != blueprint.ConnectionMCPServer {
		return nil, 0, permanentFailure("connection_unavailable", "the %s is of type %s; this takes one of type %s", connection.Text(), connection.Type, blueprint.ConnectionMCPServer)
	}
	timeout = standardTimeout
	for key, value := range connection.Config {
		switch key {
		case "auth":
		case "url":
			text, _ := value.(string)
			address, err = url.Parse(text)
			if err != nil || address.Scheme != "http" && address.Scheme != "https" || address.Host == "" || address.User != nil {
				return nil, 0, permanentFailure("bad_config", "the url of the %s must begin with http:// or https:// and name a host, without a name and password", connection.Text())
			}
		case "timeoutMs":
			if value == nil {
				continue
			}
			milliseconds, ok := wholeNumber(value)
			if !ok || milliseconds < 1 {
				return nil, 0, permanentFailure("bad_config", "timeoutMs of the %s must be a whole number of at least 1", connection.Text())
			}
			timeout = time.Duration(min(milliseconds, int64(longestTimeout/time.Millisecond))) * time.Millisecond
		default:
			return nil, 0, permanentFailure("bad_config", "the %s has the unknown key %q; an MCP server has url, auth and timeoutMs", connection.Text(), displayText(key, 50))
		}
	}
	if address == nil {
		return nil, 0, permanentFailure("bad_config", "the %s has no url", connection.Text())
	}
	address.Fragment, address.RawFragment = "", ""
	address.Scheme = strings.ToLower(address.Scheme)
	return address, timeout, nil
}

// Session is a connection with one MCP server. It is safe for concurrent use until
// Close.
type Session struct {
	client     *Client
	connection *blueprint.OpenConnection
	host       string
	address    string // see Address
	timeout    time.Duration
	ctx        context.Context // of all requests
	end        context.CancelFunc
	sdk        *sdk.ClientSession
	version    atomic.Value // negotiated protocol version, a string
}

// Server returns the server's name, or its host if it has none.
func (s *Session) Server() string {
	name := ""
	if result := s.sdk.InitializeResult(); result != nil && result.ServerInfo != nil {
		name = ShownName(result.ServerInfo.Name)
	}
	return cmp.Or(name, s.host)
}

// Address returns the normalized address of the server, without a fragment: two
// connections with one address reach one server.
func (s *Session) Address() string { return s.address }

func normalAddress(u *url.URL) string {
	n := *u
	n.Host = strings.ToLower(n.Host)
	if port := n.Port(); n.Scheme == "https" && port == "443" || n.Scheme == "http" && port == "80" {
		n.Host = strings.TrimSuffix(n.Host, ":"+port)
	}
	n.Path = cmp.Or(n.Path, "/")
	return n.String()
}

// maxName bounds displayed names of servers and tools, in bytes.
const maxName = 200

// Close ends the session and all its work. It waits for the server for at most 2 s, and
// may be called twice.
func (s *Session) Close() error {
	defer s.end()
	patience := time.AfterFunc(s.client.closeTimeout, s.end)
	defer patience.Stop()
	_ = s.sdk.Close() // the server expires the session anyway
	return nil
}

// exchange calls f within the session's time limit and converts its error. f has
// succeeded once its response arrived, whatever error the SDK returned.
func (s *Session) exchange(ctx context.Context, f func(ctx context.Context) error) error {
	_, err := s.recorded(ctx, f)
	return err
}

// recorded is exchange with the unaltered response to the last request of f.
func (s *Session) recorded(ctx context.Context, f func(ctx context.Context) error) (answer []byte, err error) {
	record := &exchangeRecord{}
	limited, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	limited, hops := outbound.RecordHops(context.WithValue(limited, recordKey{}, record))
	err = f(limited)
	if answer = record.result(); answer != nil || err == nil {
		return answer, nil
	}
	return nil, s.failure(ctx, limited, record, hops, err)
}

var (
	errTooLarge     = errors.New("the answer is too large")
	errForeignID    = errors.New("a response to an unknown request")
	errTooManyTries = errors.New("too many requests in one exchange")
)

const versionHeader = "Mcp-Protocol-Version"

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

// Result is the result of a tool in plain JSON values.
type Result struct {
	Structured any   // nil for none
	Content    []any // in the form of the protocol: [{"type":"text","text":...}, ...]
	IsError    bool
}

// Text joins the texts of the content, in at most most bytes.
func (r *Result) Text(most int) string {
	text := ""
	for _, element := range r.Content {
		object, _ := element.(map[string]any)
		if part, ok := object["text"].(string); ok && object["type"] == "text" {
			if text != "" {
				text += "\n"
			}
			text += displayText(part, most)
		}
		if len(text) > 4*most {
			break
		}
	}
	return displayText(text, most)
}

// Call calls a tool once. A failure of the tool itself is a Result with IsError. Errors
// are those of Tools, with NotSent only when the call did not leave this machine.
func (s *Session) Call(ctx context.Context, name string, arguments map[string]any) (*Result, error) {
	encoded, err := blueprint.Encode(arguments)
	if err != nil {
		return nil, permanentFailure("bad_config", "the arguments cannot be written as JSON")
	}
	if arguments == nil {
		encoded = []byte("{}")
	}
	raw, err := s.recorded(ctx, func(ctx context.Context) error {
		_, err := s.sdk.CallTool(ctx, &sdk.CallToolParams{Name: name, Arguments: json.RawMessage(encoded)})
		return err
	})
	if err != nil {
		return nil, err
	}
	return s.readResult(raw)
}

func (s *Session) readResult(raw []byte) (*Result, error) {
	broken := &blueprint.Failure{Code: "mcp_error", Message: s.host + " answered tools/call with something other than a result"}
	value, err := blueprint.Decode(raw)
	object, ok := value.(map[string]any)
	if err != nil || !ok {
		return nil, broken
	}
	if object["resultType"] == "input_required" {
		return nil, &blueprint.Failure{Code: "mcp_error", Message: "the tool asks for more input, which is not supported", Permanent: true}
	}
	result := &Result{Structured: object["structuredContent"], Content: []any{}}
	content, given := object["content"]
	if list, ok := content.([]any); ok {
		result.Content = list
	} else if given && content != nil || !given && result.Structured == nil {
		return nil, broken
	}
	result.IsError, _ = object["isError"].(bool)
	return result, nil
}

const (
	// Limits of what is read from one server.
	maxTools = 1000
	maxPages = 100
)

// Tool is a tool of a server. Description and InputSchema are the server's, bounded in
// size; InputSchema is a plain JSON value and never nil.
type Tool struct {
	Name        string
	Description string
	InputSchema map[string]any
}

// Tools lists the server's tools, in its order. Errors are *blueprint.Failure with
// NotSent, *blueprint.Pause, or ctx's when it was cancelled; too many tools are
// too_large.
func (s *Session) Tools(ctx context.Context) ([]Tool, error) {
	tools := []Tool{}
	size, cursor := 0, ""
	for range maxPages {
		var page *sdk.ListToolsResult
		raw, err := s.recorded(ctx, func(ctx context.Context) (err error) {
			page, err = s.sdk.ListTools(ctx, &sdk.ListToolsParams{Cursor: cursor})
			return err
		})
		if err == nil && raw == nil { // from the SDK's cache
			raw, err = blueprint.Encode(page)
		}
		if err != nil {
			return nil, markNotSent(err)
		}
		found, next, err := s.readTools(raw)
		if err != nil {
			return nil, err
		}
		tools, size, cursor = append(tools, found...), size+len(raw), next
		if len(tools) > maxTools || int64(size) > s.client.maxAnswer {
			return nil, s.tooManyTools()
		}
		if cursor == "" {
			return tools, nil
		}
	}
	return nil, s.tooManyTools()
}

func (s *Session) tooManyTools() *blueprint.Failure {
	return permanentFailure("too_large", "%s lists more than %d tools, or more than %d bytes of them", s.host, maxTools, s.client.maxAnswer)
}

// readTools decodes one page. Tools without a name are omitted.
func (s *Session) readTools(raw []byte) (tools []Tool, next string, err error) {
	value, err := blueprint.Decode(raw)
	page, ok := value.(map[string]any)
	list, isList := page["tools"].([]any)
	if err != nil || !ok || !isList {
		return nil, "", permanentFailure("mcp_error", "%s answered tools/list with something other than a list of tools", s.host)
	}
	for _, element := range list {
		object, _ := element.(map[string]any)
		tool := Tool{InputSchema: map[string]any{"type": "object"}}
		tool.Name, _ = object["name"].(string)
		tool.Description, _ = object["description"].(string)
		if schema, ok := object["inputSchema"].(map[string]any); ok {
			tool.InputSchema = schema
		}
		if tool.Name != "" {
			tools = append(tools, tool)
		}
	}
	next, _ = page["nextCursor"].(string)
	return tools, next, nil
}

// markNotSent marks a failure as one before any tool was called, so that even a node
// with the effect "once" may be retried.
func markNotSent(err error) error {
	if f, ok := errors.AsType[*blueprint.Failure](err); ok {
		f.NotSent = true
	}
	return err
}

package nodes

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/outbound"
)

type statusRange struct{ from, to int }

func (c *httpConfig) expects(status int) bool {
	return slices.ContainsFunc(c.expected, func(r statusRange) bool { return status >= r.from && status <= r.to })
}

func parseStatuses(value any, r *report) ([]statusRange, bool) {
	list := toList(value)
	var ranges []statusRange
	for _, item := range list {
		if r.isTemplate(item) {
			continue
		}
		expected, ok := parseStatus(item)
		if !ok {
			return nil, false
		}
		ranges = append(ranges, expected)
	}
	return ranges, len(list) > 0
}

// stubStatus returns 200 if a config expects it, else the first status that it expects; 0
// if its expectStatus is invalid.
func stubStatus(config map[string]any) int {
	value := config["expectStatus"]
	if value == nil {
		return http.StatusOK
	}
	expected, ok := parseStatuses(value, &report{config: config})
	if !ok || len(expected) == 0 {
		return 0
	}
	for _, r := range expected {
		if r.from <= http.StatusOK && http.StatusOK <= r.to {
			return http.StatusOK
		}
	}
	return expected[0].from
}

func parseStatus(value any) (statusRange, bool) {
	if form, ok := value.(string); ok {
		digit, isForm := strings.CutSuffix(strings.ToLower(form), "xx")
		if isForm && len(digit) == 1 && digit[0] >= '1' && digit[0] <= '5' {
			from := int(digit[0]-'0') * 100
			return statusRange{from, from + 99}, true
		}
		value = json.Number(form)
	}
	status, ok := blueprint.WholeNumber(value)
	return statusRange{int(status), int(status)}, ok && status >= 100 && status <= 599
}

func responseOutput(response *http.Response, data []byte) map[string]any {
	headers := map[string]any{}
	for name, values := range response.Header {
		name = strings.ToLower(name)
		if name == "set-cookie" { // joined cookies could not be separated
			list := make([]any, len(values))
			for i, value := range values {
				list[i] = strings.ToValidUTF8(value, "\uFFFD")
			}
			headers[name] = list
			continue
		}
		headers[name] = strings.ToValidUTF8(strings.Join(values, ", "), "\uFFFD")
	}
	output := map[string]any{"status": json.Number(strconv.Itoa(response.StatusCode)), "headers": headers}
	body, encoded := responseBody(response.Header.Get("Content-Type"), data)
	output["body"] = body
	if encoded {
		output["bodyEncoding"] = "base64"
	}
	return output
}

// responseBody decodes a body by its content type and charset, and reports whether it
// is base64. Invalid JSON stays text.
func responseBody(contentType string, data []byte) (any, bool) {
	name, _, _ := mime.ParseMediaType(contentType)
	data, isText := outbound.Text(contentType, data)
	if !isText {
		return base64.StdEncoding.EncodeToString(data), true
	}
	if blueprint.IsJSONMedia(name) {
		if value, err := blueprint.Decode(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))); err == nil {
			return value, false
		}
	}
	return string(data), false
}

// statusFailure is the failure of an unexpected status. It does not show the response,
// which may repeat what was sent.
func statusFailure(response *http.Response, c *httpConfig, now time.Time) *blueprint.Failure {
	status := strconv.Itoa(response.StatusCode)
	if words := http.StatusText(response.StatusCode); words != "" {
		status += " " + words
	}
	expected := make([]string, len(c.expected))
	for i, r := range c.expected {
		expected[i] = strconv.Itoa(r.from)
		if r.to != r.from {
			expected[i] += "-" + strconv.Itoa(r.to)
		}
	}
	return &blueprint.Failure{
		Code: codeStatus,
		Message: fmt.Sprintf("%s answered %s; expected %s (to accept it, add it to expectStatus)",
			response.Request.URL.Host, status, strings.Join(expected, ", ")),
		RetryAfter: outbound.RetryAfter(response.Header, now),
	}
}

// requestFailure converts the error of a request, of which it shows only the host.
func requestFailure(ctx context.Context, err error, hops *outbound.Hops) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	host := "the server"
	if list := hops.List(); len(list) > 0 {
		host = list[len(list)-1].Host
	}
	f, fault := &blueprint.Failure{NotSent: !hops.Sent()}, outbound.FaultOf(err)
	var (
		refused *outbound.RefusedError
		failure *blueprint.Failure
		pause   *blueprint.Pause
	)
	switch {
	case errors.As(err, &failure), errors.As(err, &pause):
		return unauthorized(err, hops)
	case errors.As(err, &refused):
		f.Code, f.Message = codeRefused, refused.Error()
	case errors.Is(err, outbound.ErrRedirects):
		f.Code, f.Message = codeRedirects, fmt.Sprintf("%s redirected more than %d times", host, outbound.MaxRedirects)
	case errors.Is(err, outbound.ErrTooLarge):
		f.Code, f.Message = codeTooLarge, fmt.Sprintf("the answer of %s is larger than %d MiB", host, maxResponse>>20)
	case errors.Is(err, outbound.ErrHeaders):
		f.Code, f.Message = codeTooLarge, fmt.Sprintf("the headers of the answer of %s are larger than %d KiB", host, outbound.MaxHeaderBytes>>10)
	case fault.Kind == "dns":
		f.Code, f.Message = codeConnect, fmt.Sprintf("no host named %s is known; check the url", host)
	case fault.Kind == "resolver":
		f.Code, f.Message = codeConnect, fmt.Sprintf("cannot look up %s: the name server is not reachable or fails", host)
	case fault.Kind == "timeout":
		f.Code, f.Message = codeTimeout, fmt.Sprintf("%s did not answer in time", host)
	case strings.HasPrefix(fault.Kind, "certificate"):
		f.Code, f.Message = codeCertificate, fmt.Sprintf("the certificate of %s is not trusted: %s", host, outbound.CertificateProblem(err))
	case fault.Kind == "tls":
		f.Code, f.Message = codeCertificate, fmt.Sprintf("%s does not support the required TLS version; check whether the url must begin with http://", host)
	case f.NotSent && fault.Kind == "errno":
		f.Code, f.Message = codeConnect, fmt.Sprintf("cannot connect to %s: %s", host, fault.Reason)
	case f.NotSent:
		f.Code, f.Message = codeConnect, fmt.Sprintf("cannot connect to %s", host)
	default:
		f.Code, f.Message = codeConnect, fmt.Sprintf("%s closed the connection before the response was complete", host)
	}
	return f
}

// partFile is a stored file that a part sends.
type partFile struct {
	name, kind string
	content    []byte
}

// openFiles returns the files named by parts. Only files that arrived with the delivery
// that started the run are available, so an id from elsewhere is useless.
func openFiles(ctx context.Context, d Dependencies, task *blueprint.Task, parts []httpPart) ([]partFile, error) {
	files := make([]partFile, len(parts))
	var missing *blueprint.MissingGrant
	for i, part := range parts {
		if part.FileID == "" {
			continue
		}
		place := fmt.Sprintf("multipart[%d].fileId", i)
		if d.Files == nil {
			return nil, badConfigf(place, "is not the id of a file: there are no files in this run")
		}
		file, content, err := d.Files(ctx, task.Authority, task.ExecutionID, part.FileID)
		switch {
		case blueprint.CodeOf(err) == blueprint.CodeNotFound:
			return nil, badConfigf(place, "is not the id of a file that arrived with the delivery that started this run")
		case errors.As(err, &missing):
			return nil, missing
		case err != nil:
			return nil, &blueprint.Failure{Code: codeFile, Message: place + ": the file cannot be read now", NotSent: true}
		}
		files[i] = partFile{file.Name, file.ContentType, content}
	}
	return files, nil
}

// httpExchange is one attempt of a node: a request, or one for each page.
type httpExchange struct {
	d         Dependencies
	task      *blueprint.Task
	c         *httpConfig
	ctx       context.Context
	hops      *outbound.Hops
	conn      *blueprint.OpenConnection // nil without one
	remaining int64                     // of maxResponse
}

func exchange(ctx context.Context, d Dependencies, task *blueprint.Task, c *httpConfig) (result blueprint.Result, err error) {
	ctx, cancel := withDefaultTimeout(ctx, httpTimeout)
	defer cancel()
	x := &httpExchange{d: d, task: task, c: c, ctx: ctx, remaining: maxResponse}
	first, err := x.request(&page{number: 1}) // before a sign-in is requested for a bad config
	if err != nil {
		return result, err
	}
	if x.ctx, x.conn, err = httpConnection(ctx, task, c.ConnectionID); err != nil {
		return result, err
	}
	x.ctx, x.hops = outbound.RecordHops(x.ctx)
	output, err := x.allPages(first)
	if err == nil {
		result.Output = output
	}
	for _, hop := range x.hops.List() {
		if hop.Sent {
			result.Calls = append(result.Calls, blueprint.Call{Host: hop.Host, Status: hop.Status})
		}
	}
	return result, err
}

// fetch sends one request and returns the response, its body closed, and the output.
func (x *httpExchange) fetch(request *http.Request) (*http.Response, map[string]any, error) {
	response, err := x.d.HTTP.Do(request.WithContext(x.ctx))
	if err != nil {
		return nil, nil, requestFailure(x.ctx, err, x.hops)
	}
	defer response.Body.Close()
	if !x.c.expects(response.StatusCode) {
		outbound.Drain(response.Body)
		return nil, nil, statusFailure(response, x.c, x.d.Clock.Now())
	}
	data, err := outbound.ReadAll(response.Body, x.remaining)
	if errors.Is(err, outbound.ErrTooLarge) && x.c.pages != nil {
		return nil, nil, &blueprint.Failure{
			Code:    codeTooLarge,
			Message: fmt.Sprintf("the pages of %s are larger than %d MiB in total; reduce maxPages", request.URL.Host, maxResponse>>20),
		}
	}
	if err != nil {
		return nil, nil, requestFailure(x.ctx, err, x.hops)
	}
	x.remaining -= int64(len(data))
	return response, responseOutput(response, data), nil
}

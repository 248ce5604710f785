package nodes

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"mime"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strings"

	"blueprintd/blueprint"
)

// closedRequestHeaders are set by whoever writes the request onto the wire; a
// value from a config could make the server see another request than was sent.
var closedRequestHeaders = strings.Fields(`
	accept-encoding connection content-length expect host http2-settings keep-alive te trailer transfer-encoding upgrade`)

func closedInRequests(lower string) bool {
	return slices.Contains(closedRequestHeaders, lower) || strings.HasPrefix(lower, "proxy-")
}

// newRequest builds the request of a config that has been checked.
func newRequest(ctx context.Context, d Dependencies, task *blueprint.Task, c *httpConfig) (*http.Request, error) {
	target, problem := parseURL(c.URL)
	if problem != "" {
		return nil, badConfigf("url", "%s", problem)
	}
	addQuery(target, c.Query)
	header := http.Header{"User-Agent": {d.UserAgent}}
	if task.IdempotencyKey != "" {
		header.Set("Idempotency-Key", task.IdempotencyKey)
	}
	setHeaders(header, c.Headers)
	files, err := openFiles(ctx, d, task, c.Multipart)
	if err != nil {
		return nil, err
	}
	body, kind, err := requestBody(c, files, header.Get("Content-Type"), task.IdempotencyKey)
	if err != nil {
		return nil, err
	}
	if kind != "" && (c.Multipart != nil || !names(c.Headers, "content-type")) {
		header.Set("Content-Type", kind)
	}
	request, err := http.NewRequestWithContext(ctx, strings.ToUpper(c.Method), target.String(), bytes.NewReader(body))
	if err != nil {
		return nil, badConfigf("url", "must be an address such as https://example.com/path")
	}
	request.Header = header
	return request, nil
}

// names tells whether the headers of a config speak of a name.
func names(headers map[string]any, lower string) bool {
	for name := range headers {
		if strings.ToLower(name) == lower {
			return true
		}
	}
	return false
}

// setHeaders applies the headers of a config to those that are sent anyway.
func setHeaders(header http.Header, config map[string]any) {
	for name, value := range config {
		list, several := value.([]any)
		if !several {
			list = []any{value}
		}
		header.Del(name)
		for _, item := range list {
			if item != nil {
				header.Add(name, strings.Trim(render(item), " \t"))
			}
		}
	}
	if len(header["User-Agent"]) == 0 {
		header["User-Agent"] = []string{""} // else net/http names itself
	}
}

// parseURL reads the address of a request. The second result says what is
// wrong with it, without showing it: addresses may hold secrets.
func parseURL(source string) (*url.URL, string) {
	source = strings.TrimSpace(source)
	if !validHeaderValue(source) || strings.Contains(source, "\t") {
		return nil, "must not hold control characters"
	}
	target, err := url.Parse(source)
	switch {
	case err != nil:
		return nil, "must be an address such as https://example.com/path"
	case target.Scheme != "http" && target.Scheme != "https":
		return nil, "must begin with http:// or https://"
	case target.Hostname() == "":
		return nil, "must name a host, as in https://example.com/path"
	case target.User != nil:
		return nil, "must not hold a name and password; send them in the header Authorization"
	}
	target.Fragment, target.RawFragment = "", ""
	target.RawQuery = escapeQuery(target.RawQuery)
	return target, ""
}

// escapeQuery escapes what may not stand in a query as it is; a value put in by
// a template may hold anything.
func escapeQuery(query string) string {
	var out strings.Builder
	for i := range len(query) {
		if c := query[i]; c > ' ' && c < 0x7f && !strings.ContainsRune("\"<>`{}|^\\", rune(c)) {
			out.WriteByte(c)
		} else {
			out.WriteString("%" + strings.ToUpper(hex.EncodeToString([]byte{c})))
		}
	}
	return out.String()
}

func addQuery(target *url.URL, query map[string]any) {
	if encoded := formValues(query).Encode(); encoded != "" {
		if target.RawQuery != "" {
			encoded = strings.TrimSuffix(target.RawQuery, "&") + "&" + encoded
		}
		target.RawQuery = encoded
	}
}

// formValues turns an object into form fields: a list repeats its field, null
// leaves it out, an object is written as JSON.
func formValues(object map[string]any) url.Values {
	values := url.Values{}
	for name, value := range object {
		list, several := value.([]any)
		if !several {
			list = []any{value}
		}
		for _, item := range list {
			if item != nil {
				values.Add(name, render(item))
			}
		}
	}
	return values
}

// requestBody gives the body and the content type that belongs to it.
func requestBody(c *httpConfig, files []partFile, chosen, seed string) (body []byte, kind string, err error) {
	if c.Multipart != nil {
		return multipartBody(c.Multipart, files, seed)
	}
	switch value := c.Body.Value.(type) {
	case nil:
		return nil, "", nil
	case string:
		return []byte(value), "text/plain; charset=utf-8", nil
	case map[string]any:
		if name, _, _ := mime.ParseMediaType(chosen); name == "application/x-www-form-urlencoded" {
			return []byte(formValues(value).Encode()), name, nil
		}
	}
	data, err := blueprint.Encode(c.Body.Value)
	if err != nil {
		return nil, "", badConfigf("body", "cannot be written as JSON")
	}
	return data, "application/json", nil
}

// multipartBody writes the parts. The boundary depends on all of them, so no
// content can hold it, and the same request has the same bytes.
func multipartBody(parts []httpPart, files []partFile, seed string) ([]byte, string, error) {
	digest := sha256.New()
	digest.Write([]byte(seed))
	for i, part := range parts {
		content := sha256.Sum256([]byte(part.Name + "\x00" + part.Filename + "\x00" + render(part.Value.Value)))
		digest.Write(content[:])
		content = sha256.Sum256(files[i].content)
		digest.Write(content[:])
	}
	var buffer bytes.Buffer
	writer := multipart.NewWriter(&buffer)
	if err := writer.SetBoundary("part-" + hex.EncodeToString(digest.Sum(nil)[:24])); err != nil {
		return nil, "", badConfigf("multipart", "cannot be written")
	}
	for i, part := range parts {
		data, kind := files[i].content, files[i].kind
		if part.FileID == "" {
			data, kind = []byte(render(part.Value.Value)), ""
		} else if part.Filename == "" {
			part.Filename = files[i].name
		}
		header := textproto.MIMEHeader{"Content-Disposition": {`form-data; name="` + escapeParameter(part.Name) + `"`}}
		if part.Filename != "" {
			header["Content-Disposition"][0] += `; filename="` + escapeParameter(part.Filename) + `"`
		}
		if _, isText := part.Value.Value.(string); kind != "" {
			header.Set("Content-Type", kind)
		} else if !isText {
			header.Set("Content-Type", "application/json")
		} else if part.Filename != "" {
			header.Set("Content-Type", "application/octet-stream")
		}
		content, err := writer.CreatePart(header)
		if err == nil {
			_, err = content.Write(data)
		}
		if err != nil {
			return nil, "", badConfigf("multipart", "cannot be written")
		}
	}
	if err := writer.Close(); err != nil {
		return nil, "", badConfigf("multipart", "cannot be written")
	}
	return buffer.Bytes(), writer.FormDataContentType(), nil
}

// escapeParameter escapes what would end a quoted name, as browsers do.
func escapeParameter(name string) string {
	return strings.NewReplacer(`"`, "%22", "\r", "%0D", "\n", "%0A").Replace(name)
}

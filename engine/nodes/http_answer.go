package nodes

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/foundation/outbound"
)

// statusRange is a run of statuses that are expected.
type statusRange struct{ from, to int }

func (c *httpConfig) expects(status int) bool {
	for _, expected := range c.expected {
		if status >= expected.from && status <= expected.to {
			return true
		}
	}
	return false
}

// parseStatuses reads expectStatus.
func parseStatuses(value any, r *report) ([]statusRange, bool) {
	list, ok := value.([]any)
	if !ok {
		list = []any{value}
	}
	var ranges []statusRange
	for _, item := range list {
		if r.open(item) {
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

// responseOutput is the output of a node that got the answer it expected.
func responseOutput(response *http.Response, data []byte) map[string]any {
	headers := map[string]any{}
	for name, values := range response.Header {
		name = strings.ToLower(name)
		if name == "set-cookie" { // joined, cookies could not be told apart
			list := make([]any, len(values))
			for i, value := range values {
				list[i] = plainText(value)
			}
			headers[name] = list
			continue
		}
		headers[name] = plainText(strings.Join(values, ", "))
	}
	output := map[string]any{"status": json.Number(strconv.Itoa(response.StatusCode)), "headers": headers}
	body, encoded := responseBody(response.Header.Get("Content-Type"), data)
	output["body"] = body
	if encoded {
		output["bodyEncoding"] = "base64"
	}
	return output
}

// plainText keeps header bytes that are no UTF-8 from becoming invalid JSON.
func plainText(value string) string { return strings.ToValidUTF8(value, "\uFFFD") }

// responseBody reads a body by its content type and charset. What claims to be
// JSON and is not stays text. The second result reports whether the body is base64.
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

package outbound

import (
	"net/http"
	"strings"

	"blueprintd/blueprint"
)

// redacted stands for the value of a header that may be a credential.
const redacted = "***"

// credentials are the headers whose values nobody may keep.
var credentials = map[string]bool{
	"authorization": true, "proxy-authorization": true, "cookie": true, "set-cookie": true, "x-api-key": true, "api-key": true, "x-auth-token": true,
	"x-access-token": true, "x-csrf-token": true, "private-token": true,
}

// RequestOf gives a request, whose body was read, as an exchange keeps it: the
// values of headers that hold credentials are "***", and a name and
// password in the address are left out.
func RequestOf(request *http.Request, body []byte) blueprint.ExchangeRequest {
	address := *request.URL
	address.User = nil
	return blueprint.ExchangeRequest{
		Method: request.Method, URL: address.String(), Headers: headersOf(request.Header), Body: blueprint.BodyValue(request.Header.Get("Content-Type"), body),
	}
}

// ResponseOf gives an answer as an exchange keeps it, redacted in the same way.
func ResponseOf(status int, header http.Header, body []byte) blueprint.ExchangeResponse {
	return blueprint.ExchangeResponse{Status: status, Headers: headersOf(header), Body: blueprint.BodyValue(header.Get("Content-Type"), body)}
}

func headersOf(header http.Header) map[string]string {
	if len(header) == 0 {
		return nil
	}
	out := make(map[string]string, len(header))
	for name, values := range header {
		name = strings.ToLower(name)
		out[name] = strings.Join(values, ", ")
		if credentials[name] {
			out[name] = redacted
		}
	}
	return out
}

package outbound

import (
	"net/http"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/foundation/secret"
)

// RequestOf gives a request, whose body was read, as an exchange keeps it: the
// values of headers that may be credentials are "***", and so are parameters of
// the address with telling names, and a name and password in it.
func RequestOf(request *http.Request, body []byte) blueprint.ExchangeRequest {
	return requestOf(new(secret.Redactor), request, body)
}

func requestOf(r *secret.Redactor, request *http.Request, body []byte) blueprint.ExchangeRequest {
	address := *request.URL
	address.User = nil
	return blueprint.ExchangeRequest{
		Method: request.Method, URL: r.Text(address.String()), Headers: headersOf(r, request.Header), Body: BodyValue(request.Header.Get("Content-Type"), body),
	}
}

// ResponseOf gives an answer as an exchange keeps it, redacted in the same way.
func ResponseOf(status int, header http.Header, body []byte) blueprint.ExchangeResponse {
	return blueprint.ExchangeResponse{Status: status, Headers: headersOf(new(secret.Redactor), header), Body: BodyValue(header.Get("Content-Type"), body)}
}

func headersOf(r *secret.Redactor, header http.Header) map[string]string {
	if len(header) == 0 {
		return nil
	}
	out := make(map[string]string, len(header))
	for name, values := range header {
		name = strings.ToLower(name)
		out[name] = r.Header(name, strings.Join(values, ", "))
	}
	return out
}

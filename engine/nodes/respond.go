package nodes

import (
	"context"
	"slices"
	"strings"

	"blueprintd/blueprint"
)

type respondConfig struct {
	Status  *int64         `key:"status" minimum:"200" maximum:"599" default:"200" doc:"The HTTP status."`
	Headers map[string]any `key:"headers" form:"header" doc:"The headers of the response, by name."`
	Body    anyValue       `key:"body" doc:"The body: a string is sent as text, any other value as JSON. Default: empty."`
}

func respond() *blueprint.NodeType {
	return define(definition[respondConfig]{
		name:        "respond",
		category:    "flow",
		order:       7,
		passesInput: true,
		quick:       true,
		title:       "Respond",
		description: "Responds to the webhook request that waits for the run, which then continues. Only the first response of a run is sent. The output is the input.",
		example:     `{"status": 201, "headers": {"X-Order": "{{inputData.id ?? \"none\"}}"}, "body": {"accepted": true}}`,
		check: func(c *respondConfig, r *report) {
			checkHeaders(c.Headers, r, false, isReservedResponseHeader)
		},
		run: func(_ context.Context, _ *blueprint.Task, c *respondConfig) (blueprint.Result, error) {
			response := &blueprint.Response{Status: int(numberOr(c.Status, 200)), Body: c.Body.Value}
			if !c.Body.Given {
				response.Body = ""
			}
			for name, value := range c.Headers {
				if response.Headers == nil {
					response.Headers = map[string]string{}
				}
				if value != nil {
					response.Headers[name] = render(value)
				}
			}
			return blueprint.Result{Respond: response}, nil
		},
	})
}

// Responses share the origin of the dashboard, so they must not set its cookies, ask
// for passwords, loosen browser policies, or change how the connection is read.
var (
	reservedResponseHeaders = strings.Fields(`
		alt-svc clear-site-data connection content-encoding content-length date host keep-alive nel origin-agent-cluster
		permissions-policy referrer-policy refresh report-to reporting-endpoints server service-worker-allowed set-cookie
		set-cookie2 sourcemap strict-transport-security te trailer transfer-encoding upgrade www-authenticate
		x-content-type-options x-frame-options x-permitted-cross-domain-policies x-ua-compatible x-xss-protection`)
	reservedResponsePrefixes = []string{"access-control-", "content-security-policy", "cross-origin-", "proxy-", "sec-"}
)

func isReservedResponseHeader(lower string) bool {
	return slices.Contains(reservedResponseHeaders, lower) ||
		slices.ContainsFunc(reservedResponsePrefixes, func(prefix string) bool { return strings.HasPrefix(lower, prefix) })
}

package blueprint

import "encoding/json"

// ConnectionForm is what a form needs to know of a type of connection.
type ConnectionForm struct {
	Type        ConnectionType
	Title       string
	Description string
	// Schema is the JSON Schema of the config, as a plain JSON value. Its x-order
	// is the order of the keys; each has a title, a description and an x-kind:
	// text, secret, url, host, hosts, list, number, duration-ms, choice, email,
	// connection or auth. The ways of auth are the alternatives of its oneOf, told apart by type.
	Schema map[string]any
}

// formField is what a form says of one key of a config; what must be given and
// what is secret stands in the shapes.
type formField struct {
	title, doc, kind string
	choices          []string
	standard         any
}

var connectionTitles = map[ConnectionType][2]string{
	ConnectionAIProvider: {"AI provider", "A provider of language models, for AI prompts."},
	ConnectionMCPServer:  {"MCP server", "A server of tools, for MCP tools and for AI prompts that call tools."},
	ConnectionOAuth2:     {"OAuth 2", "A service where people sign in, or this server for itself; for HTTP requests and MCP servers."},
	ConnectionHTTP:       {"HTTP", "Credentials for HTTP requests to certain hosts."},
	ConnectionSMTP:       {"Mail server", "A server that sends mail."},
	ConnectionSlack:      {"Slack", "A Slack app whose bot posts messages."},
}

// connectionForms describe the keys of connectionShapes, authForms those of
// authShapes.
var connectionForms = map[ConnectionType]map[string]formField{
	ConnectionAIProvider: {
		"provider": {title: "Provider", doc: "Whose protocol is spoken.", kind: "choice", choices: []string{"openai", "anthropic"}},
		"baseUrl":  {title: "Base URL", doc: "Where it is asked, for other servers that speak the same protocol; the provider's own address when not given.", kind: "url"},
		"apiKey":   {title: "API key", doc: "The key of the provider.", kind: "secret"},
	},
	ConnectionMCPServer: {
		"url":       {title: "URL", doc: "The address of the server.", kind: "url"},
		"auth":      {title: "Authentication", doc: "How requests prove who we are.", kind: "auth"},
		"timeoutMs": {title: "Time limit", doc: "How long a call may take, in milliseconds.", kind: "duration-ms"},
	},
	ConnectionOAuth2: {
		"flow":             {title: "Flow", doc: "authorization_code: people sign in, each for themselves; client_credentials: this server signs in for everybody.", kind: "choice", choices: []string{"authorization_code", "client_credentials"}},
		"authorizationUrl": {title: "Authorization URL", doc: "Where people sign in; needed for authorization_code.", kind: "url"},
		"tokenUrl":         {title: "Token URL", doc: "Where tokens are given out.", kind: "url"},
		"clientId":         {title: "Client id", doc: "What the service calls this server.", kind: "text"},
		"clientSecret":     {title: "Client secret", doc: "What proves it; a public client has none.", kind: "secret"},
		"scopes":           {title: "Scopes", doc: "What is asked for.", kind: "list"},
		"hosts":            {title: "Hosts", doc: "Where the tokens may go: host, host:port or *.domain; the hosts of the sign-in when none is given.", kind: "hosts"},
	},
	ConnectionHTTP: {
		"auth":  {title: "Authentication", doc: "How requests prove who we are.", kind: "auth"},
		"hosts": {title: "Hosts", doc: "Where the credentials may go: host, host:port or *.domain.", kind: "hosts"},
	},
	ConnectionSMTP: {
		"host":     {title: "Host", doc: "The server that takes the mail.", kind: "host"},
		"port":     {title: "Port", doc: "587 for starttls, 465 for tls, as a rule.", kind: "number", standard: json.Number("587")},
		"username": {title: "User name", doc: "Who signs in there; needed beside a password.", kind: "text"},
		"password": {title: "Password", doc: "The password of that user.", kind: "secret"},
		"tls":      {title: "Encryption", doc: "starttls: after the greeting; tls: from the start; none: anybody on the way can read it.", kind: "choice", choices: []string{"starttls", "tls", "none"}, standard: "starttls"},
		"from":     {title: "From", doc: "Who the mail is from, such as Shop <shop@example.org>.", kind: "email"},
	},
	ConnectionSlack: {
		"botToken": {title: "Bot token", doc: "The token of the app's bot, which begins with xoxb-.", kind: "secret"},
		"baseUrl":  {title: "Base URL", doc: "Where Slack is asked; its own address when not given.", kind: "url"},
	},
}

var authTitles = map[string]string{
	"none": "None", "bearer": "Bearer token", "basic": "User name and password", "header": "Header", "query": "Query parameter", "oauth2": "OAuth 2 connection",
}

var authForms = map[string]map[string]formField{
	"none":   {},
	"bearer": {"token": {title: "Token", doc: "What follows the word Bearer.", kind: "secret"}},
	"basic": {
		"username": {title: "User name", doc: "Without a colon.", kind: "text"},
		"password": {title: "Password", doc: "The password of that user.", kind: "secret"},
	},
	"header": {
		"name":  {title: "Name", doc: "The name of the header, such as X-Api-Key.", kind: "text"},
		"value": {title: "Value", doc: "What it holds.", kind: "secret"},
	},
	"query": {
		"name":  {title: "Name", doc: "The name of the parameter.", kind: "text"},
		"value": {title: "Value", doc: "What it holds.", kind: "secret"},
	},
	"oauth2": {"connectionId": {title: "Connection", doc: "A connection of type oauth2 whose tokens are sent.", kind: "connection"}},
}

// ConnectionForms describes every type of connection, in the order in which
// people are told of them.
func ConnectionForms() []ConnectionForm {
	out := make([]ConnectionForm, len(ConnectionTypes))
	for i, kind := range ConnectionTypes {
		out[i] = ConnectionForm{kind, connectionTitles[kind][0], connectionTitles[kind][1], formSchema(connectionShapes[kind], connectionForms[kind])}
	}
	return out
}

// formSchema makes the schema of the keys of a shape.
func formSchema(shape []configField, forms map[string]formField) map[string]any {
	properties, order, required := map[string]any{}, []any{}, []any{}
	for _, field := range shape {
		properties[field.name] = forms[field.name].schema(field.secret)
		order = append(order, field.name)
		if field.required {
			required = append(required, field.name)
		}
	}
	return map[string]any{"type": "object", "properties": properties, "x-order": order, "required": required, "additionalProperties": false}
}

func (f formField) schema(secret bool) map[string]any {
	schema := map[string]any{"type": "string"}
	switch f.kind {
	case "choice":
		choices := make([]any, len(f.choices))
		for i, choice := range f.choices {
			choices[i] = choice
		}
		schema["enum"] = choices
	case "number", "duration-ms":
		schema = map[string]any{"type": "integer", "minimum": json.Number("1")}
	case "list", "hosts":
		schema = map[string]any{"type": "array", "items": map[string]any{"type": "string"}, "maxItems": json.Number("100")}
	case "connection":
		schema["x-connection-types"] = []any{string(ConnectionOAuth2)}
	case "auth":
		schema = authSchema()
	}
	schema["title"], schema["description"], schema["x-kind"] = f.title, f.doc, f.kind
	if secret {
		schema["writeOnly"] = true
	}
	if f.standard != nil {
		schema["default"] = f.standard
	}
	return schema
}

// authSchema has an alternative for each type of auth.
func authSchema() map[string]any {
	alternatives := []any{}
	for _, kind := range authTypes {
		one := formSchema(authShapes[kind], authForms[kind])
		one["title"] = authTitles[kind]
		one["properties"].(map[string]any)["type"] = map[string]any{"const": kind}
		one["required"] = append(one["required"].([]any), "type")
		alternatives = append(alternatives, one)
	}
	return map[string]any{"type": "object", "oneOf": alternatives}
}

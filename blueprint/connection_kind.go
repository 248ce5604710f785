package blueprint

import (
	"encoding/json"
	"slices"
)

// ConnectionType is the kind of service that a connection is for.
type ConnectionType string

// The connection types.
const (
	ConnectionAIProvider ConnectionType = "ai-provider"
	ConnectionMCPServer  ConnectionType = "mcp-server"
	ConnectionOAuth2     ConnectionType = "oauth2"
	ConnectionHTTP       ConnectionType = "http"
	ConnectionSMTP       ConnectionType = "smtp"
	ConnectionSlack      ConnectionType = "slack"
)

// connectionKind defines the config of a connection type. Package connections uses them.
type connectionKind struct {
	of         ConnectionType
	title, doc string
	fields     []configField
	// placeholder returns a config without real hosts and secrets, for offline runs.
	placeholder func() map[string]any
	// check finds issues that involve several fields; may be nil.
	check func(config map[string]any) []Issue
	// moved returns further keys whose change redirects secrets; may be nil.
	moved func(before, after map[string]any) []string
}

// configField is one key of a config: its rules and its description in a form.
type configField struct {
	name     string
	required bool
	secret   bool
	// moves reports whether a change redirects secrets: to another place or account,
	// or less securely; nil is never.
	moves moves
	check fieldCheck

	title, doc, kind string
	choices          []string
	standard         any
}

// moves reports whether a change of a value redirects secrets. A nil value is absent.
type moves func(before, after any) bool

// placeholderSecret is the value of secrets in placeholders.
const placeholderSecret = "sandbox"

// connectionKinds are in the order of the documentation.
var connectionKinds = []connectionKind{
	{
		of: ConnectionAIProvider, title: "AI provider", doc: "A provider of language models, for AI prompts.",
		fields: []configField{
			{
				name: "provider", required: true, moves: anyChange, check: oneOf("openai", "anthropic"),
				title: "Provider", doc: "The protocol of the provider.", kind: "choice", choices: []string{"openai", "anthropic"},
			},
			{
				name: "baseUrl", moves: anyChange, check: webAddress,
				title: "Base URL", doc: "The address of another server with the same protocol. Default: the provider's own.", kind: "url",
			},
			{
				name: "apiKey", required: true, secret: true, check: headerSecret,
				title: "API key", doc: "The API key issued by the provider.", kind: "secret",
			},
		},
		placeholder: func() map[string]any {
			return map[string]any{"provider": "openai", "apiKey": placeholderSecret}
		},
	},
	{
		of: ConnectionMCPServer, title: "MCP server", doc: "A server that offers tools, for MCP tools and AI prompts.",
		fields: []configField{
			{
				name: "url", required: true, moves: anyChange, check: webAddress,
				title: "URL", doc: "The address of the server.", kind: "url",
			},
			{
				name: "auth", check: authObject,
				title: "Authentication", doc: "How requests authenticate.", kind: "auth",
			},
			{
				name: "timeoutMs", check: wholeNumber(1, 3_600_000),
				title: "Time limit", doc: "The maximum duration of a call, in milliseconds.", kind: "duration-ms",
			},
		},
		placeholder: func() map[string]any {
			return map[string]any{"url": "https://mcp.example.com/mcp"}
		},
	},
	{
		of: ConnectionOAuth2, title: "OAuth 2", doc: "A service where users sign in, or this server does so itself; for HTTP requests and MCP servers.",
		fields: []configField{
			{
				name: "flow", required: true, moves: anyChange, check: oneOf("authorization_code", "client_credentials"),
				title: "Flow", doc: "authorization_code: each user signs in. client_credentials: this server signs in once for all.", kind: "choice", choices: []string{"authorization_code", "client_credentials"},
			},
			{
				name: "authorizationUrl", moves: anyChange, check: safeAddress,
				title: "Authorization URL", doc: "The page where users sign in. Required for authorization_code.", kind: "url",
			},
			{
				name: "tokenUrl", required: true, moves: anyChange, check: safeAddress,
				title: "Token URL", doc: "The endpoint that issues tokens.", kind: "url",
			},
			{
				name: "clientId", required: true, moves: anyChange, check: plainText,
				title: "Client ID", doc: "The ID that the service gave to this server.", kind: "text",
			},
			{
				name: "clientSecret", secret: true, check: password,
				title: "Client secret", doc: "The secret of the client ID. A public client has none.", kind: "secret",
			},
			{
				name: "scopes", check: listOf(scope),
				title: "Scopes", doc: "The permissions to request.", kind: "list",
			},
			{
				name: "hosts", check: listOf(hostForm), // see OAuthHosts
				title: "Hosts", doc: "Where tokens may be sent: host, host:port or *.domain. Without hosts, HTTP requests that name this connection may send them to any host; a token that the members of an organization share goes only to the hosts of the sign-in.", kind: "hosts",
			},
		},
		placeholder: noCredentials,
		check: func(config map[string]any) []Issue {
			if config["flow"] == "authorization_code" && config["authorizationUrl"] == nil {
				return []Issue{{Path: []any{"authorizationUrl"}, Message: "required for authorization_code"}}
			}
			return nil
		},
		moved: func(before, after map[string]any) []string {
			unlimited := OAuthAnyHost(after) && !OAuthAnyHost(before)
			if unlimited || uncoveredHost(OAuthHosts(before), OAuthHosts(after)) {
				return []string{"hosts"}
			}
			return nil
		},
	},
	{
		of: ConnectionHTTP, title: "HTTP", doc: "Credentials for HTTP requests to certain hosts.",
		fields: []configField{
			{
				name: "auth", required: true, check: authObject,
				title: "Authentication", doc: "How requests authenticate.", kind: "auth",
			},
			{
				name: "hosts", required: true, moves: widened, check: someOf(hostForm),
				title: "Hosts", doc: "Where the credentials may be sent: host, host:port or *.domain.", kind: "hosts",
			},
		},
		placeholder: noCredentials,
	},
	{
		of: ConnectionSMTP, title: "Mail server", doc: "A server that sends mail.",
		fields: []configField{
			{
				name: "host", required: true, moves: anyChange, check: hostOnly,
				title: "Host", doc: "The mail server.", kind: "host",
			},
			{
				name: "port", required: true, moves: anyChange, check: wholeNumber(1, 65535),
				title: "Port", doc: "Usually 587 for starttls and 465 for tls.", kind: "number", standard: json.Number("587"),
			},
			{
				name: "username", moves: anyChange, check: plainText,
				title: "User name", doc: "The account on the mail server. Required with a password.", kind: "text",
			},
			{
				name: "password", secret: true, check: password,
				title: "Password", doc: "The password of the user.", kind: "secret",
			},
			{
				name: "tls", required: true, moves: anyChange, check: oneOf("starttls", "tls", "none"),
				title: "Encryption", doc: "starttls: after connecting in plain text. tls: from the start. none: mail is sent unencrypted.", kind: "choice", choices: []string{"starttls", "tls", "none"}, standard: "starttls",
			},
			{
				name: "from", required: true, check: mailAddress,
				title: "From", doc: "The sender of mail, such as Shop <shop@example.org>.", kind: "email",
			},
		},
		placeholder: func() map[string]any {
			return map[string]any{"host": "smtp.example.com", "port": json.Number("587"), "tls": "starttls", "from": "sender@example.com"}
		},
		check: func(config map[string]any) []Issue {
			if config["password"] != nil && config["username"] == nil {
				return []Issue{{Path: []any{"username"}, Message: "required beside password"}}
			}
			return nil
		},
	},
	{
		of: ConnectionSlack, title: "Slack", doc: "A Slack app whose bot posts messages.",
		fields: []configField{
			{
				name: "botToken", required: true, secret: true, check: headerSecret,
				title: "Bot token", doc: "The app's bot token, which begins with xoxb-.", kind: "secret",
			},
			{
				name: "baseUrl", moves: anyChange, check: webAddress,
				title: "Base URL", doc: "The address of Slack's API. Default: Slack's own.", kind: "url",
			},
		},
		placeholder: func() map[string]any {
			return map[string]any{"botToken": placeholderSecret}
		},
	},
}

type authKind struct {
	name, title string
	fields      []configField // besides type
}

// authKinds are in the order of the documentation. A change of a name redirects the
// secret, because services may log or show it under another name.
var authKinds = []authKind{
	{name: "none", title: "None", fields: []configField{}},
	{name: "bearer", title: "Bearer token", fields: []configField{
		{
			name: "token", required: true, secret: true, check: headerSecret,
			title: "Token", doc: "The token after the word Bearer.", kind: "secret",
		},
	}},
	{name: "basic", title: "User name and password", fields: []configField{
		{
			name: "username", required: true, moves: anyChange, check: basicUser,
			title: "User name", doc: "Without a colon.", kind: "text",
		},
		{
			name: "password", required: true, secret: true, check: password,
			title: "Password", doc: "The password of the user.", kind: "secret",
		},
	}},
	{name: "header", title: "Header", fields: []configField{
		{
			name: "name", required: true, moves: anyChange, check: headerName,
			title: "Name", doc: "The name of the header, such as X-Api-Key.", kind: "text",
		},
		{
			name: "value", required: true, secret: true, check: headerSecret,
			title: "Value", doc: "The value that is sent.", kind: "secret",
		},
	}},
	{name: "query", title: "Query parameter", fields: []configField{
		{
			name: "name", required: true, moves: anyChange, check: plainText,
			title: "Name", doc: "The name of the parameter.", kind: "text",
		},
		{
			name: "value", required: true, secret: true, check: password,
			title: "Value", doc: "The value that is sent.", kind: "secret",
		},
	}},
	{name: "oauth2", title: "OAuth 2 connection", fields: []configField{
		{
			name: "connectionId", required: true, check: connectionID,
			title: "Connection", doc: "A connection of type oauth2 whose tokens are sent.", kind: "connection",
		},
	}},
}

// ConnectionTypes lists every type in the order of the documentation.
var ConnectionTypes = connectionTypes()

func connectionTypes() []ConnectionType {
	types := make([]ConnectionType, len(connectionKinds))
	for i, kind := range connectionKinds {
		types[i] = kind.of
	}
	return types
}

// ConnectionChoices returns the values of enumerated config members by name, with
// "type" for the types of connections and auth. None of them is secret.
func ConnectionChoices() map[string][]string {
	words := map[string][]string{}
	for _, kind := range connectionKinds {
		words["type"] = append(words["type"], string(kind.of))
		for _, field := range kind.fields {
			words[field.name] = append(words[field.name], field.choices...)
		}
	}
	for _, auth := range authKinds {
		words["type"] = append(words["type"], auth.name)
	}
	return words
}

// first returns the first element that is wanted, nil without one.
func first[T any](list []T, wanted func(*T) bool) *T {
	for i := range list {
		if wanted(&list[i]) {
			return &list[i]
		}
	}
	return nil
}

// connectionKindOf returns the kind of a type, nil for an unknown type.
func connectionKindOf(of ConnectionType) *connectionKind {
	return first(connectionKinds, func(kind *connectionKind) bool { return kind.of == of })
}

// connectionFields returns the fields of a type, nil for an unknown type.
func connectionFields(of ConnectionType) []configField {
	if kind := connectionKindOf(of); kind != nil {
		return kind.fields
	}
	return nil
}

func authKindOf(name string) *authKind {
	return first(authKinds, func(kind *authKind) bool { return kind.name == name })
}

func fieldOf(shape []configField, name string) *configField {
	return first(shape, func(f *configField) bool { return f.name == name })
}

// authShape returns the keys of an auth object, nil for an unknown type.
func authShape(auth any) []configField {
	object, _ := auth.(map[string]any)
	kind, _ := object["type"].(string)
	if auth := authKindOf(kind); auth != nil {
		return auth.fields
	}
	return nil
}

func anyChange(before, after any) bool { return !Equal(before, after) }

// widened reports whether a list of hosts has one that the previous list did not cover.
func widened(before, after any) bool { return uncoveredHost(TextsOf(before), TextsOf(after)) }

func uncoveredHost(known, hosts []string) bool {
	return slices.ContainsFunc(hosts, func(host string) bool { return !HostsCover(known, host) })
}

// TextsOf returns the strings in a list.
func TextsOf(value any) (texts []string) {
	list, _ := value.([]any)
	for _, element := range list {
		if text, ok := element.(string); ok {
			texts = append(texts, text)
		}
	}
	return texts
}

// PlaceholderConfig returns a new config for runs that reach no real service.
func PlaceholderConfig(of ConnectionType) map[string]any {
	if kind := connectionKindOf(of); kind != nil {
		return kind.placeholder()
	}
	return noCredentials()
}

// noCredentials returns a config without credentials and hosts.
func noCredentials() map[string]any {
	return map[string]any{"auth": map[string]any{"type": "none"}, "hosts": []any{}}
}

// ConnectionForm describes the form of a connection type.
type ConnectionForm struct {
	Type        ConnectionType
	Title       string
	Description string
	// Schema is the JSON Schema of the config, as a plain JSON value. Its x-order
	// is the order of the keys; each has a title, a description and an x-kind:
	// text, secret, url, host, hosts, list, number, duration-ms, choice, email,
	// connection or auth. The types of auth are alternatives of a oneOf.
	Schema map[string]any
}

// ConnectionForms returns the form of every type in the order of the documentation.
func ConnectionForms() []ConnectionForm {
	out := make([]ConnectionForm, len(connectionKinds))
	for i, kind := range connectionKinds {
		out[i] = ConnectionForm{kind.of, kind.title, kind.doc, formSchema(kind.fields)}
	}
	return out
}

func formSchema(fields []configField) map[string]any {
	properties, order, required := map[string]any{}, []any{}, []any{}
	for _, field := range fields {
		properties[field.name] = field.schema()
		order = append(order, field.name)
		if field.required {
			required = append(required, field.name)
		}
	}
	return map[string]any{"type": "object", "properties": properties, "x-order": order, "required": required, "additionalProperties": false}
}

func (f configField) schema() map[string]any {
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
	if f.secret {
		schema["writeOnly"] = true
	}
	if f.standard != nil {
		schema["default"] = f.standard
	}
	return schema
}

func authSchema() map[string]any {
	alternatives := []any{}
	for _, kind := range authKinds {
		one := formSchema(kind.fields)
		one["title"] = kind.title
		one["properties"].(map[string]any)["type"] = map[string]any{"const": kind.name}
		one["required"] = append(one["required"].([]any), "type")
		alternatives = append(alternatives, one)
	}
	return map[string]any{"type": "object", "oneOf": alternatives}
}

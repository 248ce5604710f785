package blueprint

import (
	"encoding/json"
	"slices"
)

// ConnectionTypes lists every type, in the order in which people are told of
// them.
var ConnectionTypes = []ConnectionType{ConnectionAIProvider, ConnectionMCPServer, ConnectionOAuth2, ConnectionHTTP, ConnectionSMTP, ConnectionSlack}

// configField is one key of a config.
type configField struct {
	name     string
	required bool
	secret   bool
	// moves says that the secrets go somewhere else, for another account, or
	// less safely, once the value is another one.
	moves moves
	check fieldCheck
}

// moves tells whether a change of one value sends secrets where they were not
// meant to go; nil is never. before is nil when there was no value, after when
// there will be none.
type moves func(before, after any) bool

// connectionShapes are the configs of the types, key by key.
var connectionShapes = map[ConnectionType][]configField{
	ConnectionAIProvider: {
		{name: "provider", required: true, moves: anyChange, check: oneOf("openai", "anthropic")},
		{name: "baseUrl", moves: anyChange, check: webAddress},
		{name: "apiKey", required: true, secret: true, check: headerSecret},
	},
	ConnectionMCPServer: {
		{name: "url", required: true, moves: anyChange, check: webAddress},
		{name: "auth", check: authObject},
		{name: "timeoutMs", check: wholeNumber(1, 3_600_000)},
	},
	ConnectionOAuth2: {
		{name: "flow", required: true, moves: anyChange, check: oneOf("authorization_code", "client_credentials")},
		{name: "authorizationUrl", moves: anyChange, check: safeAddress},
		{name: "tokenUrl", required: true, moves: anyChange, check: safeAddress},
		{name: "clientId", required: true, moves: anyChange, check: plainText},
		{name: "clientSecret", secret: true, check: password},
		{name: "scopes", check: listOf(scope)},
		{name: "hosts", check: listOf(hostForm)}, // where tokens may go; see OAuthHosts
	},
	ConnectionHTTP: {
		{name: "auth", required: true, check: authObject},
		{name: "hosts", required: true, moves: widened, check: someOf(hostForm)},
	},
	ConnectionSMTP: {
		{name: "host", required: true, moves: anyChange, check: hostOnly},
		{name: "port", required: true, moves: anyChange, check: wholeNumber(1, 65535)},
		{name: "username", moves: anyChange, check: plainText},
		{name: "password", secret: true, check: password},
		{name: "tls", required: true, moves: anyChange, check: oneOf("starttls", "tls", "none")},
		{name: "from", required: true, check: mailAddress},
	},
	ConnectionSlack: {
		{name: "botToken", required: true, secret: true, check: headerSecret},
		{name: "baseUrl", moves: anyChange, check: webAddress},
	},
}

// authShapes are the keys that auth has besides type. Under another name a secret
// may be what services log and show, so a name is part of where it goes.
var authShapes = map[string][]configField{
	"none":   {},
	"bearer": {{name: "token", required: true, secret: true, check: headerSecret}},
	"basic":  {{name: "username", required: true, moves: anyChange, check: basicUser}, {name: "password", required: true, secret: true, check: password}},
	"header": {{name: "name", required: true, moves: anyChange, check: headerName}, {name: "value", required: true, secret: true, check: headerSecret}},
	"query":  {{name: "name", required: true, moves: anyChange, check: plainText}, {name: "value", required: true, secret: true, check: password}},
	"oauth2": {{name: "connectionId", required: true, check: connectionID}},
}

// authTypes are the keys of authShapes, in the order in which people are told
// of them.
var authTypes = []string{"none", "bearer", "basic", "header", "query", "oauth2"}

func fieldOf(shape []configField, name string) *configField {
	if i := slices.IndexFunc(shape, func(f configField) bool { return f.name == name }); i >= 0 {
		return &shape[i]
	}
	return nil
}

// authShape gives the keys of an auth object, nil when it is none of a known
// type.
func authShape(auth any) []configField {
	object, _ := auth.(map[string]any)
	kind, _ := object["type"].(string)
	return authShapes[kind]
}

func anyChange(before, after any) bool { return !Equal(before, after) }

// widened is a list of hosts with one that the list before did not cover.
func widened(before, after any) bool { return uncoveredHost(textsOf(before), textsOf(after)) }

func uncoveredHost(known, hosts []string) bool {
	return slices.ContainsFunc(hosts, func(host string) bool { return !HostsCover(known, host) })
}

// textsOf gives the texts in a list.
func textsOf(value any) (texts []string) {
	list, _ := value.([]any)
	for _, element := range list {
		if text, ok := element.(string); ok {
			texts = append(texts, text)
		}
	}
	return texts
}

// PlaceholderConfig returns the config of a connection that stands for a real one
// where nothing real is reached: it names no real host, and its secrets are none. The
// caller may change it.
func PlaceholderConfig(kind ConnectionType) map[string]any {
	const secret = "sandbox"
	switch kind {
	case ConnectionAIProvider:
		return map[string]any{"provider": "openai", "apiKey": secret}
	case ConnectionMCPServer:
		return map[string]any{"url": "https://mcp.example.com/mcp"}
	case ConnectionSMTP:
		return map[string]any{"host": "smtp.example.com", "port": json.Number("587"), "tls": "starttls", "from": "sender@example.com"}
	case ConnectionSlack:
		return map[string]any{"botToken": secret}
	}
	return map[string]any{"auth": map[string]any{"type": "none"}, "hosts": []any{}}
}

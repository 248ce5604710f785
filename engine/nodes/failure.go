package nodes

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"blueprintd/blueprint"
	expressions "blueprintd/blueprint/expression"
)

// Codes of failures.
const (
	codeBadConfig   = "bad_config"
	codeExpired     = "expired"
	codeConnection  = "connection_unavailable"
	codeStatus      = "http_status"
	codeConnect     = "connect_failed"
	codeTimeout     = "timeout"
	codeRefused     = "address_refused"
	codeTooLarge    = "too_large"
	codeRedirects   = "too_many_redirects"
	codeCertificate = "tls_failed"
	codeFile        = "file_unavailable"
)

func badConfigf(path, format string, args ...any) *blueprint.Failure {
	return &blueprint.Failure{Code: codeBadConfig, Message: "config: " + path + ": " + fmt.Sprintf(format, args...), Permanent: true}
}

func issueText(issues []blueprint.Issue) string {
	return blueprint.InvalidInput(issues).Message
}

// badAnswer rejects an answer; the run stays paused. Issue paths start at the answer.
func badAnswer(issues ...blueprint.Issue) error {
	for i := range issues {
		issues[i].Path = append([]any{"input"}, issues[i].Path...)
	}
	return blueprint.InvalidInput(issues)
}

// condition evaluates an expression that must be true or false.
func condition(task *blueprint.Task, key string, source expression) (bool, error) {
	value, err := task.Evaluate(string(source))
	if err != nil {
		return false, err
	}
	answer, err := expressions.Boolean(value)
	if err != nil {
		return false, &blueprint.Failure{Code: expressions.CodeNotBoolean, Message: key + ": " + err.Error()}
	}
	return answer, nil
}

// hints are the x-kind of fields; see field.hint.
var hints = map[fieldKind]string{
	textField: "template", stringField: "template", expressionField: "expression", boolField: "boolean", integerField: "number", numberField: "number",
	stringsField: "list", objectField: "object", listField: "list", anyField: "json", schemaField: "json-schema", sourceField: "code", subgraphField: "map",
	itemsField: "expression",
}

// hint adds to the schema of a key how a form shows it:
//
//	title               its label
//	x-kind              template, expression, condition (an expression that must be true or
//	                    false), code, choice, boolean, number, list, object, json, json-schema,
//	                    map, connection, blueprint-id, file-id, duration-ms, instant, event,
//	                    address or header
//	x-lines             true for text of several lines
//	x-suggestions       common values; others are valid too
//	x-connection-types  of a connection, or a list of them: which may be chosen
func (f *field) hint(schema map[string]any) {
	schema["title"] = f.title
	if schema["x-kind"] = hints[f.kind]; f.enum != nil {
		schema["x-kind"] = "choice"
	}
	for _, word := range strings.Fields(f.form) {
		name, value, _ := strings.Cut(word, ":")
		switch name {
		case "lines":
			schema["x-lines"] = true
		case "suggest":
			schema["x-suggestions"] = toAny(strings.Split(value, "|"))
		case "connection":
			schema["x-kind"], schema["x-connection-types"] = name, toAny(strings.Split(value, "|"))
		default:
			schema["x-kind"] = name
		}
	}
}

func toAny(list []string) (out []any) {
	for _, value := range list {
		out = append(out, value)
	}
	return out
}

// titleOf returns the label of a key: "Max tokens" for maxTokens.
func titleOf(key string) string {
	var out strings.Builder
	for i, letter := range strings.TrimSuffix(strings.TrimSuffix(key, "Id"), "Ms") {
		switch {
		case i == 0:
			letter = unicode.ToUpper(letter)
		case unicode.IsUpper(letter):
			out.WriteByte(' ')
			letter = unicode.ToLower(letter)
		}
		out.WriteRune(letter)
	}
	return out.String()
}

func checkConnectionID(id string, r *report) {
	if r.given("connectionId") && !r.isTemplate(id) && !blueprint.IsUUID(id) {
		r.issue("must be the id of a connection, a UUID", "connectionId")
	}
}

// withDefaultTimeout bounds a context without a deadline.
func withDefaultTimeout(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	if _, limited := ctx.Deadline(); limited {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, timeout)
}

func connect(ctx context.Context, task *blueprint.Task, id string, kind blueprint.ConnectionType) (*blueprint.OpenConnection, error) {
	if task.Connect == nil {
		return nil, badConnection("connections are not available here")
	}
	open, err := task.Connect(ctx, id)
	var failure *blueprint.Failure
	switch {
	case errors.As(err, &failure):
		failed := *failure
		failed.NotSent = true
		return nil, &failed
	case err != nil:
		return nil, err
	case open.Type != kind:
		return nil, badConnection(fmt.Sprintf("the %s is of type %s; this needs one of type %s", open.Text(), open.Type, kind))
	}
	return open, nil
}

func badConnection(message string) *blueprint.Failure {
	return &blueprint.Failure{Code: codeConnection, Message: message, Permanent: true, NotSent: true}
}

package nodes

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"blueprintd/blueprint"
)

// The codes of the failures that types of this package report.
const (
	codeBadConfig   = "bad_config"
	codeNotBoolean  = "not_boolean"
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

// badConfig is the failure of a node whose config does not fit once its
// templates are resolved.
func badConfig(issues []blueprint.Issue) *blueprint.Failure {
	return &blueprint.Failure{Code: codeBadConfig, Message: "config: " + issueText(issues), Permanent: true}
}

func badConfigf(path, format string, args ...any) *blueprint.Failure {
	return &blueprint.Failure{Code: codeBadConfig, Message: "config: " + path + ": " + fmt.Sprintf(format, args...), Permanent: true}
}

// issueText writes issues as one line.
func issueText(issues []blueprint.Issue) string {
	parts := make([]string, len(issues))
	for i, issue := range issues {
		parts[i] = issue.Message
		if len(issue.Path) > 0 {
			parts[i] = blueprint.PathText(issue.Path) + ": " + issue.Message
		}
	}
	return strings.Join(parts, "; ")
}

// badAnswer refuses an answer and leaves the run paused. Issue paths start at
// the answer.
func badAnswer(issues ...blueprint.Issue) error {
	for i := range issues {
		issues[i].Path = append([]any{"input"}, issues[i].Path...)
	}
	return &blueprint.Error{Code: blueprint.CodeBadRequest, Message: issueText(issues), Issues: issues}
}

// condition computes an expression that must give true or false.
func condition(task *blueprint.Task, key string, source expression) (bool, error) {
	value, err := task.Evaluate(string(source))
	if err != nil {
		return false, err
	}
	answer, ok := value.(bool)
	if !ok {
		return false, &blueprint.Failure{Code: codeNotBoolean, Message: fmt.Sprintf("%s: must give true or false, and gave %s", key, kindOf(value))}
	}
	return answer, nil
}

// kindOf names the kind of a value, without showing it.
func kindOf(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case string:
		return "a string"
	case []any:
		return "an array"
	case map[string]any:
		return "an object"
	case bool:
		return "a boolean"
	default:
		return "a number"
	}
}

// What a form has to know of a key besides its JSON type; see field.hint.
var hints = map[fieldKind]string{
	textField: "template", stringField: "template", expressionField: "expression", boolField: "boolean", integerField: "number", numberField: "number",
	stringsField: "list", objectField: "object", listField: "list", anyField: "json", schemaField: "json-schema", sourceField: "code", subgraphField: "map",
	itemsField: "expression",
}

// hint adds to the schema of a key what a form shows it as:
//
//	title               its name for people
//	x-kind              template, expression, code, choice, boolean, number, list, object,
//	                    json, json-schema, map, connection, blueprint-id, file-id, duration-ms,
//	                    instant, event, address or header
//	x-lines             true for text of several lines
//	x-suggestions       values that are often meant; others are as good
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
			schema["x-suggestions"] = words(value)
		case "connection":
			schema["x-kind"], schema["x-connection-types"] = name, words(value)
		default:
			schema["x-kind"] = name
		}
	}
}

func words(list string) (out []any) {
	for word := range strings.SplitSeq(list, "|") {
		out = append(out, word)
	}
	return out
}

// titleOf makes a name for people of a key: "Max tokens" of maxTokens,
// "Connection" of connectionId.
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

// checkConnectionID finds what is wrong with the id of a connection.
func checkConnectionID(id string, r *report) {
	if r.given("connectionId") && !r.open(id) && !blueprint.IsUUID(id) {
		r.issue("must be the id of a connection, a UUID", "connectionId")
	}
}

// connect opens a connection that must be of a type.
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

// badConnection is the failure of a node that cannot use its connection.
func badConnection(message string) *blueprint.Failure {
	return &blueprint.Failure{Code: codeConnection, Message: message, Permanent: true, NotSent: true}
}

package jsonschema

import (
	"errors"
	"fmt"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"blueprintd/blueprint"
)

// Schema is a compiled JSON Schema. It is immutable and safe for concurrent use.
type Schema struct {
	root *jsonschema.Schema
	cost *costs
}

// location is the base URI of a schema. It is never fetched.
const location = "schema:///root"

// Compile compiles a plain JSON value: an object, true or false. Errors are
// *blueprint.Error with CodeBadRequest and issues whose paths start at the schema.
func Compile(schema any) (*Schema, error) {
	if issue := oversized(schema); issue != nil {
		return nil, refuse(*issue)
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.UseLoader(noLoader{})
	compiler.UseRegexpEngine((&patterns{known: map[string]*pattern{}}).compile)
	compiler.AssertFormat()
	if err := compiler.AddResource(location, schema); err != nil {
		return nil, refuse(blueprint.Issue{Message: err.Error()})
	}
	root, err := compiler.Compile(location)
	if err != nil {
		return nil, refuse(compileIssues(err, schema)...)
	}
	cost, err := prepare(root)
	if err != nil {
		return nil, refuse(blueprint.Issue{Message: err.Error()})
	}
	return &Schema{root: root, cost: cost}, nil
}

// Validate returns at most MaxIssues issues, nil for a valid value. Paths start at it.
func (s *Schema) Validate(value any) []blueprint.Issue {
	if issue := s.cost.check(s.root, value); issue != nil {
		return []blueprint.Issue{*issue}
	}
	err := s.root.Validate(value)
	if err == nil {
		return nil
	}
	var failed *jsonschema.ValidationError
	if !errors.As(err, &failed) {
		return []blueprint.Issue{{Path: []any{}, Message: "cannot be checked"}}
	}
	return issuesOf(failed, value)
}

// noLoader refuses references out of the schema.
type noLoader struct{}

var errOutside = errors.New("references must stay within the schema")

// Load returns errOutside.
func (noLoader) Load(string) (any, error) { return nil, errOutside }

// refuse returns the error for an invalid schema. The message has the first five issues.
func refuse(issues ...blueprint.Issue) error {
	message := "the schema is not valid"
	for i, issue := range issues {
		if issue.Path == nil {
			issues[i].Path = []any{}
		}
		separator := "; "
		if i == 0 {
			separator = ": "
		}
		message += separator
		if len(issue.Path) > 0 {
			message += blueprint.PathText(issue.Path) + ": "
		}
		message += issue.Message
		if i == 4 && len(issues) > 5 {
			message += fmt.Sprintf("; and %d more", len(issues)-5)
			break
		}
	}
	return &blueprint.Error{Code: blueprint.CodeBadRequest, Message: message, Issues: issues}
}

// compileIssues converts an error of the library for an invalid schema to issues.
func compileIssues(err error, schema any) []blueprint.Issue {
	var (
		invalid *jsonschema.SchemaValidationError
		failed  *jsonschema.ValidationError
		outside *jsonschema.LoadURLError
		draft   *jsonschema.UnsupportedDraftError
		pattern *jsonschema.InvalidRegexError
		pointer *jsonschema.JSONPointerNotFoundError
		anchor  *jsonschema.AnchorNotFoundError
	)
	message := ""
	switch {
	case errors.As(err, &invalid) && errors.As(invalid.Err, &failed):
		return issuesOf(failed, schema)
	case errors.As(err, &outside):
		message = fmt.Sprintf("refers to %q: %v", outside.URL, errOutside)
	case errors.As(err, &draft):
		message = fmt.Sprintf("unknown $schema %q", draft.URL)
	case errors.As(err, &pattern):
		message = fmt.Sprintf("the pattern %q is not valid: %v", blueprint.Shorten(pattern.Regex, maxQuoted), pattern.Err)
	case errors.As(err, &pointer), errors.As(err, &anchor):
		message = "a $ref has no target: " + err.Error()
	default:
		message = err.Error()
	}
	return []blueprint.Issue{{Path: []any{}, Message: message}}
}

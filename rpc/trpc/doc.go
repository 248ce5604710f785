// Package trpc serves procedures over HTTP in the tRPC 11 protocol with the
// superjson transformer, guards every other route that needs an API key, and
// describes procedures as OpenAPI and as a TypeScript type. Its input is a table of
// procedures.
//
// # A procedure
//
// A procedure is one line of a table beside one method:
//
//	trpc.Query("blueprint.list", blueprint.ScopeRead, s.blueprintList),
//	trpc.Mutation("blueprint.create", blueprint.ScopeWrite, s.blueprintCreate),
//	trpc.Subscription("execution.subscribe", blueprint.ScopeRead, s.executionSubscribe),
//	trpc.Public(trpc.Mutation("session.create", blueprint.ScopeAdmin, s.sessionCreate)), // needs no key
//
//	func (s *Service) blueprintList(ctx context.Context, caller *trpc.Caller, in blueprintListInput) (blueprintListOutput, error)
//	func (s *Service) executionSubscribe(ctx context.Context, caller *trpc.Caller, in subscribeInput, emit func(*blueprint.ExecutionStatus) error) error
//
// Query, Mutation and Subscription erase the types once, at start, where
// a wrong table or a wrong input type panics. A method returns a value that
// encodes to JSON, or an error: a *blueprint.Error travels to the caller with
// its code, message, issues and RetryAfter; any other error is logged once
// and answered as "internal error". The context ends when the caller disconnects.
//
// # An input
//
// The input is a struct, filled from the JSON object the caller sent. Unknown
// keys are ignored, keys are case-sensitive, numbers keep their digits. Every
// exported field has a json tag and may have rules:
//
//	type createInput struct {
//		Title  string           `json:"title" check:"required,trim,min=1,max=200"`
//		Status string           `json:"status" check:"enum=draft|published,default=draft"`
//		Tags   []string         `json:"tags" check:"max=50" each:"min=1"`
//		Map    map[string]any   `json:"blueprint_map"`
//		Owner  *string          `json:"owner" check:"uuid"`
//		Note   Optional[string] `json:"note" check:"nullable"`
//	}
//
// Rules of check: required; nullable (null counts as given and empty; for other
// optional fields it counts as absent);
// min=N and max=N (the value of a number, the characters of a string, the
// elements of a list or object); enum=a|b; uuid (in any letter case, converted
// to lower case); trim (removes surrounding white space, before the other rules);
// default=V. The tag each holds the rules for
// the elements of a list or the values of an object. The tag guards marks an
// optional field that restricts rights: an unknown key that is similar to its name, or
// contains one of the words of the tag, is an issue that names the field.
//
// Field types: string, the integer and float kinds, json.Number, bool,
// structs, lists, map[string]T, any (a JSON value passed through untouched,
// null too), and *T or Optional[T] to distinguish absent from given. A struct
// embedded without a json tag contributes its fields. Every issue of an input is
// collected, in the order of the fields, into one CodeBadRequest error.
//
// # The wire
//
// A query is a GET with the input in the query parameter input, a mutation a
// POST with it as body; both hold {"json": value, "meta": annotations}. With
// batch=1 the path names several procedures, joined by commas, and the input
// is an object from position to envelope. A batch runs its calls at the same
// time and promises no order among them. Its status is that of its calls when
// they agree, 207 otherwise. A batch that accepts application/jsonl is
// answered line by line as the calls finish; a subscription is answered as
// server-sent events. In both the status is 200, and errors are inside.
//
// A request is checked in this order: bad escape in the path, content type, size
// of the batch, mixed kinds, connection parameters, unknown procedure (404),
// method (405), key (401), rate limit (429), body (413, 400), input (400),
// and then the errors of the procedure.
//
// Everything here is safe for concurrent use.
package trpc

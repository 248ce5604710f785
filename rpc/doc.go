// Package rpc implements the procedures that programs and the dashboard call, one resource
// a file. Package trpc serves them.
//
// A file has a table of procedures, the interface of the database that they use, and a
// method for each, beside its input and its result:
//
//	trpc.Query("blueprint.list", blueprint.ScopeRead, s.blueprintList),
//
//	func (s *Service) blueprintList(ctx context.Context, caller *trpc.Caller, in blueprintListInput) (blueprintListOutput, error)
//
// Procedures joins the tables. Everything shown of a blueprint or a run passes display.go,
// which removes what the user may not see. A mutation writes one audit entry: see audited.
//
// Everything here is safe for concurrent use.
package rpc

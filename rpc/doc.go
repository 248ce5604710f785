// Package rpc is the API: the procedures that programs and the dashboard call, one
// resource a file. How they are called and answered is the package trpc.
//
// A file has the table of its procedures, what they ask of the database as an
// interface, and a method for each, beside its input and its answer:
//
//	trpc.Query("blueprint.list", blueprint.ScopeRead, s.blueprintList),
//
//	func (s *Service) blueprintList(ctx context.Context, caller *trpc.Caller, in blueprintListInput) (blueprintListOutput, error)
//
// Service has what the methods work with; Procedures is the sum of the tables.
// Everything shown of a blueprint or a run passes display.go, which removes what the
// user may not see. A mutation leaves one line in the audit log: see audited.
//
// Everything here is safe for concurrent use.
package rpc

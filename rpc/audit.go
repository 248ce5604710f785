package rpc

import (
	"context"

	"blueprintd/blueprint"
	"blueprintd/rpc/trpc"
)

// auditStore is what these procedures ask of the database.
type auditStore interface {
	AuditLog(ctx context.Context, p blueprint.Principal, organizationID string, limit, offset int) ([]blueprint.AuditEntry, int, error)
	// NoteAction writes a line of what the database did not note itself, and does not wait for the disk.
	NoteAction(ctx context.Context, entry *blueprint.AuditEntry)
}

func (s *Service) audit() []trpc.Procedure {
	return []trpc.Procedure{trpc.Query("auditLog.list", blueprint.ScopeAdmin, s.auditList)}
}

type auditList struct {
	OrganizationID string `json:"organizationId" check:"uuid"`
	Limit          int    `json:"limit" check:"min=1,max=100,default=20"`
	Offset         int    `json:"offset" check:"min=0,default=0"`
}

type auditPage struct {
	Entries []blueprint.AuditEntry `json:"entries"`
	Total   int                    `json:"total"`
}

// auditList gives what the caller did, or to the admins of an organization what
// anybody did there.
func (s *Service) auditList(ctx context.Context, caller *trpc.Caller, in auditList) (auditPage, error) {
	entries, total, err := s.Store.AuditLog(ctx, caller.Principal, in.OrganizationID, in.Limit, in.Offset)
	if entries == nil {
		entries = []blueprint.AuditEntry{}
	}
	return auditPage{entries, total}, err
}

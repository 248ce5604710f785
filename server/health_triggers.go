package server

import (
	"context"
	"fmt"
	"strings"

	"blueprintd/store"
)

// CheckTriggers tells of the triggers that the server switched off: nothing
// fires them until somebody has looked at them.
func (s *Server) CheckTriggers(ctx context.Context) check {
	return TriggersCheck(s.Store.PausedTriggers(ctx, mostNamed))
}

// TriggersCheck is that of so many triggers in all, the first of which are named.
func TriggersCheck(first []store.PausedTrigger, total int, err error) check {
	c := check{Name: "triggers", OK: true, Detail: "the server keeps none switched off"}
	switch {
	case err != nil:
		return check{Name: c.Name, Detail: "which ones the server keeps switched off could not be looked at: " + err.Error(), Hint: "look at the disk of the database"}
	case total == 0:
		return c
	}
	var names []string
	for _, one := range first {
		names = append(names, one.ID+" ("+one.Short()+")")
	}
	if more := total - len(names); more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	were := "1 trigger was"
	if total > 1 {
		were = fmt.Sprintf("%d triggers were", total)
	}
	c.OK, c.Detail = false, were+" switched off by the server: "+strings.Join(names, ", ")
	c.Hint = "blueprintd why ID tells more; mend the cause, then switch it on with isActive: true, or delete it"
	return c
}

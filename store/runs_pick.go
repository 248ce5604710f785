package store

import (
	"strconv"

	"blueprintd/blueprint"
)

// pickRuns gives those runs of the list ?2 of places that user ?1 may see and a
// filter lets through, in its order. ?8 tells that all of them are within the
// user's reach, but for deleted blueprints and for their own. The title is the
// present one where they may see it, or else that of the run's own version, which
// they ran.
const pickRuns = "SELECT e.seq, " + executionColumns + `,
	CASE WHEN b.deleted_at IS NULL AND (?8 AND e.user_id <> ?1 OR ` + maySee + `) THEN b.title ELSE coalesce(v.title, '') END, coalesce(u.name, ''), coalesce(t.type, '')
	FROM json_each(?2) place CROSS JOIN executions e ON e.seq = place.value JOIN blueprints b ON b.id = e.blueprint_id
	LEFT JOIN blueprint_versions v ON v.blueprint_id = e.blueprint_id AND v.version = e.blueprint_version
	LEFT JOIN users u ON u.id = e.user_id LEFT JOIN triggers t ON t.id = e.trigger_id
	WHERE (?3 = '' OR e.status = ?3) AND (?4 = '' OR e.blueprint_id = ?4) AND (?5 = '' OR e.organization_id = ?5) AND (?6 = '' OR e.trigger_id = ?6)
	AND (?9 = '' OR e.parent_execution_id = ?9)
	AND substr(e.id, 1, length(?7)) = ?7 AND (e.user_id = ?1 OR b.deleted_at IS NULL AND (?8 OR ` + mayManage + `))
	ORDER BY e.created_at DESC, e.seq DESC`

// pick gives the runs at some places that belong on the page, with their places.
func (l *runSearch) pick(chunk []blueprint.RunPosition) (found []blueprint.ListedRun, places []blueprint.RunPosition, err error) {
	list := []byte{'['}
	for i, place := range chunk {
		if i > 0 {
			list = append(list, ',')
		}
		list = strconv.AppendInt(list, place.Seq, 10)
	}
	f := l.filter
	args := []any{l.principal.UserID, string(append(list, ']')), string(f.Status), f.BlueprintID, f.OrganizationID, f.TriggerID, f.Search, l.scoped, f.ParentExecutionID}
	err = l.each(pickRuns, args, func(scan func(...any) error) error {
		one, place, err := scanListedRun(scan)
		found, places = append(found, one), append(places, place)
		return err
	})
	return found, places, err
}

func scanListedRun(scan func(...any) error) (one blueprint.ListedRun, place blueprint.RunPosition, err error) {
	stored := &blueprint.StoredExecution{}
	r := &stored.Row
	var trigger blueprint.TriggerType
	err = scanExecution(func(into ...any) error { return scan(append([]any{&place.Seq}, into...)...) }, r, &one.BlueprintTitle, &one.UserName, &trigger)
	if err != nil {
		return one, place, err
	}
	place.At = r.CreatedAt
	one.Stored, one.ExecutionID, one.LogID, one.BlueprintID, one.BlueprintVersion = stored, r.ID, r.LogID, r.BlueprintID, r.BlueprintVersion
	one.OrganizationID, one.UserID, one.Status, one.StartTime, one.EndTime, one.CreatedAt = r.OrganizationID, r.UserID, r.Status, r.StartTime, r.EndTime, r.CreatedAt
	if r.TriggerID != "" {
		one.TriggerID = &r.TriggerID
	}
	if trigger != "" {
		one.TriggerType = &trigger
	}
	if r.ParentExecutionID != "" {
		one.ParentExecutionID = &r.ParentExecutionID
	}
	if r.EndTime != 0 {
		took := max(0, int64(r.EndTime-r.StartTime))
		one.DurationMs = &took
	}
	return one, place, nil
}

// readRecords reads the records of the runs of a page that have ended, but for
// large and damaged ones.
func readRecords(q *session, runs []blueprint.ListedRun) error {
	room := listedRecords
	for i := range runs {
		stored := runs[i].Stored
		if !stored.Row.Status.Terminal() || room <= 0 {
			continue
		}
		const query = "SELECT CASE WHEN length(record) <= ? THEN record END FROM executions WHERE id = ?"
		if err := q.row(query, []any{min(room, largestListed), stored.Row.ID}, &stored.Record); err != nil {
			return err
		}
		if room -= len(stored.Record); checked(&stored.Record, recordPlace(stored.Row.ID)) != nil {
			stored.Record = nil
		}
	}
	return nil
}

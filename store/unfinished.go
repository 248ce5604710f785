package store

import "blueprintd/blueprint"

// mostUnfinished is how many unfinished runs, of whatever trigger, are looked at
// for those of one.
const mostUnfinished = 200_000

// unfinished lists the runs of a trigger that have not ended, the oldest first,
// at most blueprint.MaxUnfinished; none for a trigger without a limit, of which
// nobody has to know.
func unfinished(q *session, trigger *blueprint.Trigger) (list []blueprint.UnfinishedRun, err error) {
	if trigger.Config["concurrency"] == nil {
		return nil, nil
	}
	const query = `SELECT id, status, created_at, updated_at FROM (
			SELECT seq, id, status, created_at, updated_at, trigger_id, parent_execution_id
			FROM executions INDEXED BY executions_unfinished WHERE end_time IS NULL ORDER BY created_at LIMIT ?2)
		WHERE trigger_id = ?1 AND parent_execution_id IS NULL ORDER BY seq LIMIT ?3`
	err = q.each(query, []any{trigger.ID, mostUnfinished, blueprint.MaxUnfinished}, func(scan func(...any) error) error {
		var run blueprint.UnfinishedRun
		err := scan(&run.ExecutionID, &run.Status, &run.CreatedAt, &run.UpdatedAt)
		list = append(list, run)
		return err
	})
	return list, err
}

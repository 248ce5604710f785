package store

import (
	"blueprintd/blueprint"
	"blueprintd/store/postgres"
)

// With PostgreSQL each statement is a round trip, unless several are sent together. The runs
// of a batch that have ended when they are stored, the most frequent ones, are stored by two
// statements, which are sent with the beginning of the transaction and the counts.
// The statements are those of insertFiring and insertExecution, with a row for each run.
const (
	insertFirings = `INSERT INTO firings (id, trigger_seq, source, key, due_at, received_at, decision, reason_code, sealed_reason, execution_id, sealed_body_hash, redelivery_of, sealed_delivery)
		SELECT a.id, coalesce(a.trigger_seq, (SELECT seq FROM triggers WHERE id = a.trigger_id)), a.source, nullif(a.key, a.id), a.due_at, a.received_at, a.decision, a.reason_code, a.reason, a.execution_id, a.body_hash, a.redelivery_of, a.delivery
		FROM unnest(?1::text[], ?2::text[], ?3::text[], ?4::text[], ?5::bigint[], ?6::bigint[], ?7::text[], ?8::text[], ?9::bytea[], ?10::text[], ?11::bytea[], ?12::text[], ?13::bytea[], ?14::bigint[])
			WITH ORDINALITY AS a (id, trigger_id, source, key, due_at, received_at, decision, reason_code, reason, execution_id, body_hash, redelivery_of, delivery, trigger_seq, place)
		ORDER BY a.place ON CONFLICT DO NOTHING`
	insertExecutions = `INSERT INTO executions (id, log_id, blueprint_seq, blueprint_version, organization_seq, user_seq,
			trigger_seq, firing_id, parent_execution_id, status, created_at, updated_at, start_time, end_time, record, state)
		SELECT a.id, a.log_id, b.seq, a.version, coalesce(a.organization_seq, (SELECT seq FROM organizations WHERE id = a.organization_id)),
			coalesce(a.user_seq, (SELECT seq FROM users WHERE id = a.user_id)), coalesce(a.trigger_seq, (SELECT seq FROM triggers WHERE id = a.trigger_id)),
			a.firing_id, a.parent_id, a.status, a.created_at, a.updated_at, a.start_time, a.end_time, a.record, a.state
		FROM unnest(?1::text[], ?2::text[], ?3::text[], ?4::text[], ?5::text[], ?6::text[], ?7::text[], ?8::text[], ?9::text[], ?10::text[],
				?11::bigint[], ?12::bigint[], ?13::bigint[], ?14::bigint[], ?15::bytea[], ?16::bytea[], ?17::bigint[], ?18::bigint[], ?19::bigint[])
			WITH ORDINALITY AS a (id, log_id, blueprint_id, version, organization_id, user_id, trigger_id, firing_id, parent_id, status,
				created_at, updated_at, start_time, end_time, record, state, organization_seq, user_seq, trigger_seq, place)
		JOIN blueprints b ON b.id = a.blueprint_id AND b.deleted_at IS NULL
		ORDER BY a.place ON CONFLICT DO NOTHING`
)

// The types of their parameters: text, number or bytes.
const (
	firingTypes    = "ttttnnttbtbtbn"
	executionTypes = "ttttttttttnnnnbbnnn"
)

// beginTogether begins a transaction and stores the short runs of a batch in it, in the same
// round trip. It returns the other jobs. If one of the runs cannot be stored, because its key
// has started a run before or its blueprint is deleted, it begins the transaction again and
// returns all jobs.
//
// Which runs may be stored this way depends on the generation, which is known only once the
// transaction has begun: if another process has changed it meanwhile, it tries again.
func (s *Store) beginTogether(b *batch, jobs []*job) (rest []*job, err error) {
	for known := s.newest.Load(); ; known = s.writer.subscriptions.generation {
		var short []*job
		rest = nil
		for _, j := range jobs {
			if j.short != nil && (j.short.Generation == 0 || j.short.Generation == known) {
				short = append(short, j)
			} else {
				rest = append(rest, j)
			}
		}
		if len(short) == 0 || s.epoch == 0 {
			break
		}
		inserts, err := s.insertsOf(short)
		if err != nil {
			break // the job that fails returns the error
		}
		if err = s.beginRemote(inserts.list); severityOf(err) != ofJob {
			return nil, err
		}
		if err != nil {
			break
		}
		current := s.writer.subscriptions.generation == known
		tried := *b
		if current && inserts.areComplete() && s.concludeShort(&tried, short) == nil {
			*b = tried
			return rest, nil
		}
		s.writer.undo()
		if current {
			break
		}
	}
	return jobs, s.begin()
}

// inserts are the statements that store short runs, and how many rows the first of them must
// insert.
type inserts struct {
	list []postgres.Query
	rows []int64
}

func (i *inserts) add(text, types string, rows [][]any) {
	if len(rows) > 0 {
		i.list = append(i.list, postgres.Query{Text: text, Arguments: postgres.Columns(types, rows)})
		i.rows = append(i.rows, int64(len(rows)))
	}
}

// areComplete reports whether the statements have inserted every row.
func (i *inserts) areComplete() bool {
	for n, rows := range i.rows {
		if i.list[n].Changed != rows {
			return false
		}
	}
	return true
}

// insertsOf returns the statements for some short runs, those of their counts included.
func (s *Store) insertsOf(jobs []*job) (all inserts, err error) {
	var firings, executions [][]any
	w := s.writer
	w.ended.forget()
	w.firings.forget()
	for _, j := range jobs {
		if f := j.short.Firing; f != nil {
			args, err := s.firingArguments(f)
			if err != nil {
				return all, err
			}
			firings = append(firings, args)
			w.firings.add([]string{f.TriggerID})
		}
		executions = append(executions, s.executionArguments(j.short))
		w.ended.add(&j.short.Row)
	}
	all.add(insertFirings, firingTypes, firings)
	all.add(insertExecutions, executionTypes, executions)
	all.list = w.firings.appendTo(w.ended.appendTo(all.list))
	return all, nil
}

// errNotTogether is returned for runs that cannot be stored together.
var errNotTogether = blueprint.Errorf(blueprint.CodeConflict, "a run of the batch was not stored")

// concludeShort weighs the ends and publishes the events of short runs that are stored and
// counted.
func (s *Store) concludeShort(b *batch, jobs []*job) error {
	for _, j := range jobs {
		t := &transaction{session: s.writer.session, generation: s.writer.subscriptions.generation}
		if err := s.weighEnd(t, j.short); err != nil {
			return err
		}
		if err := s.publish(t, j.short.Events); err != nil {
			return err
		}
		if t.bump { // a trigger was paused: what comes after it must see that
			return errNotTogether
		}
		b.good++
		b.written += j.size + t.published
		b.done.add(t)
	}
	return nil
}

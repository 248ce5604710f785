package postgres

import (
	"context"
	"database/sql"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// Query is a statement, in the form that Statement translates, with its arguments.
type Query struct {
	Text      string
	Arguments []any
	Into      []any // what the columns of its first row are read into; nil for a statement without rows
}

// Pipeline prepares the queries that the connection has not prepared yet, and runs all of
// them in one round trip, in their order. After one that fails, PostgreSQL runs none of the
// others. It begins and ends no transaction that the queries do not begin or end. unknown
// reports that the connection broke, and any of them may or may not have run.
func Pipeline(ctx context.Context, conn *sql.Conn, queries []Query) (unknown bool, err error) {
	err = conn.Raw(func(driverConn any) (err error) {
		native := driverConn.(*stdlib.Conn).Conn()
		batch := &pgx.Batch{}
		for i := range queries {
			text := Statement(queries[i].Text)
			name := text // the driver names it by a hash
			if text == Commit {
				name = commitName
			}
			// A name is prepared once for each connection.
			if _, err := native.Prepare(ctx, name, text); err != nil {
				return err
			}
			batch.Queue(name, Arguments(queries[i].Arguments)...)
		}
		answers := native.SendBatch(ctx, batch)
		for i := range queries {
			if err = readAnswer(answers, &queries[i]); err != nil {
				break
			}
		}
		if closed := answers.Close(); err == nil {
			err = closed
		}
		unknown = mayHaveRun(err)
		return err
	})
	return unknown, err
}

// commitName is the name of the statement that commits among the queries of a Pipeline. The
// proxies of tests know a commit by it.
const commitName = "commit"

func readAnswer(answers pgx.BatchResults, q *Query) error {
	if q.Into != nil {
		if err := answers.QueryRow().Scan(q.Into...); err != nil {
			return err
		}
		return Restore(q.Into)
	}
	tag, err := answers.Exec()
	if err == nil && q.Text == Commit {
		err = checkCommit(tag)
	}
	return err
}

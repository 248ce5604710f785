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
	Changed   int64 // how many rows it changed, once it has run
}

// Pipeline prepares the queries that the connection has not prepared yet, and runs all of
// them in one round trip, in their order. After one that fails, PostgreSQL runs none of the
// others. It begins and ends no transaction that the queries do not begin or end.
func Pipeline(ctx context.Context, conn *sql.Conn, queries []Query) error {
	return conn.Raw(func(driverConn any) (err error) {
		native := driverConn.(*stdlib.Conn).Conn()
		batch := &pgx.Batch{}
		for i := range queries {
			text := Statement(queries[i].Text)
			// A statement that is named like its text is prepared once for each connection.
			if _, err := native.Prepare(ctx, text, text); err != nil {
				return err
			}
			batch.Queue(text, Arguments(queries[i].Arguments)...)
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
		return err
	})
}

func readAnswer(answers pgx.BatchResults, q *Query) error {
	if q.Into != nil {
		if err := answers.QueryRow().Scan(q.Into...); err != nil {
			return err
		}
		return Restore(q.Into)
	}
	tag, err := answers.Exec()
	q.Changed = tag.RowsAffected()
	return err
}

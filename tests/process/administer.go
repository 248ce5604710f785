package process

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Administer runs a statement in the database postgres of a PostgreSQL server, whose URL names
// no database.
func Administer(ctx context.Context, server, statement string) error {
	admin, err := pgx.Connect(ctx, strings.TrimSuffix(server, "/")+"/postgres")
	if err != nil {
		return err
	}
	defer admin.Close(context.WithoutCancel(ctx))
	_, err = admin.Exec(ctx, statement)
	return err
}

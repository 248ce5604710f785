//go:build postgres

package process

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"testing"
)

var databases atomic.Int64

// PostgreSQL creates an empty database on the server whose URL, without a database, is in
// BLUEPRINTD_TEST_POSTGRES, and returns its URL. The database is dropped when the test ends.
func PostgreSQL(t testing.TB) string {
	t.Helper()
	server := os.Getenv("BLUEPRINTD_TEST_POSTGRES")
	name := fmt.Sprintf("test_%d_%d", os.Getpid(), databases.Add(1))
	administer := func(statement string) {
		t.Helper()
		if err := Administer(context.Background(), server, statement); err != nil {
			t.Fatal(err)
		}
	}
	administer("CREATE DATABASE " + name)
	t.Cleanup(func() { administer("DROP DATABASE " + name + " WITH (FORCE)") })
	return server + "/" + name
}

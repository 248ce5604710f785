//go:build postgres

package servertest

import (
	"path/filepath"
	"testing"

	"blueprintd/server"
	"blueprintd/store/masterkey"
	"blueprintd/tests/process"
)

func init() {
	onPostgreSQL = func(t testing.TB, o *server.Options) {
		t.Helper()
		key := filepath.Join(t.TempDir(), "key")
		if err := masterkey.Create(key); err != nil {
			t.Fatal(err)
		}
		o.Ephemeral, o.URL, o.MasterKeyFile = false, process.PostgreSQL(t), key
	}
}

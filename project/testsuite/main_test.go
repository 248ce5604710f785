package testsuite

import (
	"os"
	"testing"

	"blueprintd/engine/script"
)

func TestMain(m *testing.M) {
	script.Child() // when this program was started as one
	os.Exit(m.Run())
}

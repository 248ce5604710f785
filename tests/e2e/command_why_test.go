package e2e

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"blueprintd/tests/process"
)

// TestWhyBesideAServer runs blueprintd why while the server runs, and again after it has
// stopped. The output never contains a secret or a signature.
func TestWhyBesideAServer(t *testing.T) {
	t.Parallel()
	database := filepath.Join(t.TempDir(), "my.db")
	p := process.Serve(t, "--db", database)
	const secret, signature = "planted-secret-of-a-webhook", "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
	id := p.Create("Ledger", node("a", "transform", object{"expression": "inputData.n + 1"}))
	made := p.Mutate("blueprintTriggers.create", object{"blueprintId": id, "triggerType": "webhook", "config": object{"secret": secret}})
	trigger := at(made, "id").(string)
	post := func(body, signature string) {
		t.Helper()
		if status, answer := p.Post("/webhooks/blueprint/"+trigger, "planted-authorization", json.RawMessage(body), "X-Webhook-Signature", signature, "X-Note", secret); status != 202 && status != 401 {
			t.Fatalf("%d %v", status, answer)
		}
	}
	post(`{"n":1}`, process.HexHMAC(secret, `{"n":1}`))
	post(`{"n":"x"}`, process.HexHMAC(secret, `{"n":"x"}`))
	post(`{"n":3}`, signature)
	why := func(args ...string) string {
		t.Helper()
		path := process.Path(t)
		out, err := exec.Command(path, append([]string{"why", "trigger", trigger, "--db", database}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		for _, hidden := range []string{secret, signature, "planted"} {
			if strings.Contains(string(out), hidden) {
				t.Errorf("%q is in %s", hidden, out)
			}
		}
		return string(out)
	}
	ended := func() bool {
		return strings.Contains(why(), "which failed") && strings.Contains(why(), "which completed")
	}
	for deadline := time.Now().Add(time.Minute); !ended(); {
		if time.Now().After(deadline) {
			t.Fatal(why())
		}
	}
	said, asked := why(), trigger
	paused := at(p.Mutate("blueprintTriggers.create", object{"blueprintId": id, "triggerType": "manual"}), "id").(string)
	p.Mutate("blueprintTriggers.update", object{"triggerId": paused, "isActive": false})
	trigger = paused
	beside := why()
	p.Stop()
	for _, text := range []string{beside, why(), why("--at", time.Now().UTC().Format(time.RFC3339Nano))} {
		if !containsAll(text, "It has been paused since 2", ": blueprintTriggers.update by ") {
			t.Errorf("%s", text)
		}
	}
	trigger = asked
	for _, text := range []string{said, why(), why("--at", time.Now().UTC().Format(time.RFC3339Nano)), why("--json")} {
		if !containsAll(text, "It is active", "which failed: expression", "was refused, and nothing ran: X-Webhook-Signature does not match", "the signature is valid") {
			t.Errorf("%s", text)
		}
	}
	if !containsAll(said, "In the last 24 hours the ledger recorded 3 rows:", "2 started", "1 refused: X-Webhook-Signature does not match", "Next: the sender signs with another secret, or the body was changed in transit", "Note: the signature is valid") {
		t.Errorf("%s", said)
	}
	if text := why("--at", "2001-01-01 12:00"); !containsAll(text, "did not exist yet", "Nothing arrived") {
		t.Errorf("%s", text)
	}
}

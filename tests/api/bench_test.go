package api

import (
	"bytes"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"blueprintd/server"
	"blueprintd/tests/servertest"
)

// BenchmarkWebhook measures the main path: a webhook, three nodes without side effects, a
// durable run, the response. Requests come from many goroutines, so that commits can be
// shared.
func BenchmarkWebhook(b *testing.B) {
	for _, mode := range []string{"accept", "wait"} {
		b.Run(mode, func(b *testing.B) {
			s := servertest.New(b, servertest.OnFile(filepath.Join(b.TempDir(), "bench.db")), func(o *server.Options) { o.RateLimit = 0 })
			id := s.Root.Blueprint(b, "three",
				node("a", "set", object{"values": object{"who": "{{inputData.name}}"}}),
				node("b", "template", object{"text": "Hello {{who}}"}),
				node("c", "transform", object{"expression": "upper(input.text)"}))
			trigger := s.Root.IDOf(b, "blueprintTriggers.create", object{"blueprintId": id, "triggerType": "webhook", "config": object{"respond": mode}})
			address := s.Host + "/webhooks/blueprint/" + trigger
			body := `{"name":"Ada","pad":"` + strings.Repeat("x", 200) + `"}`
			client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256}}
			b.SetParallelism(16)
			b.ReportAllocs()
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					response, err := client.Post(address, "application/json", bytes.NewReader([]byte(body)))
					if err != nil {
						b.Error(err)
						return
					}
					io.Copy(io.Discard, response.Body)
					response.Body.Close()
					if response.StatusCode/100 != 2 {
						b.Errorf("status %d", response.StatusCode)
						return
					}
				}
			})
			b.StopTimer()
			client.CloseIdleConnections()
		})
	}
}

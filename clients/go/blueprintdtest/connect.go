package blueprintdtest

import (
	"strings"
	"testing"
)

// Seed is what a seed file made (WithSeedFile), in the order of the file.
type Seed struct {
	Users []struct {
		Email string `json:"email"`
		ID    string `json:"id"`
	} `json:"users"`
	Organizations []struct {
		Name string `json:"name"`
		ID   string `json:"id"`
	} `json:"organizations"`
	Connections []struct {
		Name string `json:"name"`
		ID   string `json:"id"`
	} `json:"connections"`
	Blueprints []struct {
		Title    string `json:"title"`
		ID       string `json:"id"`
		Triggers []struct {
			ID   string `json:"id"`
			Type string `json:"triggerType"`
			URL  string `json:"url"` // of a webhook, else ""
		} `json:"triggers"`
	} `json:"blueprints"`
}

// Connect uses a server that runs already, such as a service container. It is not
// stopped at the end of the test, and has no Logs, PID and Seed. CreateFile needs
// the program on this machine, too.
func Connect(t testing.TB, url, apiKey string) *Server {
	t.Helper()
	host := strings.TrimSuffix(strings.TrimRight(url, "/"), "/api/trpc")
	s := &Server{URL: host + "/api/trpc", APIHost: host, APIKey: apiKey, Client: newClient(host, apiKey), t: t, log: &tail{}}
	t.Cleanup(s.Client.HTTP.CloseIdleConnections)
	return s
}

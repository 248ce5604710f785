// Package flows is a program that uses the service: it runs flows and
// knows what to do when it is told to come back later.
package flows

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
)

// Client calls the service.
type Client struct {
	URL, Key string
	Attempts int // how often it calls at most
}

// Run runs a stored flow and gives its output.
func (c *Client) Run(id string) (string, error) {
	body, err := json.Marshal(map[string]any{"json": map[string]any{"id": id}})
	if err != nil {
		return "", err
	}
	for attempt := 1; ; attempt++ {
		request, err := http.NewRequest(http.MethodPost, c.URL+"/blueprint.execute", bytes.NewReader(body))
		if err != nil {
			return "", err
		}
		request.Header.Set("Authorization", "Bearer "+c.Key)
		request.Header.Set("Content-Type", "application/json")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return "", err
		}
		var answer struct {
			Result struct {
				Data struct {
					JSON struct {
						Result struct{ Output struct{ Text string } }
					}
				}
			}
		}
		err = json.NewDecoder(response.Body).Decode(&answer)
		response.Body.Close()
		switch {
		case response.StatusCode == http.StatusOK:
			return answer.Result.Data.JSON.Result.Output.Text, err
		case response.StatusCode != http.StatusTooManyRequests || attempt == c.Attempts:
			return "", fmt.Errorf("the service answered %d at attempt %d", response.StatusCode, attempt)
		}
	}
}

package main

import (
	"net/http"
	"time"

	"blueprintd/harness"
)

const apiKey = "key-of-the-torturer"

type answer = harness.Answer

// newDoor makes the client that everybody uses. The server is down as yet.
func newDoor() *harness.Client {
	return harness.NewClient("", apiKey, &http.Client{Timeout: 40 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 32, IdleConnTimeout: 5 * time.Second}})
}

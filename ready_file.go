package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/foundation/fileio"
)

// readyOnOutput is the ready file that is no file: a line of JSON on standard
// output, in place of what people would read there. A program that starts the
// server and reads from its pipe needs to look for no file.
const readyOnOutput = "-"

// whereabouts are what programs that wait for the server are told.
type whereabouts struct {
	BaseURL      string  `json:"baseUrl"`
	APIHost      string  `json:"apiHost"`
	DashboardURL string  `json:"dashboardUrl"`
	SMTPAddr     string  `json:"smtpAddr,omitempty"`
	APIKey       string  `json:"apiKey,omitempty"`
	Seed         *seeded `json:"seed,omitempty"`
	PID          int     `json:"pid"`
}

func (s *server) whereabouts() whereabouts {
	return whereabouts{s.apiHost() + "/api/trpc", s.apiHost(), s.apiHost() + "/", s.smtpAddress(), s.welcome.apiKey, s.welcome.seeded, os.Getpid()}
}

// announceToProgram tells the program that started the server where it is.
func (s *server) announceToProgram() error {
	data, err := json.Marshal(s.whereabouts())
	if err != nil {
		return err
	}
	_, err = s.options.out.Write(append(data, '\n'))
	return err
}

// writeReadyFile tells programs that wait for the server where it is.
func (s *server) writeReadyFile() error {
	if s.options.readyFile == "" {
		return nil
	}
	data, err := blueprint.EncodeIndented(s.whereabouts())
	if err != nil {
		return err
	}
	if err := fileio.Write(s.options.readyFile, data, false); err != nil {
		return blueprint.Hinted("name a file in a folder that exists", "the ready file %s cannot be written: %s", s.options.readyFile, fileio.Cause(err))
	}
	return nil
}

// removeReadyFile takes the ready file away at the end, unless another server
// has written its own there meanwhile.
func (s *server) removeReadyFile() {
	if s.options.readyFile == "" || s.options.readyFile == readyOnOutput {
		return
	}
	data, err := fileio.Read(s.options.readyFile, 1<<16)
	if err == nil && strings.Contains(string(data), fmt.Sprintf("\"pid\": %d\n", os.Getpid())) {
		os.Remove(s.options.readyFile)
	}
}

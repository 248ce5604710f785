package server

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/foundation/fileio"
)

// ReadyOnOutput is the name of standard output as the ready file: one line of JSON replaces
// the text for users.
const ReadyOnOutput = "-"

// readyInfo is the content of the ready file.
type readyInfo struct {
	BaseURL      string  `json:"baseUrl"`
	APIHost      string  `json:"apiHost"`
	DashboardURL string  `json:"dashboardUrl"`
	SMTPAddr     string  `json:"smtpAddr,omitempty"`
	APIKey       string  `json:"apiKey,omitempty"`
	Seed         *seeded `json:"seed,omitempty"`
	PID          int     `json:"pid"`
}

func (s *Server) readyInfo() readyInfo {
	return readyInfo{s.APIHost() + "/api/trpc", s.APIHost(), s.APIHost() + "/", s.SMTPAddress(), s.Bootstrap.APIKey, s.Bootstrap.Seeded, os.Getpid()}
}

// announceToProgram writes the ready file to standard output.
func (s *Server) announceToProgram() error {
	data, err := json.Marshal(s.readyInfo())
	if err != nil {
		return err
	}
	_, err = s.Options.Out.Write(append(data, '\n'))
	return err
}

func (s *Server) writeReadyFile() error {
	if s.Options.ReadyFile == "" {
		return nil
	}
	data, err := blueprint.EncodeIndented(s.readyInfo())
	if err != nil {
		return err
	}
	if err := fileio.Write(s.Options.ReadyFile, data, false); err != nil {
		return blueprint.Hinted("name a file in a folder that exists", "the ready file %s cannot be written: %s", s.Options.ReadyFile, fileio.Cause(err))
	}
	return nil
}

// removeReadyFile removes the ready file, unless another server has replaced it.
func (s *Server) removeReadyFile() {
	if s.Options.ReadyFile == "" || s.Options.ReadyFile == ReadyOnOutput {
		return
	}
	data, err := fileio.Read(s.Options.ReadyFile, 1<<16)
	if err == nil && strings.Contains(string(data), fmt.Sprintf("\"pid\": %d\n", os.Getpid())) {
		os.Remove(s.Options.ReadyFile)
	}
}

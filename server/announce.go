package server

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/foundation/fileio"
)

// ReadyOnOutput is the ready file that is no file: a line of JSON on standard
// output, in place of what people would read there. A program that starts the
// server and reads from its pipe needs to look for no file.
const ReadyOnOutput = "-"

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

func (s *Server) whereabouts() whereabouts {
	return whereabouts{s.APIHost() + "/api/trpc", s.APIHost(), s.APIHost() + "/", s.SMTPAddress(), s.Bootstrap.APIKey, s.Bootstrap.Seeded, os.Getpid()}
}

// announceToProgram tells the program that started the server where it is.
func (s *Server) announceToProgram() error {
	data, err := json.Marshal(s.whereabouts())
	if err != nil {
		return err
	}
	_, err = s.Options.Out.Write(append(data, '\n'))
	return err
}

// writeReadyFile tells programs that wait for the server where it is.
func (s *Server) writeReadyFile() error {
	if s.Options.ReadyFile == "" {
		return nil
	}
	data, err := blueprint.EncodeIndented(s.whereabouts())
	if err != nil {
		return err
	}
	if err := fileio.Write(s.Options.ReadyFile, data, false); err != nil {
		return blueprint.Hinted("name a file in a folder that exists", "the ready file %s cannot be written: %s", s.Options.ReadyFile, fileio.Cause(err))
	}
	return nil
}

// removeReadyFile takes the ready file away at the end, unless another server
// has written its own there meanwhile.
func (s *Server) removeReadyFile() {
	if s.Options.ReadyFile == "" || s.Options.ReadyFile == ReadyOnOutput {
		return
	}
	data, err := fileio.Read(s.Options.ReadyFile, 1<<16)
	if err == nil && strings.Contains(string(data), fmt.Sprintf("\"pid\": %d\n", os.Getpid())) {
		os.Remove(s.Options.ReadyFile)
	}
}

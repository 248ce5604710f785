package blueprintdtest

import (
	"encoding/json"
	"net/http"
)

// object is a JSON object.
type object = map[string]any

// query and mutate call a procedure and fail the test if the call fails.
func (s *Server) query(procedure string, input, out any) {
	s.t.Helper()
	if err := s.Query(s.t.Context(), procedure, input, out); err != nil {
		s.t.Fatalf("blueprintdtest: %v", err)
	}
}

func (s *Server) mutate(procedure string, input, out any) {
	s.t.Helper()
	if err := s.Mutate(s.t.Context(), procedure, input, out); err != nil {
		s.t.Fatalf("blueprintdtest: %v", err)
	}
}

// Create stores a blueprint and returns its id. The fields are those of blueprint.create:
// title, blueprint_map and so on.
func (s *Server) Create(blueprint map[string]any) string {
	s.t.Helper()
	var made struct {
		ID string `json:"id"`
	}
	s.mutate("blueprint.create", blueprint, &made)
	return made.ID
}

// CreateTrigger adds an active trigger of a type, such as scheduled, webhook or event, to a
// blueprint and returns the trigger's id.
func (s *Server) CreateTrigger(blueprintID, triggerType string, config map[string]any) string {
	s.t.Helper()
	return s.addTrigger(blueprintID, triggerType, config, true)
}

func (s *Server) addTrigger(blueprintID, triggerType string, config map[string]any, active bool) string {
	s.t.Helper()
	if config == nil {
		config = object{}
	}
	var made struct {
		ID string `json:"id"`
	}
	input := object{"blueprintId": blueprintID, "triggerType": triggerType, "config": config}
	if !active {
		input["isActive"] = false
	}
	s.mutate("blueprintTriggers.create", input, &made)
	return made.ID
}

// Trigger is a trigger of a blueprint.
type Trigger struct {
	ID       string         `json:"id"`
	Type     string         `json:"trigger_type"`
	Config   map[string]any `json:"config"`
	IsActive bool           `json:"is_active"`
}

// Triggers returns the triggers of a blueprint.
func (s *Server) Triggers(blueprintID string) (triggers []Trigger) {
	s.t.Helper()
	s.query("blueprintTriggers.list", object{"blueprintId": blueprintID}, &triggers)
	return triggers
}

// Webhook sends a delivery to a webhook trigger. The body is encoded as JSON unless it is a
// []byte. Headers are alternating names and values, for example of a signature.
func (s *Server) Webhook(triggerID string, body any, headers ...string) *Reply {
	s.t.Helper()
	data, raw := body.([]byte)
	if !raw {
		var err error
		if data, err = json.Marshal(body); err != nil {
			s.t.Fatalf("blueprintdtest: %v", err)
		}
	}
	reply, err := s.request(s.t.Context(), http.MethodPost, s.APIHost+"/webhooks/blueprint/"+triggerID, data, headers...)
	if err != nil {
		s.t.Fatalf("blueprintdtest: the webhook %s: %v", triggerID, err)
	}
	return reply
}

package llm

import (
	"encoding/json"
	"math"
	"strings"
)

// Limits of requests and responses, in bytes.
const (
	MaxRequest = 16 << 20
	MaxAnswer  = 4 << 20
)

// Request is a request to a model.
type Request struct {
	Model    string
	System   string // "" = none
	Messages []Message
	Tools    []Tool
	// Schema is the JSON Schema of the response, as a plain JSON value; nil = text.
	Schema any
	// MaxTokens bounds the response; 0 = the provider's default, or defaultMaxTokens
	// where it is mandatory.
	MaxTokens   int64
	Temperature json.Number // "" = the provider's default
}

// Role is the author of a message.
type Role string

// Roles. RoleTool is for results, RoleAssistant for messages of the model.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Message is one turn of a conversation. It round-trips through JSON.
type Message struct {
	Role    Role         `json:"role"`
	Text    string       `json:"text,omitempty"`
	Calls   []ToolCall   `json:"calls,omitempty"`
	Results []ToolResult `json:"results,omitempty"`
	// Raw is the message in the form of the provider By.
	Raw any      `json:"raw,omitempty"`
	By  Provider `json:"by,omitempty"`
}

// Tool is a tool that a model may call. Names have at most 64 letters, digits, _ and -.
type Tool struct {
	Name        string
	Description string
	InputSchema map[string]any
}

// ToolCall is a call requested by a model. Problem is set for malformed arguments.
type ToolCall struct {
	ID        string         `json:"id"`
	Name      string         `json:"name"`
	Arguments map[string]any `json:"arguments,omitempty"`
	Problem   string         `json:"problem,omitempty"`
}

type ToolResult struct {
	ID      string `json:"id"`
	Text    string `json:"text"`
	IsError bool   `json:"isError,omitempty"`
}

// Usage counts tokens. Input includes those written to and read from the provider's
// cache. Values are the server's, but never below zero.
type Usage struct {
	InputTokens  int64 `json:"inputTokens"`
	OutputTokens int64 `json:"outputTokens"`
}

func (u Usage) Total() int64 { return u.InputTokens + u.OutputTokens }

func (u Usage) Plus(other Usage) Usage {
	return Usage{u.InputTokens + other.InputTokens, u.OutputTokens + other.OutputTokens}
}

// Answer is a model's response: text, or tool calls.
type Answer struct {
	Message Message
	Usage   Usage
	// Truncated says that the token limit cut the response off.
	Truncated bool
}

// Servers follow the protocols more or less, so responses are plain JSON values, and a
// value of an unexpected type counts as absent.

func object(value any) map[string]any {
	m, _ := value.(map[string]any)
	return m
}

func list(value any) []any {
	l, _ := value.([]any)
	return l
}

func text(value any) string {
	s, _ := value.(string)
	return s
}

// maxTokenCount bounds the tokens that a server can report for a call.
const maxTokenCount = 1 << 32

// count returns a number of tokens. A server must not be able to refund any.
func count(value any) int64 {
	number, _ := value.(json.Number)
	f, err := number.Float64()
	if err != nil || math.IsNaN(f) || f < 0 {
		return 0
	}
	return int64(min(f, maxTokenCount))
}

// texts joins the text of a content, a string or a list of parts.
func texts(content any) string {
	if s, ok := content.(string); ok {
		return s
	}
	var out strings.Builder
	for _, part := range list(content) {
		if p := object(part); text(p["type"]) == "text" || p["type"] == nil {
			out.WriteString(text(p["text"]))
		}
	}
	return out.String()
}

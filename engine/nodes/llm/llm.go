package llm

import (
	"encoding/json"
	"math"
	"strings"
)

// Sizes in bytes beyond which nothing is sent or read.
const (
	MaxRequest = 16 << 20
	MaxAnswer  = 4 << 20
)

// Request is what a model is asked.
type Request struct {
	Model    string
	System   string // "" for none
	Messages []Message
	Tools    []Tool
	// Schema is the JSON Schema of the answer, as a plain JSON value; nil asks
	// for text.
	Schema any
	// MaxTokens bounds the answer; 0 leaves it to the provider, or to
	// defaultMaxTokens where one must be named.
	MaxTokens   int64
	Temperature json.Number // "" leaves it to the provider
}

// Role says who speaks in a message.
type Role string

// The roles. A message of RoleTool holds results, of RoleAssistant what a model
// answered.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Message is one turn of a conversation. It is written to JSON and read again
// without loss.
type Message struct {
	Role    Role         `json:"role"`
	Text    string       `json:"text,omitempty"`
	Calls   []ToolCall   `json:"calls,omitempty"`
	Results []ToolResult `json:"results,omitempty"`
	// Raw is what the provider By sent, in its own form.
	Raw any      `json:"raw,omitempty"`
	By  Provider `json:"by,omitempty"`
}

// Tool is something that a model may ask to be called. Names have at most 64
// letters, digits, _ and -.
type Tool struct {
	Name        string
	Description string
	InputSchema map[string]any
}

// ToolCall is a model's wish to have a tool called. When what it sent as
// arguments is no JSON object, Problem says so.
type ToolCall struct {
	ID        string         `json:"id"`
	Name      string         `json:"name"`
	Arguments map[string]any `json:"arguments,omitempty"`
	Problem   string         `json:"problem,omitempty"`
}

// ToolResult is what came of a call.
type ToolResult struct {
	ID      string `json:"id"`
	Text    string `json:"text"`
	IsError bool   `json:"isError,omitempty"`
}

// Usage counts tokens. Input includes those that the provider had cached or
// keeps cached now. What a server tells is taken as it is, but never below
// zero.
type Usage struct {
	InputTokens  int64 `json:"inputTokens"`
	OutputTokens int64 `json:"outputTokens"`
}

// Total is all of it.
func (u Usage) Total() int64 { return u.InputTokens + u.OutputTokens }

// Plus adds another use.
func (u Usage) Plus(other Usage) Usage {
	return Usage{u.InputTokens + other.InputTokens, u.OutputTokens + other.OutputTokens}
}

// Answer is what a model said: text, or calls of tools that it waits for.
type Answer struct {
	Message Message
	Usage   Usage
	// Truncated says that the model had more to say than it was allowed to.
	Truncated bool
}

// Answers come from servers that follow the protocols more or less, so they are
// read as plain JSON values: what has another type than expected counts as
// absent.

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

// maxTokensTold is the most that one call can be believed to have used.
const maxTokensTold = 1 << 32

// count reads a number of tokens. A server must not be able to pay tokens back.
func count(value any) int64 {
	number, ok := value.(json.Number)
	if !ok {
		return 0
	}
	f, err := number.Float64()
	if err != nil || math.IsNaN(f) || f < 0 {
		return 0
	}
	return int64(min(f, maxTokensTold))
}

// texts joins the text of a content that is a string or a list of parts.
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

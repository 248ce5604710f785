package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// mark matches the address that a node writes into its data: <exec_...>.
var mark = regexp.MustCompile(`<(exec_[^<>]+)>`)

// markIn returns the address in a text, "" if there is none.
func markIn(text string) string {
	if found := mark.FindStringSubmatch(text); found != nil {
		return found[1]
	}
	return ""
}

// chat is a language model that calls a tool if it has one, and then repeats its
// input. Each request of one prompt is an effect of its own.
func (l *ledger) chat(w http.ResponseWriter, r *http.Request) {
	shown, body, wrong := l.credentials(r, "model")
	var asked struct {
		Messages []struct {
			Role    string
			Content any
		}
		Tools []struct{ Function struct{ Name string } }
	}
	if err := json.Unmarshal(body, &asked); err != nil && wrong == "" {
		wrong = "a question to the model that is no JSON: " + err.Error()
	}
	key, results := "", 0
	for _, m := range asked.Messages {
		if text, ok := m.Content.(string); ok && m.Role == "user" && key == "" {
			key = markIn(text)
		}
		if m.Role == "tool" {
			results++
		}
	}
	e := entry{Kind: fmt.Sprintf("question %d", results+1), Key: key, Node: pattern(addressIn(key)), Wrong: wrong}
	if _, ok := l.handle(r.Context(), &e, "doomed"); !ok {
		return
	}
	if e.Status != http.StatusOK {
		reply(w, e.Status, object{"error": object{"message": "the model fails for " + shown}})
		return
	}
	message, reason := object{"role": "assistant", "content": "You are " + shown}, "stop"
	if len(asked.Tools) > 0 && results == 0 {
		arguments, _ := json.Marshal(object{"key": key})
		message["content"], reason = nil, "tool_calls"
		message["tool_calls"] = []any{object{"id": "call_1", "type": "function", "function": object{"name": asked.Tools[0].Function.Name, "arguments": string(arguments)}}}
	}
	reply(w, e.Status, object{"id": "chat", "object": "chat.completion", "model": "parrot", "usage": object{"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10},
		"choices": []any{object{"index": 0, "message": message, "finish_reason": reason}}})
}

// post accepts messages as Slack does. A message refused with 429 is not posted.
func (l *ledger) post(w http.ResponseWriter, r *http.Request) {
	shown, body, wrong := l.credentials(r, "chat")
	var message struct{ Text string }
	json.Unmarshal(body, &message)
	key := markIn(message.Text)
	e := entry{Kind: "post", Key: key, Node: pattern(addressIn(key)), Wrong: wrong}
	n, ok := l.handle(r.Context(), &e, "later")
	switch {
	case !ok:
	case e.Status != http.StatusOK:
		w.Header().Set("Retry-After", "0")
		reply(w, e.Status, object{"ok": false, "error": "ratelimited"})
	default:
		reply(w, e.Status, object{"ok": true, "ts": fmt.Sprintf("1712345678.%06d", n), "channel": "C" + shown})
	}
}

// toolServer is an MCP server with one tool, which records its input.
func (l *ledger) toolServer() http.Handler {
	server := sdk.NewServer(&sdk.Implementation{Name: "Ledger", Version: "1"}, nil)
	server.AddTool(&sdk.Tool{Name: "note", Description: "notes", InputSchema: json.RawMessage(`{"type":"object","properties":{"key":{"type":"string"}},"required":["key"]}`)},
		func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			var arguments struct{ Key string }
			json.Unmarshal(r.Params.Arguments, &arguments)
			e := entry{Kind: "tool", Key: arguments.Key, Node: pattern(addressIn(arguments.Key))}
			l.handle(ctx, &e, "")
			content := object{"noted": arguments.Key}
			if e.Node == "tool" { // otherwise the output goes to a model, which may read it unredacted
				content["echo"] = secretOf("tools")
			}
			return &sdk.CallToolResult{StructuredContent: content}, nil
		})
	return sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, &sdk.StreamableHTTPOptions{Stateless: true, JSONResponse: true})
}

// tools accepts requests with the token of the tools.
func (l *ledger) tools(next http.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if _, _, wrong := l.credentials(r, "tools"); wrong != "" {
			l.recordUnkeyed("tool", wrong)
			http.Error(w, "unauthorized", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	}
}

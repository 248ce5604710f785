package main

import (
	"context"
	"encoding/json"
	"path/filepath"

	"blueprintd/clients/go/program"
)

const n8nVersion = "2.40.7"

// n8n is n8n with SQLite, which saves its executions by default. Its process for JavaScript
// is not started, because the flow has none. Its telemetry, editor and notices are off.
var n8n = peer{
	name: "n8n", title: "n8n " + n8nVersion + " on Node.js " + nodeVersion, folder: "n8n-" + n8nVersion,
	flow: "the same flow on n8n", stores: "the execution, in SQLite", path: "/webhook/three", answer: `{"text":` + greeting + `}`,
	size: "node_modules", without: nodeFolder(),
	install: func(ctx context.Context, folder string) error {
		return installNode(ctx, folder, "n8n@"+n8nVersion, "sqlite3")
	},
	prepare: func(ctx context.Context, at place) error {
		flow, err := json.Marshal(n8nFlow())
		if err != nil {
			return err
		}
		if err := writeFiles(at.data, map[string]string{"flow.json": string(flow)}); err != nil {
			return err
		}
		for _, args := range [][]string{{"import:workflow", "--input=" + filepath.Join(at.data, "flow.json")}, {"publish:workflow", "--id=" + n8nID}} {
			command := n8nCommand(at, args...)
			if err := runIn(ctx, at.data, command.Env, command.Path, command.Args...); err != nil {
				return err
			}
		}
		return nil
	},
	command: func(at place) program.Command { return n8nCommand(at, "start") },
}

func n8nCommand(at place, args ...string) program.Command {
	command := nodeCommand(at, "n8n/bin/n8n", args...)
	broker, err := freeHost()
	if err != nil {
		broker = "127.0.0.1:5679" // the default, which n8n reports if it is taken
	}
	command.Env = append(command.Env, "N8N_USER_FOLDER="+at.data,
		"N8N_LISTEN_ADDRESS=127.0.0.1", "N8N_HOST=127.0.0.1", "N8N_PORT="+port(at.host),
		"N8N_RUNNERS_MODE=external", "N8N_RUNNERS_AUTH_TOKEN=unused", "N8N_RUNNERS_BROKER_LISTEN_ADDRESS=127.0.0.1", "N8N_RUNNERS_BROKER_PORT="+port(broker),
		"N8N_DIAGNOSTICS_ENABLED=false", "N8N_VERSION_NOTIFICATIONS_ENABLED=false", "N8N_TEMPLATES_ENABLED=false", "N8N_PERSONALIZATION_ENABLED=false",
		"N8N_DYNAMIC_BANNERS_ENABLED=false", "N8N_LICENSE_AUTO_RENEW_ENABLED=false", "N8N_DISABLED_MODULES=mcp-registry",
		"N8N_COMMUNITY_PACKAGES_ENABLED=false", "N8N_PUBLIC_API_DISABLED=true", "N8N_DISABLE_UI=true", "N8N_LOG_LEVEL=error",
	)
	return command
}

const n8nID = "threenodes"

// n8nFlow is the flow of row c: read the name, greet, convert to upper case. The webhook
// responds with the output of the last node.
func n8nFlow() object {
	node := func(name, kind string, version float64, parameters object) object {
		return object{"id": name, "name": name, "type": "n8n-nodes-base." + kind, "typeVersion": version, "position": []int{0, 0}, "parameters": parameters}
	}
	set := func(name, field, value string) object {
		return node(name, "set", 3.4, object{"assignments": object{"assignments": []object{{"id": field, "name": field, "type": "string", "value": value}}}})
	}
	next := func(name string) object {
		return object{"main": [][]object{{{"node": name, "type": "main", "index": 0}}}}
	}
	webhook := node("in", "webhook", 2, object{"httpMethod": "POST", "path": "three", "responseMode": "lastNode"})
	webhook["webhookId"] = "three"
	return object{
		"id": n8nID, "name": "three nodes", "active": false, "settings": object{"executionOrder": "v1"},
		"nodes": []object{
			webhook, set("a", "who", "={{ $json.body.name }}"), set("b", "text", "=Hello {{ $json.who }}"), set("c", "text", "={{ $json.text.toUpperCase() }}"),
		},
		"connections": object{"in": next("a"), "a": next("b"), "b": next("c")},
	}
}

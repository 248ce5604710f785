package main

import (
	"context"
	"encoding/json"
	"net/url"
	"path/filepath"
	"strings"

	"blueprintd/clients/go/program"
)

const n8nVersion = "2.40.7"

// n8n is n8n with SQLite, which saves its executions by default. Its process for JavaScript
// is not started, because the flow has none. Its telemetry, editor and notices are off.
var n8n = peer{
	name: "n8n", title: "n8n " + n8nVersion + " on Node.js " + nodeVersion, folder: "n8n-" + n8nVersion,
	flow: "the same flow on n8n", stores: "the execution, in SQLite", path: "/webhook/three", answer: `{"text":` + greeting + `}`,
	size: "node_modules", without: nodeFolder(),
	install: installN8n,
	prepare: importN8n,
	command: func(at place) program.Command { return n8nCommand(at, "start") },
}

// n8nQueue is n8n as it runs on several machines: the main process accepts a webhook, passes
// its execution through Redis to the worker, and responds with the result. Both store in
// PostgreSQL, with as many connections as a process of blueprintd; Redis stores nothing on
// the disk.
var n8nQueue = peer{
	name: "n8n-queue", title: "n8n " + n8nVersion + " in queue mode, 1 main and 1 worker", folder: n8n.folder,
	flow: n8n.flow, path: n8n.path, answer: n8n.answer,
	install: installN8n,
	prepare: importN8n,
	beside: func(at place) []program.Command {
		redis := program.Command{Path: "redis-server", Args: []string{"--bind", "127.0.0.1", "--port", port(at.redis), "--dir", at.data, "--save", "", "--appendonly", "no"}}
		return []program.Command{redis, queued(at, "worker")}
	},
	command: func(at place) program.Command { return queued(at, "start") },
}

// queued is a process of n8n in queue mode.
func queued(at place, name string) program.Command {
	command := n8nCommand(at, name)
	command.Env = append(command.Env, "EXECUTIONS_MODE=queue", "QUEUE_BULL_REDIS_HOST=127.0.0.1", "QUEUE_BULL_REDIS_PORT="+port(at.redis))
	return command
}

func installN8n(ctx context.Context, folder string) error {
	return installNode(ctx, folder, "n8n@"+n8nVersion, "sqlite3")
}

func importN8n(ctx context.Context, at place) error {
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
}

// n8nCommand runs n8n on SQLite, or on PostgreSQL if the place has a database.
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
	if database, err := url.Parse(at.database); err == nil && at.database != "" {
		password, _ := database.User.Password()
		command.Env = append(command.Env, "N8N_ENCRYPTION_KEY=key-of-the-benchmark", "DB_TYPE=postgresdb", "DB_POSTGRESDB_HOST="+database.Hostname(), "DB_POSTGRESDB_PORT="+database.Port(),
			"DB_POSTGRESDB_USER="+database.User.Username(), "DB_POSTGRESDB_PASSWORD="+password, "DB_POSTGRESDB_DATABASE="+strings.TrimPrefix(database.Path, "/"), "DB_POSTGRESDB_POOL_SIZE=16")
	}
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

package main

import (
	"context"
	"encoding/json"
	"path/filepath"

	"blueprintd/clients/go/program"
)

const nodeRedVersion = "4.1.15"

// nodeRed is Node-RED without its editor and output.
var nodeRed = peer{
	name: "node-red", title: "Node-RED " + nodeRedVersion + " on Node.js " + nodeVersion, folder: "node-red-" + nodeRedVersion,
	flow: "the same flow on Node-RED", stores: "nothing", path: "/webhook", answer: greeting,
	size: "node_modules", without: nodeFolder(),
	install: func(ctx context.Context, folder string) error {
		return installNode(ctx, folder, "node-red@"+nodeRedVersion)
	},
	prepare: func(_ context.Context, at place) error {
		flow, err := json.Marshal(nodeRedFlow())
		if err != nil {
			return err
		}
		return writeFiles(at.data, map[string]string{"flows.json": string(flow), "settings.js": nodeRedSettings})
	},
	command: func(at place) program.Command {
		return nodeCommand(at, "node-red/red.js", "--port", port(at.host), "--settings", filepath.Join(at.data, "settings.js"), "--userDir", at.data)
	},
}

// nodeRedSettings turn off what the flow does not need.
const nodeRedSettings = `module.exports = {
  uiHost: '127.0.0.1', httpAdminRoot: false, disableEditor: true,
  flowFile: 'flows.json', flowFilePretty: false, credentialSecret: false,
  telemetry: { enabled: false, updateNotification: false }, diagnostics: { enabled: false, ui: false },
  logging: { console: { level: 'error', metrics: false, audit: false } },
  functionExternalModules: false, externalModules: { autoInstall: false, palette: { allowInstall: false } },
};
`

// nodeRedFlow is the flow of row c: read the name, greet, convert to upper case, respond
// with JSON.
func nodeRedFlow() []object {
	wired := func(id, kind, next string, more object) object {
		n := object{"id": id, "type": kind, "z": "flow", "wires": [][]string{{next}}}
		for name, value := range more {
			n[name] = value
		}
		return n
	}
	return []object{
		{"id": "flow", "type": "tab", "label": "three nodes"},
		wired("in", "http in", "a", object{"url": "/webhook", "method": "post"}),
		wired("a", "change", "b", object{"rules": []object{{"t": "set", "p": "who", "pt": "msg", "to": "payload.name", "tot": "msg"}}}),
		wired("b", "function", "c", object{"outputs": 1, "func": "msg.payload = { text: 'Hello ' + msg.who };\nreturn msg;"}),
		wired("c", "function", "out", object{"outputs": 1, "func": "msg.payload = JSON.stringify(msg.payload.text.toUpperCase());\nmsg.headers = { 'content-type': 'application/json' };\nreturn msg;"}),
		{"id": "out", "type": "http response", "z": "flow", "statusCode": "200", "wires": []any{}},
	}
}

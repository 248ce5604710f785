package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"blueprintd/clients/go/program"
	"blueprintd/tests/process"
)

// nodeRedVersion is the release that is measured.
const nodeRedVersion = "4.1.15"

// nodeRed is a private Node-RED without an editor or output.
type nodeRed struct {
	folder string // where node_modules is
	*program.Process
	host string        // host:port
	up   time.Duration // from its start to the first 200 of the flow
}

// installNodeRed installs it from the npm registry, without package scripts.
func installNodeRed(ctx context.Context, folder string) error {
	for name, text := range map[string]string{
		".npmrc":       "omit-lockfile-registry-resolved=true\npackage-lock=false\nignore-scripts=true\nfund=false\naudit=false\nupdate-notifier=false\n",
		"package.json": `{"private": true}`,
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	install := exec.CommandContext(ctx, "npm", "install", "--no-save", "--loglevel=error", "node-red@"+nodeRedVersion)
	install.Dir = folder
	if out, err := install.CombinedOutput(); err != nil {
		return fmt.Errorf("npm install node-red@%s: %w\n%s", nodeRedVersion, err, out)
	}
	return nil
}

// nodeRedSettings turn off what the flow does not need.
const nodeRedSettings = `module.exports = {
  uiHost: '127.0.0.1', uiPort: %s, httpAdminRoot: false, disableEditor: true,
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

// start starts it on a free port and waits until the flow responds.
func (n *nodeRed) start(ctx context.Context, folder string) (err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	n.host = listener.Addr().String()
	listener.Close()
	_, port, _ := net.SplitHostPort(n.host)
	flow, err := json.Marshal(nodeRedFlow())
	if err != nil {
		return err
	}
	for name, data := range map[string][]byte{"flows.json": flow, "settings.js": fmt.Appendf(nil, nodeRedSettings, port)} {
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o600); err != nil {
			return err
		}
	}
	node, err := exec.LookPath("node")
	if err != nil {
		return err
	}
	n.Process, err = program.Start(program.Command{
		Path: node, Folder: folder, Log: filepath.Join(folder, "node-red.log"), Env: append(os.Environ(), "NODE_ENV=production"),
		Args: []string{filepath.Join(n.folder, "node_modules/node-red/red.js"), "--settings", filepath.Join(folder, "settings.js"), "--userDir", folder},
	})
	if err != nil {
		return err
	}
	for end := now().Add(time.Minute); !n.answers(ctx); {
		if now().After(end) || !process.Pause(ctx, time.Millisecond) {
			n.Kill()
			return fmt.Errorf("node-red does not answer; see %s", filepath.Join(folder, "node-red.log"))
		}
	}
	n.up = now().Sub(n.Started)
	return nil
}

// answers reports whether the flow responds correctly.
func (n *nodeRed) answers(ctx context.Context) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+n.host+"/webhook", strings.NewReader(payload()))
	if err != nil {
		return false
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return err == nil && response.StatusCode == http.StatusOK && string(body) == `"HELLO ADA"`
}

func (n *nodeRed) measure(ctx context.Context, connections int, warmup, length time.Duration) (*result, error) {
	return loadProcess(ctx, n.Pid(), loadJob{Address: n.host, Connections: connections, Warmup: warmup, Length: length, Requests: [][]byte{postRequest(n.host, "/webhook", payload())}})
}

// folderSize adds up the files of a folder.
func folderSize(folder string) (total int64, err error) {
	err = filepath.WalkDir(folder, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			total += info.Size()
		}
		return err
	})
	return total, err
}

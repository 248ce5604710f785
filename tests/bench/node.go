package main

import (
	"context"
	"path/filepath"
	"runtime"

	"blueprintd/clients/go/program"
)

// nodeVersion is the release of Node.js that the peers written for it run on. It comes from
// the npm registry.
const nodeVersion = "24.21.0"

// nodeFolder is where Node.js is in the folder of such a peer.
func nodeFolder() string {
	architecture := runtime.GOARCH
	if architecture == "amd64" {
		architecture = "x64"
	}
	return "node_modules/node-" + runtime.GOOS + "-" + architecture
}

// installNode installs a package and Node.js from the npm registry, without package scripts
// except those of the packages to build, which need a C++ compiler if there is no binary.
func installNode(ctx context.Context, folder, packageVersion string, build ...string) error {
	err := writeFiles(folder, map[string]string{
		".npmrc":       "omit-lockfile-registry-resolved=true\npackage-lock=false\nignore-scripts=true\nlegacy-peer-deps=true\nfund=false\naudit=false\nupdate-notifier=false\n",
		"package.json": `{"private": true}`,
	})
	if err != nil {
		return err
	}
	err = runIn(ctx, folder, nil, "npm", "install", "--no-save", "--omit=dev", "--loglevel=error", filepath.Base(nodeFolder())+"@"+nodeVersion, packageVersion)
	if err != nil || build == nil {
		return err
	}
	node := filepath.Join(folder, nodeFolder())
	return runIn(ctx, folder, []string{"npm_config_nodedir=" + node}, "npm", append([]string{"rebuild", "--ignore-scripts=false", "--loglevel=error"}, build...)...)
}

// nodeCommand runs a script of an installed package.
func nodeCommand(at place, script string, args ...string) program.Command {
	return program.Command{
		Path: filepath.Join(at.installed, nodeFolder(), "bin/node"), Env: []string{"NODE_ENV=production"},
		Args: append([]string{filepath.Join(at.installed, "node_modules", script)}, args...),
	}
}

package dev

import (
	"blueprintd/command/terminal"
	"blueprintd/foundation/fileio"
	"errors"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// show has a browser show an address. One that is secret is none for a command
// line, which everybody on the machine can read: a page that only its owner can
// read leads there.
func (l *loop) show(address string, secret bool) {
	var err error
	if secret {
		if l.page, err = os.MkdirTemp("", "blueprintd-dev-*"); err == nil { // of mode 0700
			address, err = writePage(l.page, address)
		}
	}
	if err == nil {
		err = browse(address, func(err error) {
			l.Screen.Say(terminal.Red, "no browser shows the dashboard: %s; open the address above in one", err)
		})
	}
	if err != nil {
		l.Screen.Say(terminal.Red, "no browser can be started: %s; open the address above in one", fileio.Cause(err))
	}
}

// writePage writes a page that leads a browser to an address, and tells nobody
// from where it came.
func writePage(folder, address string) (path string, err error) {
	const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url=%[1]s">
<title>blueprintd</title>
<p><a href="%[1]s" rel="noreferrer">Open the dashboard</a></p>
`
	path = filepath.Join(folder, "dashboard.html")
	return path, os.WriteFile(path, fmt.Appendf(nil, page, html.EscapeString(address)), 0o600)
}

// browse has the system show an address or a file, in whichever browser people have
// chosen there. It does not wait for it: failed is told when it could not.
func browse(what string, failed func(error)) error {
	command := []string{"xdg-open"}
	switch runtime.GOOS {
	case "darwin":
		command = []string{"open"}
	case "windows":
		command = []string{"rundll32", "url.dll,FileProtocolHandler"}
	}
	shows := exec.Command(command[0], append(command[1:], what)...)
	if err := shows.Start(); err != nil {
		return err
	}
	go func() {
		var ended *exec.ExitError // by a signal, such as that of Ctrl-C, it has no status
		if err := shows.Wait(); errors.As(err, &ended) && ended.ExitCode() > 0 {
			failed(fmt.Errorf("%s ended with status %d", command[0], ended.ExitCode()))
		}
	}()
	return nil
}

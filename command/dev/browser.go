package dev

import (
	"errors"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"blueprintd/command/terminal"
	"blueprintd/foundation/fileio"
)

// show opens an address in a browser. All users of the machine can read command lines,
// so a secret address is opened through a page that only its owner can read.
func (l *loop) show(address string, secret bool) {
	var err error
	if secret {
		if l.page, err = os.MkdirTemp("", "blueprintd-dev-*"); err == nil { // of mode 0700
			address, err = writePage(l.page, address)
		}
	}
	if err == nil {
		err = browse(address, func(err error) {
			l.Screen.Say(terminal.Red, "cannot open the dashboard in a browser: %s; open the address above yourself", err)
		})
	}
	if err != nil {
		l.Screen.Say(terminal.Red, "cannot start a browser: %s; open the address above yourself", fileio.Cause(err))
	}
}

// writePage writes a page that redirects a browser to an address without a referrer.
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

// browse opens an address or a file in the user's browser. It does not wait; failed is
// called if the browser exits with an error.
func browse(what string, failed func(error)) error {
	command := []string{"xdg-open"}
	switch runtime.GOOS {
	case "darwin":
		command = []string{"open"}
	case "windows":
		command = []string{"rundll32", "url.dll,FileProtocolHandler"}
	}
	browser := exec.Command(command[0], append(command[1:], what)...)
	if err := browser.Start(); err != nil {
		return err
	}
	go func() {
		var ended *exec.ExitError // its code is -1 after a signal, such as by Ctrl+C
		if err := browser.Wait(); errors.As(err, &ended) && ended.ExitCode() > 0 {
			failed(fmt.Errorf("%s ended with status %d", command[0], ended.ExitCode()))
		}
	}()
	return nil
}

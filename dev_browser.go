package main

import (
	"os/exec"
	"runtime"
)

// browse has the system show an address, in whichever browser people have chosen
// there. It does not wait for it. Others on the machine may see the address among
// the processes for a moment: it has to be one that works once.
func browse(address string) error {
	command := []string{"xdg-open"}
	switch runtime.GOOS {
	case "darwin":
		command = []string{"open"}
	case "windows":
		command = []string{"rundll32", "url.dll,FileProtocolHandler"}
	}
	shows := exec.Command(command[0], append(command[1:], address)...)
	if err := shows.Start(); err != nil {
		return err
	}
	go func() { _ = shows.Wait() }() // that it did not show anything is seen
	return nil
}

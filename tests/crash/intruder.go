package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// mostToRefuse is how long a second server may take to say that the database
// is taken.
const mostToRefuse = 10 * time.Second

// intrude starts a second server on the database of the one that runs. It must
// be refused; what harm it did would show in everything else.
func (s *scene) intrude(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, mostToRefuse)
	defer cancel()
	command := exec.CommandContext(ctx, s.binary, s.arguments()...)
	command.Dir = filepath.Dir(s.database())
	out, err := command.CombinedOutput()
	code := 0
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		code = exit.ExitCode() // -1 when it had to be killed
	case err != nil:
		code = -1
	}
	s.book.count(func(n *counts) { n.Intruders++ })
	s.book.judgeIntruder(s.database(), code, string(out))
}

func (b *book) judgeIntruder(database string, code int, text string) {
	b.keepsSecrets("", "the output of a second server", text)
	if code == 1 && strings.Contains(text, filepath.Base(database)) && strings.Contains(text, "hint: ") && !strings.Contains(text, "is ready on") {
		return
	}
	b.violated("up", "", "a second server on the same database was not refused well: exit code %d, %s", code, fmt.Sprintf("%.500q", text))
}

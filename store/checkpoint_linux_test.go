package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"blueprintd/blueprint"
)

// An I/O error while the log is truncated stops the store: the content of the disk is
// unknown after one.
func TestFailedCutEndsTheStore(t *testing.T) {
	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	blob, written := strings.Repeat("x", 1<<20), 0
	write := func(s *Store, n int) error {
		for range n {
			written++
			if err := s.submit(context.Background(), &job{run: note(fmt.Sprint(written, blob)), size: len(blob)}); err != nil {
				return err
			}
		}
		return nil
	}
	for name, test := range map[string]struct {
		megabytes int // of the database
		cut       func(s *Store)
	}{
		"by hand":      {10, func(s *Store) { _ = s.emptyLog() }},
		"by the limit": {10, func(s *Store) { s.options.MaxDisk = 1 << 20; (&pruner{Store: s}).relieve(context.Background()) }},
		"by a write":   {56, func(s *Store) { s.writer.unseen = fullLook; _ = write(s, 40) }},
	} {
		t.Run(name, func(t *testing.T) {
			log := &lines{}
			options := testOptions(t)
			options.Logger = slog.New(slog.NewTextHandler(log, nil))
			s := open(t, options)
			notes(t, s)
			// A log of more than the database can grow by, in a file that can:
			// only the copying into the database fails.
			check(t, write(s, test.megabytes))
			check(t, s.emptyLog())
			check(t, write(s, 8))
			var old syscall.Rlimit
			check(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old))
			limit := old
			limit.Cur = uint64(size(options.Path) + 1<<20)
			check(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit))
			test.cut(s)
			check(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old))
			var refused *blueprint.Error
			if err := s.usable(); !errors.As(err, &refused) || refused.Code != blueprint.CodeUnavailable {
				t.Errorf("the store continues: %v, want Code %v", err, blueprint.CodeUnavailable)
			}
			if n := bytes.Count([]byte(fmt.Sprint(&log.text)), []byte("takes no more writes")); n != 1 {
				t.Errorf("it was said %d times: %.2000s, want 1", n, &log.text)
			}
			if err := s.write(context.Background(), note("more")); err == nil {
				t.Error("a write was taken, want an error")
			}
		})
	}
}

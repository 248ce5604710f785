package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver of the database

	"blueprintd/tests/process"
)

// database is a PostgreSQL server of the harness and the harness's own connections to it,
// which no fault of a link concerns.
type database struct {
	bin, folder, port string
	log               *os.File
	sql               *sql.DB

	mu      sync.Mutex
	server  *exec.Cmd
	ended   chan struct{}
	upSince time.Time // zero while it is down
}

// findPostgres returns the folder with the programs of the newest PostgreSQL.
func findPostgres() (string, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if err != nil || len(found) == 0 {
		return "", errors.New("PostgreSQL is missing (apt-get install postgresql)")
	}
	newest := slices.MaxFunc(found, func(a, b string) int { return versionOf(a) - versionOf(b) })
	return filepath.Dir(newest), nil
}

func versionOf(path string) int {
	version, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path))))
	return version
}

// as returns a command that runs as the user postgres if this program runs as root, because
// PostgreSQL refuses to run as root. It ends with this program.
func (d *database) as(program string, args ...string) *exec.Cmd {
	path := filepath.Join(d.bin, program)
	if os.Getuid() != 0 {
		return exec.Command(path, args...)
	}
	return exec.Command("setpriv", append([]string{"--reuid=postgres", "--regid=postgres", "--clear-groups", "--pdeathsig", "INT", path}, args...)...)
}

// newDatabase creates a server in the folder for shared memory, if there is one, and starts
// it.
func newDatabase(ctx context.Context, folder string) (*database, error) {
	bin, err := findPostgres()
	if err != nil {
		return nil, err
	}
	parent := ""
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() {
		parent = "/dev/shm"
	}
	d := &database{bin: bin}
	if d.folder, err = os.MkdirTemp(parent, "torture-cluster"); err != nil {
		return nil, err
	}
	if err := d.own(); err != nil {
		return nil, err
	}
	if d.log, err = os.Create(filepath.Join(folder, "postgres.log")); err != nil {
		return nil, err
	}
	if out, err := d.as("initdb", "-D", d.data(), "-U", "postgres", "-E", "UTF8", "--locale=C", "-A", "trust").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w\n%s", err, out)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	_, d.port, _ = net.SplitHostPort(free.Addr().String())
	free.Close()
	if d.sql, err = sql.Open("pgx", d.url(d.address())); err != nil {
		return nil, err
	}
	d.sql.SetMaxOpenConns(4)
	return d, d.start(ctx)
}

func (d *database) own() error {
	if os.Getuid() != 0 {
		return nil
	}
	owner, err := user.Lookup("postgres")
	if err != nil {
		return err
	}
	uid, _ := strconv.Atoi(owner.Uid)
	gid, _ := strconv.Atoi(owner.Gid)
	return os.Chown(d.folder, uid, gid)
}

func (d *database) data() string    { return filepath.Join(d.folder, "data") }
func (d *database) address() string { return net.JoinHostPort("127.0.0.1", d.port) }
func (d *database) url(address string) string {
	return "postgres://postgres@" + address + "/postgres?sslmode=disable" // a link reads the messages
}

// start starts the server and waits until it answers.
func (d *database) start(ctx context.Context) error {
	server := d.as("postgres", "-D", d.data(), "-k", d.folder, "-p", d.port, "-c", "listen_addresses=127.0.0.1", "-c", "max_connections=200")
	server.Stdout, server.Stderr = d.log, d.log
	if err := server.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Wait()
	}()
	d.mu.Lock()
	d.server, d.ended = server, ended
	d.mu.Unlock()
	for began := now(); now().Sub(began) < maxReady; process.Pause(ctx, 20*time.Millisecond) {
		if err := d.sql.PingContext(ctx); err == nil {
			d.mu.Lock()
			d.upSince = now()
			d.mu.Unlock()
			return nil
		}
		select {
		case <-ended:
			return fmt.Errorf("PostgreSQL ended: %v; its log is %s", server.ProcessState, d.log.Name())
		case <-ctx.Done():
			return ctx.Err()
		default:
		}
	}
	return fmt.Errorf("PostgreSQL does not answer; its log is %s", d.log.Name())
}

// up returns since when the server answers; zero while it is down.
func (d *database) up() time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.upSince
}

// stop ends the server: at once by SIGKILL of all its processes, without a checkpoint by
// SIGQUIT (pg_ctl -m immediate), or cleanly by SIGINT.
func (d *database) stop(by syscall.Signal) {
	d.mu.Lock()
	server, ended := d.server, d.ended
	d.upSince = time.Time{}
	d.mu.Unlock()
	if server == nil {
		return
	}
	if by == syscall.SIGKILL {
		backends := childrenOf(server.Process.Pid)
		_ = server.Process.Kill()
		for _, pid := range backends {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		for _, pid := range backends { // a start refuses while one of them has the shared memory
			for range 1000 {
				if syscall.Kill(pid, 0) != nil {
					break
				}
				time.Sleep(5 * time.Millisecond)
			}
		}
	} else {
		_ = server.Process.Signal(by)
	}
	<-ended
}

// childrenOf returns the processes that a process has started.
func childrenOf(parent int) (children []int) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "stat"))
		_, rest, _ := strings.Cut(string(stat), ") ")
		if fields := strings.Fields(rest); len(fields) > 1 && fields[1] == strconv.Itoa(parent) {
			children = append(children, pid)
		}
	}
	return children
}

// remove ends the server and removes its files.
func (d *database) remove() {
	d.stop(syscall.SIGQUIT)
	_ = d.sql.Close()
	_ = d.log.Close()
	_ = os.RemoveAll(d.folder)
}

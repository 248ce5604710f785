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
	bin, folder string
	log         *os.File
	link        *link // follows a failover
	sql         *sql.DB

	mu        sync.Mutex
	primary   *instance
	instances int
	upSince   time.Time // zero while it is down
}

// instance is one PostgreSQL server, which may be a standby.
type instance struct {
	data, port string
	server     *exec.Cmd
	ended      chan struct{}
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
	if d.primary, err = d.newInstance(); err != nil {
		return nil, err
	}
	if out, err := d.as("initdb", "-D", d.primary.data, "-U", "postgres", "-E", "UTF8", "--locale=C", "-A", "trust").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w\n%s", err, out)
	}
	if d.link, err = newLink(d.address); err != nil {
		return nil, err
	}
	if d.sql, err = sql.Open("pgx", d.url(d.link.address())); err != nil {
		return nil, err
	}
	d.sql.SetMaxOpenConns(4)
	return d, d.start(ctx)
}

// newInstance chooses a folder and a free port.
func (d *database) newInstance() (*instance, error) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	defer free.Close()
	_, port, err := net.SplitHostPort(free.Addr().String())
	d.instances++
	return &instance{data: filepath.Join(d.folder, fmt.Sprint("data", d.instances)), port: port}, err
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

// address returns the address of the primary.
func (d *database) address() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.primary.address()
}

func (i *instance) address() string { return net.JoinHostPort("127.0.0.1", i.port) }

func (d *database) url(address string) string {
	return "postgres://postgres@" + address + "/postgres?sslmode=disable" // a link reads the messages
}

// start starts the primary and waits until it answers.
func (d *database) start(ctx context.Context) error {
	d.mu.Lock()
	primary := d.primary
	d.mu.Unlock()
	if err := d.launch(primary); err != nil {
		return err
	}
	return d.awaitAnswer(ctx, primary)
}

func (d *database) launch(i *instance) error {
	i.server = d.as("postgres", "-D", i.data, "-k", d.folder, "-p", i.port, "-c", "listen_addresses=127.0.0.1", "-c", "max_connections=200")
	i.server.Stdout, i.server.Stderr = d.log, d.log
	if err := i.server.Start(); err != nil {
		return err
	}
	ended, server := make(chan struct{}), i.server
	i.ended = ended
	go func() {
		defer close(ended)
		_ = server.Wait()
	}()
	return nil
}

// awaitAnswer waits until the primary answers, which is up from then on.
func (d *database) awaitAnswer(ctx context.Context, i *instance) error {
	return d.await(ctx, i, func() error {
		err := d.sql.PingContext(ctx)
		if err == nil {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.upSince = now()
		}
		return err
	})
}

// await waits until a condition of a server holds.
func (d *database) await(ctx context.Context, i *instance, condition func() error) error {
	var last error
	for began := now(); now().Sub(began) < maxReady; process.Pause(ctx, 20*time.Millisecond) {
		if last = condition(); last == nil {
			return nil
		}
		select {
		case <-i.ended:
			return fmt.Errorf("PostgreSQL ended: %v; its log is %s", i.server.ProcessState, d.log.Name())
		case <-ctx.Done():
			return ctx.Err()
		default:
		}
	}
	return fmt.Errorf("PostgreSQL does not answer: %w; its log is %s", last, d.log.Name())
}

// addStandby creates a standby and waits until every commit waits for it.
func (d *database) addStandby(ctx context.Context) (*instance, error) {
	standby, err := d.newInstance()
	if err != nil {
		return nil, err
	}
	from := "host=127.0.0.1 port=" + d.primary.port + " user=postgres application_name=standby"
	if out, err := d.as("pg_basebackup", "-D", standby.data, "-d", from, "-R", "-X", "stream", "-c", "fast").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("pg_basebackup: %w\n%s", err, out)
	}
	if err := d.launch(standby); err != nil {
		return nil, err
	}
	for _, statement := range []string{"ALTER SYSTEM SET synchronous_standby_names = 'standby'", "SELECT pg_reload_conf()"} {
		if _, err := d.sql.ExecContext(ctx, statement); err != nil {
			return nil, err
		}
	}
	return standby, d.await(ctx, standby, func() error {
		var count int
		err := d.sql.QueryRowContext(ctx, "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync' AND state = 'streaming'").Scan(&count)
		if err == nil && count == 0 {
			err = errors.New("no standby is synchronous")
		}
		return err
	})
}

// reloadTime is how long PostgreSQL may take to read its settings in all its processes.
const reloadTime = 500 * time.Millisecond

// failOver kills the primary and promotes a synchronous standby.
func (d *database) failOver(ctx context.Context, down time.Duration) error {
	standby, err := d.addStandby(ctx)
	if err != nil {
		return err
	}
	process.Pause(ctx, reloadTime)
	old := d.primary
	d.stop(syscall.SIGKILL)
	process.Pause(ctx, down)
	if out, err := d.as("pg_ctl", "promote", "-D", standby.data).CombinedOutput(); err != nil {
		return fmt.Errorf("pg_ctl promote: %w\n%s", err, out)
	}
	d.mu.Lock()
	d.primary = standby
	d.mu.Unlock()
	_ = os.RemoveAll(old.data)
	return d.awaitAnswer(ctx, standby)
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
	server, ended := d.primary.server, d.primary.ended
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

package postgres

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"blueprintd/blueprint"
)

// connectTimeout is the longest time that one attempt to connect to a host may take.
const connectTimeout = 3 * time.Second

// Config is a parsed URL of a database.
type Config struct {
	connection *pgx.ConnConfig

	mu   sync.Mutex
	open map[*tracked]struct{}
}

// tracked is a connection that Sever closes.
type tracked struct {
	net.Conn
	config *Config
}

// Close closes the connection.
func (c *tracked) Close() error {
	c.config.mu.Lock()
	delete(c.config.open, c)
	c.config.mu.Unlock()
	return c.Conn.Close()
}

// Sever closes the network connections of all pools, so that calls that wait for an answer
// fail.
func (c *Config) Sever() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for conn := range c.open {
		_ = conn.Conn.Close()
	}
}

// Parse reads the URL of a database, with the variables PGPASSFILE, PGSSLMODE and so on
// as defaults. Its errors do not contain the URL, which may contain a password.
func Parse(url string) (*Config, error) {
	if !strings.HasPrefix(url, "postgres://") && !strings.HasPrefix(url, "postgresql://") {
		return nil, errors.New("begins neither with postgres:// nor with postgresql://")
	}
	connection, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, errors.New("cannot be read as a URL of PostgreSQL")
	}
	// Otherwise an error of the driver would show the part of the password after the first @.
	if strings.Contains(connection.Host, "@") || slices.ContainsFunc(connection.Fallbacks, func(f *pgconn.FallbackConfig) bool { return strings.Contains(f.Host, "@") }) {
		return nil, errors.New("has more than one @: write %40 for one in the user or the password")
	}
	if connection.ConnectTimeout == 0 || connection.ConnectTimeout > connectTimeout {
		connection.ConnectTimeout = connectTimeout
	}
	// A connection that broke silently is noticed after about ten seconds.
	dialer := &net.Dialer{KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 4 * time.Second, Interval: 2 * time.Second, Count: 3}}
	config := &Config{connection: connection, open: map[*tracked]struct{}{}}
	connection.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dialer.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		config.mu.Lock()
		defer config.mu.Unlock()
		one := &tracked{conn, config}
		config.open[one] = struct{}{}
		return one, nil
	}
	connection.DefaultQueryExecMode = pgx.QueryExecModeDescribeExec
	connection.StatementCacheCapacity, connection.DescriptionCacheCapacity = 0, 0 // the store prepares its statements
	for name, value := range map[string]string{
		"application_name": "blueprintd", "timezone": "UTC", "jit": "off", "standard_conforming_strings": "on",
		"default_transaction_isolation": "read committed", "statement_timeout": "0",
		"idle_in_transaction_session_timeout": "0", "idle_session_timeout": "0",
		// Frees those of a process whose machine is gone, in about ten seconds.
		"tcp_keepalives_idle": "4", "tcp_keepalives_interval": "2", "tcp_keepalives_count": "3", "tcp_user_timeout": "10000",
	} {
		connection.RuntimeParams[name] = value
	}
	return config, nil
}

// EndFrozen makes PostgreSQL end a transaction in which nothing happens for five seconds: it
// frees the rows of a server that is frozen. A tool may be busy for longer with what it read.
func (c *Config) EndFrozen() {
	c.connection.RuntimeParams["idle_in_transaction_session_timeout"] = "5000"
	c.connection.RuntimeParams["lock_timeout"] = "5000" // so that a frozen tool cannot block writes without end
}

// Name returns the database for messages, without the password: postgres://user@host/name.
func (c *Config) Name() string {
	host := c.connection.Host
	if c.connection.Port != 5432 && !strings.HasPrefix(host, "/") {
		host = net.JoinHostPort(host, fmt.Sprint(c.connection.Port))
	}
	return fmt.Sprintf("postgres://%s@%s/%s", c.connection.User, host, c.connection.Database)
}

// Open returns a pool that connects when it is used.
func (c *Config) Open() *sql.DB {
	pool := stdlib.OpenDB(*c.connection, stdlib.OptionAfterConnect(func(_ context.Context, conn *pgx.Conn) error {
		register(conn.TypeMap())
		return nil
	}), stdlib.OptionResetSession(func(context.Context, *pgx.Conn) error { return nil }))
	pool.SetMaxIdleConns(0) // sessions of the store keep their connections
	return pool
}

// OpenShared returns a pool of a few connections for single statements.
func (c *Config) OpenShared() *sql.DB {
	pool := c.Open()
	pool.SetMaxOpenConns(4)
	pool.SetMaxIdleConns(2)
	pool.SetConnMaxIdleTime(time.Minute)
	return pool
}

// Commit ends the transaction of a connection. PostgreSQL answers COMMIT with ROLLBACK
// if a statement failed; that is an error here. unknown reports that the connection broke
// and the transaction may or may not have been committed.
func Commit(ctx context.Context, conn *sql.Conn) (unknown bool, err error) {
	err = conn.Raw(func(driverConn any) error {
		native := driverConn.(*stdlib.Conn).Conn()
		tag, err := native.PgConn().Exec(ctx, "COMMIT").ReadAll()
		if err != nil {
			// A fatal error ends the session: a proxy reports a lost connection with one, and
			// PostgreSQL a crash.
			var refused *pgconn.PgError
			decided := errors.As(err, &refused) && refused.SeverityUnlocalized != "FATAL" && refused.SeverityUnlocalized != "PANIC"
			unknown = !decided && !pgconn.SafeToRetry(err)
			return err
		}
		if len(tag) != 1 || tag[0].CommandTag.String() != "COMMIT" {
			return errors.New("the transaction was rolled back, because a statement in it had failed")
		}
		return nil
	})
	return unknown, err
}

// IsBroken reports whether a connection can no longer be used.
func IsBroken(conn *sql.Conn) (broken bool) {
	err := conn.Raw(func(driverConn any) error {
		broken = driverConn.(*stdlib.Conn).Conn().IsClosed()
		return nil
	})
	return broken || err != nil
}

// Class says what an error means for a transaction.
type Class uint8

// The classes of errors.
const (
	Other         Class = iota // of the statement itself, or not of the database
	NotNull                    // a value that must not be missing
	Unreachable                // no connection, or it broke
	Full                       // the disk of the database is full
	Busy                       // a lock or a limit of the database; the next try may succeed
	Canceled                   // an operator or a timeout canceled the statement
	ReadOnly                   // a standby, or a database that takes no writes
	Unprivileged               // the role may not do this
	Authorization              // user, password or database were refused
)

// isEnd reports whether an error says that a connection has ended.
func isEnd(err error) bool {
	for _, end := range []error{io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, driver.ErrBadConn, sql.ErrConnDone} {
		if errors.Is(err, end) {
			return true
		}
	}
	return strings.Contains(err.Error(), "conn closed") // pgconn has no name for it
}

// isOfFile reports whether an error is of a file and not of the network. A syscall.Errno
// alone has the methods of a net.Error; that of a connection is within a *net.OpError.
func isOfFile(err error) bool {
	var network net.Error
	if !errors.As(err, &network) {
		return false
	}
	_, is := network.(syscall.Errno)
	return is
}

// ClassOf classifies an error by its SQLSTATE.
func ClassOf(err error) Class {
	var refused *pgconn.PgError
	if !errors.As(err, &refused) {
		var network net.Error
		var connect *pgconn.ConnectError
		switch {
		case err == nil, errors.Is(err, sql.ErrNoRows):
			return Other
		case isOfFile(err):
			return Other
		case errors.As(err, &connect), errors.As(err, &network), pgconn.SafeToRetry(err), pgconn.Timeout(err), isEnd(err):
			return Unreachable
		}
		return Other
	}
	switch code := refused.Code; {
	case code == "23502":
		return NotNull
	case code == "25006":
		return ReadOnly
	case code == "42501":
		return Unprivileged
	case strings.HasPrefix(code, "28"), code == "3D000":
		return Authorization
	case strings.HasPrefix(code, "08"), strings.HasPrefix(code, "57P"), code == "25P03":
		return Unreachable
	case code == "57014":
		return Canceled
	case code == "53100":
		return Full
	case strings.HasPrefix(code, "53"), strings.HasPrefix(code, "40"), code == "55P03":
		return Busy
	}
	// Limits of a statement (54), damaged pages and failing disks (58, XX) too: they fail
	// the same statement again, and must not fail the others of a transaction with it.
	return Other
}

// minVersion is the oldest version of PostgreSQL that is supported, as in server_version_num.
const minVersion = 150000

// CheckServer refuses a server that is too old or would lose acknowledged writes.
func CheckServer(ctx context.Context, conn *sql.Conn) error {
	var version int
	var name, fsync, pages, commit, encoding string
	var standby bool
	const query = `SELECT current_setting('server_version_num')::int, current_setting('server_version'), current_setting('fsync'), current_setting('full_page_writes'),
		current_setting('synchronous_commit'), current_setting('server_encoding'), pg_is_in_recovery()`
	if err := conn.QueryRowContext(ctx, query).Scan(&version, &name, &fsync, &pages, &commit, &encoding, &standby); err != nil {
		return err
	}
	switch {
	case version < minVersion:
		return blueprint.Hinted("upgrade PostgreSQL to version 15 or newer", "the database is PostgreSQL %s", name)
	case standby:
		return blueprint.Hinted("connect to the primary: add target_session_attrs=read-write to the URL", "the database is a standby, which takes no writes")
	case encoding != "UTF8":
		return blueprint.Hinted("create it with: createdb --encoding UTF8 --template template0 NAME", "the database has the encoding %s", encoding)
	case commit == "off":
		return blueprint.Hinted("set synchronous_commit = on for the database", "synchronous_commit is off in PostgreSQL: acknowledged runs would be lost in a crash")
	case fsync != "on" || pages != "on":
		return blueprint.Hinted("set both to on in postgresql.conf", "fsync or full_page_writes is off in PostgreSQL: a power cut would damage the database")
	}
	return nil
}

// Standbys returns the standbys that confirm each commit before it is acknowledged, in the
// form of synchronous_standby_names; "" for none.
func Standbys(ctx context.Context, conn *sql.Conn) (names string, err error) {
	const query = `SELECT CASE WHEN current_setting('synchronous_commit') = 'local' THEN '' ELSE current_setting('synchronous_standby_names') END`
	return names, conn.QueryRowContext(ctx, query).Scan(&names)
}

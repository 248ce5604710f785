package store

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"os"
	"strings"

	"blueprintd/blueprint"
)

// quietSettings are those of a connection that looks at a database without
// leaving a trace: it writes neither to it nor to the files beside it, and
// makes none.
var quietSettings = append(commonSettings[:len(commonSettings):len(commonSettings)], "_query_only=1")

// logHeader is the size of the header of a write-ahead log, in bytes.
const logHeader = 32

// look opens a database for reading, such that nothing at all changes on the
// disk, and uses it. It sees what the write-ahead log holds, if there is one
// and its index is there; whole says whether it does. Without them the file
// stands for itself: nobody has it open.
func look(ctx context.Context, path string, use func(q *session, whole bool) error) error {
	// A log with a header alone holds nothing, and SQLite would wait ten seconds
	// for its index to fit it.
	log, whole := size(path+"-wal") > logHeader, true
	mode := "mode=ro&immutable=1"
	if log {
		if _, err := os.Stat(path + "-shm"); err == nil {
			mode = "mode=ro&readonly_shm=1"
		} else {
			whole = false
		}
	}
	return lookIn(ctx, path, mode, func(q *session) error { return use(q, whole) })
}

// lookPast is look at the file alone, as if it had no write-ahead log.
func lookPast(ctx context.Context, path string, use func(q *session) error) error {
	return lookIn(ctx, path, "mode=ro&immutable=1", use)
}

func lookIn(ctx context.Context, path, mode string, use func(q *session) error) (err error) {
	uri := strings.Replace(fileURI(path, quietSettings), "mode=rw", mode, 1)
	pool, err := sql.Open("sqlite", uri)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pool.Close()) }()
	q, err := newSession(ctx, pool)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, q.close()) }()
	return use(q)
}

// size gives the size of a file, 0 when there is none.
func size(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// logMagic begins every write-ahead log; its last bit tells the byte order of
// the checksums.
const logMagic = 0x377f0682

// checkLog refuses a write-ahead log that SQLite would take for an empty one
// and write over: its header is not one that a log ever had. All zero is what
// a power cut may leave of a log with nothing in it.
func checkLog(path string) error {
	file, err := os.Open(path) // SQLite has no locks on this one that closing it could drop
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	header := make([]byte, logHeader)
	if n, err := file.ReadAt(header, 0); n < len(header) {
		if errors.Is(err, io.EOF) {
			return nil // cut off before it held anything
		}
		return err
	}
	if soundLogHeader(header) || strings.Trim(string(header), "\x00") == "" {
		return nil
	}
	return &blueprint.Error{
		Code: blueprint.CodeConflict, Message: "the write-ahead log " + path + " is damaged or no such log, and what was committed last is in it",
		Hint: "restore the database and its log from a backup; without a backup move the log away, which loses what is in it",
	}
}

// soundLogHeader checks the checksum of the header of a write-ahead log.
func soundLogHeader(header []byte) bool {
	word := func(i int, bigEndian bool) uint32 {
		b := header[4*i:]
		if bigEndian {
			return uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])
		}
		return uint32(b[3])<<24 | uint32(b[2])<<16 | uint32(b[1])<<8 | uint32(b[0])
	}
	magic := word(0, true)
	if magic&^1 != logMagic {
		return false
	}
	var one, two uint32
	for i := 0; i < 6; i += 2 {
		one += word(i, magic&1 == 1) + two
		two += word(i+1, magic&1 == 1) + one
	}
	return one == word(6, true) && two == word(7, true)
}

//go:build unix

package store

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"

	"blueprintd/store/dbfile"
)

// faultyDisk fails one write, truncation, sync or deletion of SQLite in a folder.
type faultyDisk struct {
	folder string
	mode   faultMode
	at     int    // the point that fails; 0 = none
	left   string // where a kill copies the files to, as they are at that point

	mu     sync.Mutex
	points int
	struck bool
	broken error // of the test itself
}

type faultMode string

const (
	faultError faultMode = "error" // the one operation fails
	faultShort faultMode = "short" // half of the write succeeds
	faultFull  faultMode = "full"  // no later write succeeds
	faultKill  faultMode = "kill"  // nothing later happens
	faultSync  faultMode = "sync"  // a sync fails, of the database and its log; nothing else is a point
)

// point counts an operation and decides what happens to it.
func (d *faultyDisk) point(write bool) (fails bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.mode == faultSync {
		return false
	}
	if d.points++; d.at == 0 || d.points < d.at || d.struck && d.mode == faultError || d.struck && d.mode == faultShort {
		return false
	}
	if (d.mode == faultShort || d.mode == faultFull) && !write {
		return false
	}
	if !d.struck && d.mode == faultKill {
		d.broken = copyFolder(d.folder, d.left)
	}
	d.struck = true
	return true
}

// sync counts a sync of the database or its log and decides whether it fails.
func (d *faultyDisk) sync() (fails bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.mode != faultSync {
		return false
	}
	d.points++
	d.struck = d.struck || d.points == d.at
	return d.points == d.at
}

func copyFolder(from, to string) error {
	entries, err := os.ReadDir(from)
	for _, entry := range entries {
		var data []byte
		if data, err = os.ReadFile(filepath.Join(from, entry.Name())); err == nil {
			err = os.WriteFile(filepath.Join(to, entry.Name()), data, 0o600)
		}
		if err != nil {
			break
		}
	}
	return err
}

// faulty are the disks that fail, and what only pointers of C code refer to, which the
// garbage collector does not follow.
var faulty = struct {
	sync.Mutex
	disks map[*faultyDisk]bool
	kept  []any
}{disks: map[*faultyDisk]bool{}}

// keep keeps a value until the tests end.
func keep[V any](v V) V {
	faulty.Lock()
	defer faulty.Unlock()
	faulty.kept = append(faulty.kept, v)
	return v
}

// The functions of SQLite for files.
type (
	openFunc     = func(tls *libc.TLS, vfs, name, file uintptr, flags int32, outFlags uintptr) int32
	deleteFunc   = func(tls *libc.TLS, vfs, name uintptr, syncFolder int32) int32
	writeFunc    = func(tls *libc.TLS, file, data uintptr, size int32, offset int64) int32
	truncateFunc = func(tls *libc.TLS, file uintptr, size int64) int32
	syncFunc     = func(tls *libc.TLS, file uintptr, flags int32) int32
)

// pointerTo and funcAt convert between functions and pointers as the translated C code
// does; structAt returns what a pointer of it points to.
func pointerTo(f any) uintptr      { return (*[2]uintptr)(unsafe.Pointer(keep(&f)))[1] }
func funcAt[F any](p uintptr) F    { return *(*F)(unsafe.Pointer(&p)) }
func structAt[S any](p uintptr) *S { return *(**S)(unsafe.Pointer(&p)) }

// init puts functions in front of those of SQLite for files. They only call these for
// files that are on no faulty disk.
func init() {
	tls := libc.NewTLS()
	defer tls.Close()
	vfs := structAt[sqlite3.Tsqlite3_vfs](sqlite3.Xsqlite3_vfs_find(tls, 0))
	open, remove := funcAt[openFunc](vfs.FxOpen), funcAt[deleteFunc](vfs.FxDelete)
	vfs.FxOpen = pointerTo(openFunc(func(tls *libc.TLS, vfs, name, file uintptr, flags int32, outFlags uintptr) int32 {
		result := open(tls, vfs, name, file, flags, outFlags)
		if disk := diskOf(name); disk != nil && result == sqlite3.SQLITE_OK {
			disk.serve(file, libc.GoString(name))
		}
		return result
	}))
	vfs.FxDelete = pointerTo(deleteFunc(func(tls *libc.TLS, vfs, name uintptr, syncFolder int32) int32 {
		if disk := diskOf(name); disk != nil && disk.point(false) {
			return sqlite3.SQLITE_IOERR_DELETE
		}
		return remove(tls, vfs, name, syncFolder)
	}))
}

// diskOf returns the faulty disk of a file, nil if there is none.
func diskOf(name uintptr) *faultyDisk {
	if name == 0 {
		return nil
	}
	faulty.Lock()
	defer faulty.Unlock()
	for disk := range faulty.disks {
		if strings.HasPrefix(libc.GoString(name), disk.folder+"/") {
			return disk
		}
	}
	return nil
}

// serve puts the functions of a faulty disk in front of those of an open file.
func (d *faultyDisk) serve(file uintptr, name string) {
	ofDatabase := !strings.Contains(name, dbfile.PartialSuffix)
	header := structAt[sqlite3.Tsqlite3_file](file)
	methods := structAt[sqlite3.Tsqlite3_io_methods](header.FpMethods)
	// In memory of C: under the race detector, pointers of C must not lead into Go's.
	tls := libc.NewTLS()
	defer tls.Close()
	at := libc.Xmalloc(tls, libc.Tsize_t(unsafe.Sizeof(*methods)))
	instead := structAt[sqlite3.Tsqlite3_io_methods](at)
	*instead = *methods
	instead.FxWrite = pointerTo(writeFunc(func(tls *libc.TLS, file, data uintptr, size int32, offset int64) int32 {
		write := funcAt[writeFunc](methods.FxWrite)
		if !d.point(true) {
			return write(tls, file, data, size, offset)
		}
		switch d.mode {
		case faultFull:
			return sqlite3.SQLITE_FULL
		case faultShort:
			write(tls, file, data, size/2, offset)
		}
		return sqlite3.SQLITE_IOERR_WRITE
	}))
	instead.FxTruncate = pointerTo(truncateFunc(func(tls *libc.TLS, file uintptr, size int64) int32 {
		if d.point(false) {
			return sqlite3.SQLITE_IOERR_TRUNCATE
		}
		return funcAt[truncateFunc](methods.FxTruncate)(tls, file, size)
	}))
	instead.FxSync = pointerTo(syncFunc(func(*libc.TLS, uintptr, int32) int32 {
		if d.point(false) || ofDatabase && d.sync() {
			return sqlite3.SQLITE_IOERR_FSYNC
		}
		return sqlite3.SQLITE_OK // no test loses power
	}))
	header.FpMethods = at
}

// on calls f while the disk is in place.
func (d *faultyDisk) on(f func()) {
	faulty.Lock()
	faulty.disks[d] = true
	faulty.Unlock()
	f()
	faulty.Lock()
	delete(faulty.disks, d)
	faulty.Unlock()
}

// An upgrade that is killed, or whose disk fails, at any write leaves the database as it
// was or upgraded, and the next start goes on from there.
func TestUpgradeWithFaults(t *testing.T) {
	t.Parallel()
	template := testOptions(t)
	before := used(t, template)
	for _, test := range []struct {
		mode faultMode
		step int // from point to point, without -thorough
	}{{faultKill, 13}, {faultError, 29}, {faultShort, 31}, {faultFull, 37}} {
		mode, step := test.mode, test.step
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			if *thorough {
				step = 1
			}
			points, old, upgraded := 0, 0, 0
			for struck := true; struck && !t.Failed(); {
				points += step
				options := template
				folder, left := t.TempDir(), t.TempDir()
				options.Path = filepath.Join(folder, filepath.Base(template.Path))
				check(t, copyFolder(filepath.Dir(template.Path), folder))
				newer := nextForm(t, options)
				newer.syncFolder = func(string) error { return nil }
				disk := &faultyDisk{folder: folder, mode: mode, at: points, left: left}
				disk.on(func() {
					if s, err := Open(t.Context(), newer); err == nil {
						_ = s.Close() // which may meet the fault
					}
				})
				check(t, disk.broken)
				if struck = disk.struck; !struck {
					left = folder
				}
				if mode == faultKill && struck {
					newer.Path = filepath.Join(left, filepath.Base(template.Path))
				}
				switch version := versionOf(t, newer.Path); version {
				case SchemaVersion:
					old++
				case next:
					upgraded++
					if version := versionOf(t, oldCopy(newer.Path, SchemaVersion)); version != SchemaVersion {
						t.Errorf("point %d: the copy has version %d", points, version)
					}
				default:
					t.Errorf("point %d: version %d", points, version)
				}
				wantContent(t, newer.Path, before)
				s, err := Open(t.Context(), newer)
				if err != nil {
					t.Fatalf("point %d: %v", points, err)
				}
				check(t, s.Close())
				if version := versionOf(t, newer.Path); version != next {
					t.Errorf("point %d: version %d after the next start", points, version)
				}
				wantContent(t, newer.Path, before)
				wantContent(t, oldCopy(newer.Path, SchemaVersion), before)
				if names := files(t, filepath.Dir(newer.Path)); len(names) != 3 {
					t.Errorf("point %d: files are %v", points, names)
				}
			}
			if old == 0 || upgraded < 2 {
				t.Errorf("up to point %d %d trials leave the old version and %d the new one", points, old, upgraded)
			}
		})
	}
}

// A server whose disk fails to sync during an upgrade does not start, with a log of the
// old version or without.
func TestUpgradeReportsFailedSyncs(t *testing.T) {
	t.Parallel()
	for _, killed := range []bool{true, false} {
		t.Run(fmt.Sprintf("killed %t", killed), func(t *testing.T) {
			t.Parallel()
			template := testOptions(t)
			before := used(t, template)
			if killed {
				template = withLog(t, template)
				before = contentOf(t, copyOf(t, template).Path)
			}
			points := 0
			for struck := true; struck && !t.Failed(); {
				points++
				newer := nextForm(t, copyOf(t, template))
				disk := &faultyDisk{folder: filepath.Dir(newer.Path), mode: faultSync, at: points}
				disk.on(func() {
					s, err := Open(t.Context(), newer)
					if struck = disk.struck; struck && err == nil {
						t.Errorf("sync %d failed, and the server starts", points)
					}
					if err == nil {
						_ = s.Close()
					}
				})
				s, err := Open(t.Context(), newer)
				if err != nil {
					t.Fatalf("sync %d: %v", points, err)
				}
				check(t, s.Close())
				wantContent(t, newer.Path, before)
			}
			if points < 4 {
				t.Errorf("%d syncs, want 3 at least", points-1)
			}
		})
	}
}

// copyOf returns options for a copy of a database.
func copyOf(t testing.TB, o Options) Options {
	t.Helper()
	folder := t.TempDir()
	check(t, copyFolder(filepath.Dir(o.Path), folder))
	o.Path = filepath.Join(folder, filepath.Base(o.Path))
	return o
}

// withLog returns options for a copy of a database as a killed server leaves it: the last
// commit is in its log only.
func withLog(t testing.TB, o Options) Options {
	t.Helper()
	s := must(Open(t.Context(), o))(t)
	user(t, s, "kim")
	left := copyOf(t, o)
	check(t, s.Close())
	return left
}

package faultfs

import (
	"fmt"
	"sync"
	"syscall"
)

// Kind is the kind of a point.
type Kind uint8

// The kinds of points.
const (
	Write Kind = iota
	Sync
	Truncate
	Create
	Unlink
	Rename
	SyncFolder
	kinds
)

var kindNames = [kinds]string{"write", "sync", "truncate", "create", "unlink", "rename", "sync of the folder"}

func (k Kind) String() string { return kindNames[k] }

// Kinds lists all kinds.
func Kinds() []Kind { return []Kind{Write, Sync, Truncate, Create, Unlink, Rename, SyncFolder} }

// Point is a change of the disk that is about to happen.
type Point struct {
	Number int // from 1 on
	Kind   Kind
	Name   string // of the file, without its folder; "" for the folder
	Size   int    // bytes, of a write
}

func (p Point) String() string {
	if p.Kind == Write {
		return fmt.Sprintf("%s of %d bytes to %s", p.Kind, p.Size, p.Name)
	}
	return fmt.Sprintf("%s %s", p.Kind, p.Name)
}

// Decision is what happens at a point. The zero value lets the change succeed.
type Decision struct {
	// Error fails it without any effect.
	Error syscall.Errno
	// Short limits the bytes that a write writes; 0 writes all.
	Short int
	// Freeze fails every point from this one on, permanently.
	Freeze bool
	// FreezeAfter does the same from the next point on.
	FreezeAfter bool
}

// Disk holds the files of one folder. It is safe for concurrent use.
type Disk struct {
	mu       sync.Mutex
	fault    func(Point) Decision
	points   int
	counts   [kinds]int
	frozen   bool
	readOnly bool
	quota    int64 // 0 = no limit

	nodes   map[uint64]*node
	last    uint64
	names   map[string]*node
	durable map[string]*node // the names at the last sync of the folder
	moves   []move           // changes of names since then
}

// node is one file, under any number of names.
type node struct {
	id     uint64
	mode   uint32
	links  int
	name   string // the latest, for messages
	data   []byte
	synced []byte   // data at the last sync
	since  []change // changes of the data since then
}

// change is a write, or a truncation when data is nil.
type change struct {
	offset int64 // of a truncation: the new size
	data   []byte
}

// move maps names to their new files, for an atomic change; nil removes the name.
type move map[string]*node

// New returns a disk on which an image is durable.
func New(image Image) *Disk {
	d := &Disk{nodes: map[uint64]*node{}, names: map[string]*node{}, durable: map[string]*node{}, last: 1}
	for name, file := range image {
		n := d.node(file.Mode)
		n.data, n.synced = append([]byte(nil), file.Data...), append([]byte(nil), file.Data...)
		n.links, n.name = 1, name
		d.names[name], d.durable[name] = n, n
	}
	return d
}

// node returns a file without a name. The caller holds d.mu, unless d is not shared yet.
func (d *Disk) node(mode uint32) *node {
	d.last++
	n := &node{id: d.last, mode: mode}
	d.nodes[n.id] = n
	return n
}

// Fail sets the function that decides at each point; nil lets all succeed. It is called
// under the lock of the disk and must not call the disk.
func (d *Disk) Fail(fault func(Point) Decision) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fault = fault
}

// SetQuota bounds the total size of all files, in bytes; 0 = no bound. More is refused with
// ENOSPC.
func (d *Disk) SetQuota(bytes int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.quota = bytes
}

// SetReadOnly makes every change fail with EROFS, or succeed again.
func (d *Disk) SetReadOnly(on bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.readOnly = on
}

// Points returns the number of points reached so far.
func (d *Disk) Points() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.points
}

// Counts returns the number of points of each kind reached so far.
func (d *Disk) Counts() map[Kind]int {
	d.mu.Lock()
	defer d.mu.Unlock()
	counts := map[Kind]int{}
	for kind, n := range d.counts {
		counts[Kind(kind)] = n
	}
	return counts
}

// Used returns the total size of the files in bytes.
func (d *Disk) Used() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.used()
}

func (d *Disk) used() (sum int64) {
	for _, n := range d.nodes {
		if n.links > 0 {
			sum += int64(len(n.data))
		}
	}
	return sum
}

// point counts a change that is about to happen and returns whether it may happen and, for
// a write, how many of its bytes. The caller must call after when it has happened.
func (d *Disk) point(kind Kind, name string, size int) (take int, after func(), err syscall.Errno) {
	after = func() {}
	if d.frozen {
		return 0, after, syscall.EIO
	}
	if d.readOnly {
		return 0, after, syscall.EROFS
	}
	d.points++
	d.counts[kind]++
	if d.fault == nil {
		return size, after, 0
	}
	decision := d.fault(Point{d.points, kind, name, size})
	switch {
	case decision.Freeze:
		d.frozen = true
		return 0, after, syscall.EIO
	case decision.Error != 0:
		return 0, after, decision.Error
	case decision.FreezeAfter:
		after = func() { d.frozen = true }
	}
	if decision.Short > 0 && decision.Short < size {
		size = decision.Short
	}
	return size, after, 0
}

// room reports whether a file may grow to a size.
func (d *Disk) room(n *node, size int64) bool {
	more := size - int64(len(n.data))
	return d.quota == 0 || more <= 0 || d.used()+more <= d.quota
}

package faultfs

import "syscall"

// write changes bytes of a file and returns how many. A write by the kernel itself is no
// point and never fails. The caller holds d.mu.
func (d *Disk) write(n *node, offset int64, data []byte, byItself bool) (int, syscall.Errno) {
	if !byItself {
		take, after, err := d.point(Write, n.name, len(data))
		if err != 0 {
			return 0, err
		}
		defer after()
		if data = data[:take]; !d.room(n, offset+int64(take)) {
			return 0, syscall.ENOSPC
		}
	}
	c := change{offset, append([]byte{}, data...)}
	n.data = c.apply(n.data)
	n.since = append(n.since, c)
	return len(data), 0
}

// truncate changes the size of a file. The caller holds d.mu.
func (d *Disk) truncate(n *node, size int64) syscall.Errno {
	_, after, err := d.point(Truncate, n.name, 0)
	if err != 0 {
		return err
	}
	defer after()
	if !d.room(n, size) {
		return syscall.ENOSPC
	}
	c := change{offset: size}
	n.data = c.apply(n.data)
	n.since = append(n.since, c)
	return 0
}

// sync makes the content of a file durable, but not its name, which needs a sync of the
// folder. As with the file systems of Linux, bytes of a failed sync are not written again,
// and yet a later sync succeeds. The caller holds d.mu.
func (d *Disk) sync(n *node) syscall.Errno {
	_, after, err := d.point(Sync, n.name, 0)
	if err != 0 {
		if !d.frozen {
			n.since = nil
		}
		return err
	}
	defer after()
	for _, c := range n.since {
		n.synced = c.apply(n.synced)
	}
	n.since = nil
	return 0
}

// syncFolder makes the names durable. The caller holds d.mu.
func (d *Disk) syncFolder() syscall.Errno {
	_, after, err := d.point(SyncFolder, "", 0)
	if err != 0 {
		return err
	}
	defer after()
	for _, m := range d.moves {
		m.apply(d.durable)
	}
	d.moves = nil
	return 0
}

// create creates an empty file. The caller holds d.mu.
func (d *Disk) create(name string, mode uint32) (*node, syscall.Errno) {
	if d.names[name] != nil {
		return nil, syscall.EEXIST
	}
	_, after, err := d.point(Create, name, 0)
	if err != 0 {
		return nil, err
	}
	defer after()
	n := d.node(mode)
	d.move(move{name: n})
	return n, 0
}

// unlink removes a name. The caller holds d.mu.
func (d *Disk) unlink(name string) syscall.Errno {
	return d.rearrange(Unlink, name, func() move { return move{name: nil} })
}

// rename changes the name of a file and replaces a file with the new name. The caller holds
// d.mu.
func (d *Disk) rename(old, fresh string) syscall.Errno {
	return d.rearrange(Rename, old, func() move { return move{old: nil, fresh: d.names[old]} })
}

// link adds a name to a file. The caller holds d.mu.
func (d *Disk) link(n *node, name string) syscall.Errno {
	if d.names[name] != nil {
		return syscall.EEXIST
	}
	_, after, err := d.point(Create, name, 0)
	if err != 0 {
		return err
	}
	defer after()
	d.move(move{name: n})
	return 0
}

func (d *Disk) rearrange(kind Kind, name string, change func() move) syscall.Errno {
	if d.names[name] == nil {
		return syscall.ENOENT
	}
	_, after, err := d.point(kind, name, 0)
	if err != 0 {
		return err
	}
	defer after()
	d.move(change())
	return 0
}

// move changes names now, and durably at the next sync of the folder.
func (d *Disk) move(m move) {
	for name := range m {
		if old := d.names[name]; old != nil {
			old.links--
		}
	}
	m.apply(d.names)
	for name, n := range m {
		if n != nil {
			n.links++
			n.name = name
		}
	}
	d.moves = append(d.moves, m)
}

func (m move) apply(names map[string]*node) {
	for name, n := range m {
		if n == nil {
			delete(names, name)
		} else {
			names[name] = n
		}
	}
}

// apply applies the change to the content of a file, in place if possible.
func (c change) apply(content []byte) []byte {
	end := c.offset + int64(len(c.data))
	if c.data == nil && end < int64(len(content)) {
		clear(content[end:])
		return content[:end]
	}
	if more := end - int64(len(content)); more > 0 {
		content = append(content, make([]byte, more)...)
	}
	copy(content[c.offset:], c.data)
	return content
}

package faultfs

import (
	"math"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// system serves the kernel's requests for one folder without subfolders.
type system struct {
	fuse.RawFileSystem // for unsupported operations
	disk               *Disk
}

// always is an infinite cache lifetime: only the kernel changes names and sizes.
const always = math.MaxInt32

func (s *system) String() string { return "torture" }

func attributes(n *node, out *fuse.Attr) {
	*out = fuse.Attr{
		Ino: n.id, Size: uint64(len(n.data)), Blocks: uint64(len(n.data)+511) / 512, Blksize: 4096,
		Mode: syscall.S_IFREG | n.mode, Nlink: uint32(n.links), Mtime: 1, Ctime: 1, Atime: 1,
	}
}

// root is the id that the kernel gives the folder.
const root = fuse.FUSE_ROOT_ID

func rootAttributes(out *fuse.Attr) {
	*out = fuse.Attr{Ino: root, Mode: syscall.S_IFDIR | 0o700, Nlink: 2, Mtime: 1, Ctime: 1, Atime: 1}
}

func (s *system) entry(n *node, out *fuse.EntryOut) fuse.Status {
	out.NodeId, out.EntryValid, out.AttrValid = n.id, always, always
	attributes(n, &out.Attr)
	return fuse.OK
}

func (s *system) Lookup(_ <-chan struct{}, _ *fuse.InHeader, name string, out *fuse.EntryOut) fuse.Status {
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	n := s.disk.names[name]
	if n == nil {
		return fuse.ENOENT
	}
	return s.entry(n, out)
}

func (s *system) Access(<-chan struct{}, *fuse.AccessIn) fuse.Status { return fuse.OK }

func (s *system) GetAttr(_ <-chan struct{}, in *fuse.GetAttrIn, out *fuse.AttrOut) fuse.Status {
	out.AttrValid = always
	if in.NodeId == root {
		rootAttributes(&out.Attr)
		return fuse.OK
	}
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	n := s.disk.nodes[in.NodeId]
	if n == nil {
		return fuse.ENOENT
	}
	attributes(n, &out.Attr)
	return fuse.OK
}

func (s *system) SetAttr(_ <-chan struct{}, in *fuse.SetAttrIn, out *fuse.AttrOut) fuse.Status {
	out.AttrValid = always
	if in.NodeId == root {
		rootAttributes(&out.Attr)
		return fuse.OK
	}
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	n := s.disk.nodes[in.NodeId]
	if n == nil {
		return fuse.ENOENT
	}
	if mode, given := in.GetMode(); given {
		n.mode = mode & 0o7777
	}
	if size, given := in.GetSize(); given {
		if err := s.disk.truncate(n, int64(size)); err != 0 {
			return fuse.Status(err)
		}
	}
	attributes(n, &out.Attr)
	return fuse.OK
}

func (s *system) Create(_ <-chan struct{}, in *fuse.CreateIn, name string, out *fuse.CreateOut) fuse.Status {
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	n, err := s.disk.create(name, in.Mode&0o7777)
	if err != 0 {
		return fuse.Status(err)
	}
	out.OpenFlags = fuse.FOPEN_KEEP_CACHE
	return s.entry(n, &out.EntryOut)
}

func (s *system) Mknod(_ <-chan struct{}, in *fuse.MknodIn, name string, out *fuse.EntryOut) fuse.Status {
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	n, err := s.disk.create(name, in.Mode&0o7777)
	if err != 0 {
		return fuse.Status(err)
	}
	return s.entry(n, out)
}

func (s *system) Link(_ <-chan struct{}, in *fuse.LinkIn, name string, out *fuse.EntryOut) fuse.Status {
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	n := s.disk.nodes[in.Oldnodeid]
	if n == nil {
		return fuse.ENOENT
	}
	if err := s.disk.link(n, name); err != 0 {
		return fuse.Status(err)
	}
	return s.entry(n, out)
}

func (s *system) Unlink(_ <-chan struct{}, _ *fuse.InHeader, name string) fuse.Status {
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	return fuse.Status(s.disk.unlink(name))
}

func (s *system) Rename(_ <-chan struct{}, in *fuse.RenameIn, old, fresh string) fuse.Status {
	if in.Flags != 0 {
		return fuse.EINVAL
	}
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	return fuse.Status(s.disk.rename(old, fresh))
}

func (s *system) Open(_ <-chan struct{}, _ *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	out.OpenFlags = fuse.FOPEN_KEEP_CACHE
	return fuse.OK
}

func (s *system) Read(_ <-chan struct{}, in *fuse.ReadIn, buf []byte) (fuse.ReadResult, fuse.Status) {
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	n := s.disk.nodes[in.NodeId]
	if n == nil {
		return nil, fuse.ENOENT
	}
	if in.Offset >= uint64(len(n.data)) {
		return fuse.ReadResultData(nil), fuse.OK
	}
	return fuse.ReadResultData(buf[:copy(buf, n.data[in.Offset:])]), fuse.OK
}

func (s *system) Write(_ <-chan struct{}, in *fuse.WriteIn, data []byte) (uint32, fuse.Status) {
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	n := s.disk.nodes[in.NodeId]
	if n == nil {
		return 0, fuse.ENOENT
	}
	written, err := s.disk.write(n, int64(in.Offset), data, in.WriteFlags&fuse.WRITE_CACHE != 0)
	return uint32(written), fuse.Status(err)
}

func (s *system) Flush(<-chan struct{}, *fuse.FlushIn) fuse.Status { return fuse.OK }

func (s *system) Fsync(_ <-chan struct{}, in *fuse.FsyncIn) fuse.Status {
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	n := s.disk.nodes[in.NodeId]
	if n == nil {
		return fuse.ENOENT
	}
	return fuse.Status(s.disk.sync(n))
}

func (s *system) OpenDir(<-chan struct{}, *fuse.OpenIn, *fuse.OpenOut) fuse.Status { return fuse.OK }

func (s *system) FsyncDir(<-chan struct{}, *fuse.FsyncIn) fuse.Status {
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	return fuse.Status(s.disk.syncFolder())
}

func (s *system) ReadDir(_ <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	for i, name := range s.disk.list() {
		if uint64(i) >= in.Offset && !out.AddDirEntry(fuse.DirEntry{Name: name, Ino: s.disk.names[name].id, Mode: syscall.S_IFREG}) {
			break
		}
	}
	return fuse.OK
}

func (s *system) StatFs(_ <-chan struct{}, _ *fuse.InHeader, out *fuse.StatfsOut) fuse.Status {
	s.disk.mu.Lock()
	defer s.disk.mu.Unlock()
	total := int64(1 << 40)
	if s.disk.quota > 0 {
		total = s.disk.quota
	}
	const block = 4096
	free := uint64(max(0, total-s.disk.used()) / block)
	*out = fuse.StatfsOut{Blocks: uint64(total / block), Bfree: free, Bavail: free, Bsize: block, Frsize: block, NameLen: 255, Files: 1 << 20, Ffree: 1 << 20}
	return fuse.OK
}

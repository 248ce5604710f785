package faultfs

import (
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
)

// File is a file of an image.
type File struct {
	Data []byte
	Mode uint32 // permissions
}

// Image is the content of a folder. Its bytes must not be changed.
type Image map[string]File

// Save writes the files of an image into a folder of the machine.
func (i Image) Save(folder string) error {
	for name, file := range i {
		if err := os.WriteFile(filepath.Join(folder, name), file.Data, os.FileMode(file.Mode)&0o777); err != nil {
			return err
		}
	}
	return nil
}

// Now returns the files as programs see them, which is also what remains after a process
// dies.
func (d *Disk) Now() Image {
	d.mu.Lock()
	defer d.mu.Unlock()
	image := Image{}
	for name, n := range d.names {
		image[name] = File{append([]byte(nil), n.data...), n.mode}
	}
	return image
}

// Loss is the effect of a power cut on unsynced changes.
type Loss uint8

// The losses.
const (
	// LoseAll keeps only what was synced.
	LoseAll Loss = iota
	// LoseSome keeps any part of the changes, in any order.
	LoseSome
	// LoseTail keeps the first changes of each file in order, and of the next one any of
	// its sectors of 512 bytes.
	LoseTail
	losses
)

// Losses lists all losses.
func Losses() []Loss { return []Loss{LoseAll, LoseSome, LoseTail} }

func (l Loss) String() string {
	return [losses]string{"everything unsynced lost", "a part of the unsynced lost", "the last writes lost and torn"}[l]
}

const sector = 512

// Cut returns the files as a power cut might leave them. It keeps a prefix of the unsynced
// changes of names: folders are journalled in order.
func (d *Disk) Cut(loss Loss, random *rand.Rand) Image {
	d.mu.Lock()
	defer d.mu.Unlock()
	names := maps.Clone(d.durable)
	if loss != LoseAll {
		for _, m := range d.moves[:random.IntN(len(d.moves)+1)] {
			m.apply(names)
		}
	}
	image, contents := Image{}, map[*node][]byte{}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		n := names[name]
		if _, done := contents[n]; !done {
			contents[n] = n.left(loss, random)
		}
		image[name] = File{contents[n], n.mode}
	}
	return image
}

// left returns the content that a power cut leaves of a file.
func (n *node) left(loss Loss, random *rand.Rand) []byte {
	content := append([]byte(nil), n.synced...)
	switch loss {
	case LoseSome:
		kept := slices.DeleteFunc(slices.Clone(n.since), func(change) bool { return random.IntN(2) == 0 })
		random.Shuffle(len(kept), func(i, j int) { kept[i], kept[j] = kept[j], kept[i] })
		for _, c := range kept {
			content = c.apply(content)
		}
	case LoseTail:
		whole := random.IntN(len(n.since) + 1)
		for _, c := range n.since[:whole] {
			content = c.apply(content)
		}
		if whole < len(n.since) {
			content = n.since[whole].tear(content, random)
		}
	}
	return content
}

// tear applies a change to some of its sectors. A truncation is applied whole or not at
// all.
func (c change) tear(content []byte, random *rand.Rand) []byte {
	if c.data == nil {
		return content
	}
	for from := int64(0); from < int64(len(c.data)); {
		to := min((c.offset+from)/sector*sector+sector-c.offset, int64(len(c.data)))
		if random.IntN(2) == 0 {
			content = change{c.offset + from, c.data[from:to]}.apply(content)
		}
		from = to
	}
	return content
}

// list returns the names in order. The caller holds d.mu.
func (d *Disk) list() []string { return slices.Sorted(maps.Keys(d.names)) }

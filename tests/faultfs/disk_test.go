package faultfs

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
)

// do changes a disk as the kernel would.
func do(t *testing.T, d *Disk, steps string) {
	t.Helper()
	for step := range strings.SplitSeq(steps, "; ") {
		words := strings.Fields(step)
		var err syscall.Errno
		switch n := d.names[words[len(words)-1]]; words[0] {
		case "create":
			_, err = d.create(words[1], 0o600)
		case "write":
			_, err = d.write(n, int64(len(n.data)), []byte(words[1]), false)
		case "overwrite":
			_, err = d.write(n, 0, []byte(words[1]), false)
		case "cut":
			err = d.truncate(n, 1)
		case "sync":
			err = d.sync(n)
		case "folder":
			err = d.syncFolder()
		case "unlink":
			err = d.unlink(words[1])
		case "rename":
			err = d.rename(words[1], words[2])
		case "link":
			err = d.link(d.names[words[1]], words[2])
		default:
			t.Fatalf("unknown step %q", step)
		}
		if err != 0 {
			t.Fatalf("%s: %v, want 0", step, err)
		}
	}
}

func texts(image Image) string {
	var all []string
	for name, file := range image {
		all = append(all, name+"="+string(file.Data))
	}
	if len(all) > 1 && all[0] > all[1] {
		all[0], all[1] = all[1], all[0]
	}
	return strings.Join(all, " ")
}

func TestPowerCutForgetsWhatWasNotSynced(t *testing.T) {
	for _, test := range []struct{ steps, now, left string }{
		{"create a; write one a", "a=one", ""},
		{"create a; write one a; sync a", "a=one", ""},
		{"create a; write one a; folder", "a=one", "a="},
		{"create a; write one a; sync a; folder", "a=one", "a=one"},
		{"create a; write one a; sync a; folder; write two a", "a=onetwo", "a=one"},
		{"create a; write one a; sync a; folder; overwrite tw a", "a=twe", "a=one"},
		{"create a; write one a; sync a; folder; cut a", "a=o", "a=one"},
		{"create a; write one a; sync a; folder; cut a; sync a; write x a", "a=ox", "a=o"},
		{"create a; write one a; sync a; folder; unlink a", "", "a=one"},
		{"create a; write one a; sync a; folder; unlink a; folder", "", ""},
		{"create a; write one a; sync a; folder; rename a b", "b=one", "a=one"},
		{"create a; write one a; sync a; folder; rename a b; folder", "b=one", "b=one"},
		{"create a; write one a; sync a; link a b; folder; unlink a", "b=one", "a=one b=one"},
		{"create a; folder; create b; write two b; sync b; rename b a", "a=two", "a="},
	} {
		t.Run(test.steps, func(t *testing.T) {
			d := New(nil)
			do(t, d, test.steps)
			if got := texts(d.Now()); got != test.now {
				t.Errorf("now %q, want %q", got, test.now)
			}
			if got := texts(d.Cut(LoseAll, rand.New(rand.NewPCG(1, 1)))); got != test.left {
				t.Errorf("after a cut %q, want %q", got, test.left)
			}
		})
	}
}

func TestLossesKeepSomeOfWhatWasNotSynced(t *testing.T) {
	for loss, all := range map[Loss]string{LoseSome: " a b c ab ac bc abc", LoseTail: " a ab abc"} {
		t.Run(fmt.Sprint(loss), func(t *testing.T) {
			seen := map[string]bool{}
			for seed := range uint64(300) {
				d := New(Image{"f": {}})
				do(t, d, "write a f; write b f; write c f")
				left := string(d.Cut(loss, rand.New(rand.NewPCG(seed, 2)))["f"].Data)
				seen[strings.ReplaceAll(left, "\x00", "")] = true
			}
			for _, want := range strings.Split(all, " ") {
				if !seen[want] {
					t.Errorf("%s never left %q", loss, want)
				}
			}
		})
	}
}

func TestTornWriteEndsAtSectors(t *testing.T) {
	torn := false
	for seed := range uint64(100) {
		d := New(Image{"f": {}})
		do(t, d, "write "+strings.Repeat("x", 1500)+" f")
		left := d.Cut(LoseTail, rand.New(rand.NewPCG(seed, 3)))["f"].Data
		for from := 0; from < len(left); from += sector {
			piece := string(left[from:min(from+sector, len(left))])
			if strings.Trim(piece, "x") != "" && strings.Trim(piece, "\x00") != "" {
				t.Fatalf("seed %d: a sector is half written", seed)
			}
			torn = torn || piece[0] == 0
		}
	}
	if !torn {
		t.Error("no write was ever torn")
	}
}

func TestFaults(t *testing.T) {
	d := New(Image{"f": {Data: []byte("old")}})
	f := d.names["f"]
	fault := Decision{}
	d.Fail(func(p Point) Decision { return fault })
	fault = Decision{Error: syscall.EIO}
	if _, err := d.write(f, 0, []byte("new"), false); err != syscall.EIO || string(f.data) != "old" {
		t.Errorf("EIO: %v, %q; want %v and old", err, f.data, syscall.EIO)
	}
	fault = Decision{Short: 2}
	if n, err := d.write(f, 0, []byte("new"), false); n != 2 || err != 0 || string(f.data) != "ned" {
		t.Errorf("short: %d, %v, %q; want 2, 0 and ned", n, err, f.data)
	}
	fault = Decision{Error: syscall.EIO}
	if err := d.sync(f); err != syscall.EIO {
		t.Errorf("sync: %v, want %v", err, syscall.EIO)
	}
	fault = Decision{}
	if err := d.sync(f); err != 0 || string(f.synced) != "old" {
		t.Errorf("a second sync brought back what the first lost: %v, %q; want 0 and old", err, f.synced)
	}
	d.SetQuota(4)
	if _, err := d.write(f, 0, []byte("abcde"), false); err != syscall.ENOSPC {
		t.Errorf("quota: %v, want %v", err, syscall.ENOSPC)
	}
	d.SetQuota(0)
	d.SetReadOnly(true)
	if err := d.truncate(f, 0); err != syscall.EROFS {
		t.Errorf("read-only: %v, want %v", err, syscall.EROFS)
	}
	d.SetReadOnly(false)
	before := d.Points()
	fault = Decision{FreezeAfter: true}
	if _, err := d.write(f, 0, []byte("x"), false); err != 0 {
		t.Errorf("the write before the freeze: %v, want 0", err)
	}
	if err := d.sync(f); err != syscall.EIO || d.Points() != before+1 {
		t.Errorf("frozen: %v, %d points; want %v and Points %v", err, d.Points()-before, syscall.EIO, before+1)
	}
}

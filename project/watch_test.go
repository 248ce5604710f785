package project

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"blueprintd/foundation/clock"
)

func write(t *testing.T, folder, name, text string) {
	t.Helper()
	path := filepath.Join(folder, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func scan(t *testing.T, folder string) Listing {
	t.Helper()
	listing, err := Scan(folder)
	if err != nil {
		t.Fatal(err)
	}
	return listing
}

// TestWatch plays a sequence of scans of a folder, given as the content of a.test.yaml at
// each scan ("-" = no file), and checks the events. Time is that of the bubble.
func TestWatch(t *testing.T) {
	for _, c := range []struct {
		name  string
		looks []string
		want  []string
	}{
		{"nothing", []string{"1", "1", "1", "1"}, nil},
		{"a change", []string{"1", "22", "22"}, []string{"changed"}},
		{"half a file, then all", []string{"1", "2", "22", "222", "222", "222"}, []string{"changed"}},
		{"one that is back as it was", []string{"1", "22", "1", "1"}, nil},
		{"gone", []string{"1", "-", "-", "-"}, []string{"deleted"}},
		{"gone for a moment", []string{"1", "-", "22", "22"}, []string{"changed"}},
		{"new", []string{"-", "-", "1", "1"}, []string{"created"}},
		{"new and gone", []string{"-", "1", "-", "-", "-"}, nil},
		{"twice", []string{"1", "22", "22", "333", "333"}, []string{"changed", "changed"}},
		{"a folder that is away", []string{"1", "!", "!", "1", "1", "22", "22"}, []string{"away", "changed"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				folder := t.TempDir()
				infos := map[string]Listing{"-": {}}
				for _, text := range c.looks {
					if _, made := infos[text]; !made && text != "!" {
						write(t, folder, text+"/a.test.yaml", text)
						info, err := os.Stat(filepath.Join(folder, text, "a.test.yaml"))
						if err != nil {
							t.Fatal(err)
						}
						infos[text] = Listing{"a.test.yaml": info}
					}
				}
				ctx, stop := context.WithCancel(t.Context())
				at := 0
				w := NewWatcher(clock.Real{}, infos[c.looks[0]], func() (Listing, error) {
					if at++; at >= len(c.looks) {
						stop()
						return infos[c.looks[len(c.looks)-1]], nil
					}
					if c.looks[at] == "!" {
						return nil, errors.New("away")
					}
					return infos[c.looks[at]], nil
				})
				var got []string
				begin := time.Now()
				for {
					events, err := w.Next(ctx)
					if errors.Is(err, context.Canceled) {
						break
					}
					if err != nil {
						got = append(got, err.Error())
					}
					for _, e := range events {
						got = append(got, e.What)
					}
				}
				if !reflect.DeepEqual(got, c.want) {
					t.Errorf("told %v, want %v", got, c.want)
				}
				if took := time.Since(begin); took != time.Duration(at)*scanInterval {
					t.Errorf("%d looks in %s", at, took)
				}
			})
		})
	}
}

// TestWatchFiles watches a real folder, with a clock that stands until the
// watcher waits for it.
func TestWatchFiles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		folder := t.TempDir()
		write(t, folder, "a.blueprint.yaml", "a")
		write(t, folder, "gone.input.json", "{}")
		w := NewWatcher(clock.Real{}, scan(t, folder), func() (Listing, error) { return Scan(folder) })
		write(t, folder, "sub/b.test.yml", "b")
		write(t, folder, "new", "aa")
		if err := os.Rename(filepath.Join(folder, "new"), filepath.Join(folder, "a.blueprint.yaml")); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(filepath.Join(folder, "gone.input.json")); err != nil {
			t.Fatal(err)
		}
		events, err := w.Next(t.Context())
		want := []Event{{"a.blueprint.yaml", KindBlueprint, Changed}, {"gone.input.json", KindInput, Deleted}, {"sub/b.test.yml", KindTest, Created}}
		if err != nil || !slices.Equal(events, want) {
			t.Errorf("%v %v, want %v", events, err, want)
		}
	})
}

func TestScan(t *testing.T) {
	folder, outside := t.TempDir(), t.TempDir()
	write(t, outside, "out.blueprint.yaml", "x")
	for _, name := range []string{"a.blueprint.yaml", "b.blueprint.yml", "sub/c.blueprint.json", "c.test.json", "c.input.json",
		".hidden/d.blueprint.yaml", "node_modules/e.blueprint.yaml", ".f.blueprint.yaml", "g.yaml", "h.input.yaml", ".blueprint.yaml", "README.md"} {
		write(t, folder, name, name)
	}
	for from, to := range map[string]string{
		"out.blueprint.yaml": filepath.Join(outside, "out.blueprint.yaml"), "in.blueprint.yaml": "a.blueprint.yaml", "nowhere.blueprint.yaml": "nothing", "linked": outside, "loop": ".",
	} {
		if err := os.Symlink(to, filepath.Join(folder, from)); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for name := range scan(t, folder) {
		got = append(got, name)
	}
	slices.Sort(got)
	want := []string{"a.blueprint.yaml", "b.blueprint.yml", "c.input.json", "c.test.json", "in.blueprint.yaml", "sub/c.blueprint.json"}
	if !slices.Equal(got, want) {
		t.Errorf("found %v, want %v", got, want)
	}
	_, unseen, err := Survey(folder)
	const leads = "it is a broken link, or a link out of the folder"
	if want := []Unseen{{"linked", "it is a link", true}, {"loop", "it is a link", true}, {"nowhere.blueprint.yaml", leads, false}, {"out.blueprint.yaml", leads, false}}; err != nil || !slices.Equal(unseen, want) {
		t.Errorf("not seen: %v, %v, want %v", unseen, err, want)
	}
	if _, err := ReadListed(folder, "out.blueprint.yaml", 10); err == nil {
		t.Error("a link led out of the folder, want an error")
	}
	if data, err := ReadListed(folder, "sub/c.blueprint.json", 100); err != nil || string(data) != "sub/c.blueprint.json" {
		t.Errorf("%q %v, want sub/c.blueprint.json", data, err)
	}
	if _, err := ReadListed(folder, "sub/c.blueprint.json", 3); err == nil {
		t.Error("a large file was read, want an error")
	}
	if _, err := Scan(filepath.Join(folder, "none")); err == nil {
		t.Error("a folder that is none was listed, want an error")
	}
	if Stem("sub/c.v1.blueprint.json") != "sub/c.v1" {
		t.Errorf("%v, want sub/c.v1", Stem("sub/c.v1.blueprint.json"))
	}
}

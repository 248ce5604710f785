package deploy

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"blueprintd/blueprint"
	"blueprintd/blueprint/document"
	"blueprintd/foundation/fileio"
	"blueprintd/project"
)

// pairing maps files to blueprints of a server.
type pairing struct {
	of       map[string]*project.Deployed // by the path of the file
	doubtful map[string]bool              // files that may be one of several moved blueprints
	left     map[string]*project.Deployed // blueprints without a file, by the path of the source
}

// pair finds the blueprint of each file. Content takes precedence over the path, so that
// moved files are recognized by their only match. have is by path and is modified.
func pair(files []project.Desired, have map[string]*project.Deployed, o Options) pairing {
	p := pairing{of: map[string]*project.Deployed{}, doubtful: map[string]bool{}, left: have}
	take := func(file *project.Desired, b *project.Deployed) {
		p.of[file.Path] = b
		delete(have, project.PathOf(o.Name, b.Source))
	}
	inPlace := func(same func(*project.Desired, *project.Deployed) bool) {
		for i := range files {
			if b := have[files[i].Path]; b != nil && p.of[files[i].Path] == nil && same(&files[i], b) {
				take(&files[i], b)
			}
		}
	}
	moved := func(same func(*project.Desired, *project.Deployed) bool) {
		found, rivals := map[*project.Desired][]*project.Deployed{}, map[*project.Deployed]int{}
		for i := range files {
			if p.of[files[i].Path] != nil {
				continue
			}
			for _, b := range have {
				if same(&files[i], b) {
					found[&files[i]] = append(found[&files[i]], b)
					rivals[b]++
				}
			}
		}
		for file, list := range found {
			if len(list) == 1 && rivals[list[0]] == 1 {
				take(file, list[0])
			}
		}
	}
	inPlace(alike)
	moved(alike)
	inPlace(sameTitle)
	inPlace(sameMap)
	moved(sameTitle)
	for i := range files {
		file := &files[i]
		if p.of[file.Path] == nil && !o.Force {
			for _, b := range have {
				p.doubtful[file.Path] = p.doubtful[file.Path] || sameTitle(file, b)
			}
		}
	}
	inPlace(func(*project.Desired, *project.Deployed) bool { return true })
	return p
}

func alike(file *project.Desired, b *project.Deployed) bool {
	return sameTitle(file, b) && blueprint.Equal(file.Map, b.BlueprintMap)
}

func sameTitle(file *project.Desired, b *project.Deployed) bool { return file.Title == b.Title }

// sameMap reports whether a blueprint has the map of a file, which must not be empty.
func sameMap(file *project.Desired, b *project.Deployed) bool {
	nodes, _ := member(file.Map, "nodes").([]any)
	return len(nodes) > 0 && blueprint.Equal(file.Map, b.BlueprintMap)
}

// doubt is the conflict of a doubtful file.
const doubt = "several blueprints with moved files have its title; rename the files one at a time, or match them by path with --force"

// makeWay frees the sources that other blueprints need, by temporary sources. A change
// that needs the source of a blueprint in conflict becomes a conflict itself.
func (p *Plan) makeWay(have []project.Deployed) {
	holder, of := map[string]*project.Deployed{}, map[string]*Change{}
	for i := range have {
		holder[have[i].Source] = &have[i]
	}
	for i := range p.Changes {
		of[p.Changes[i].ID] = &p.Changes[i]
	}
	wants := func(c *Change) *project.Deployed {
		if c.Conflict != "" || c.Action != Create && c.Action != Update {
			return nil
		}
		if b := holder[*c.source()]; b != nil && b.ID != c.ID {
			return b
		}
		return nil
	}
	for again := true; again; {
		again = false
		for i := range p.Changes {
			c := &p.Changes[i]
			if b := wants(c); b != nil {
				is := of[b.ID]
				if is != nil && (is.Conflict != "" || is.Action == Keep && b.SyncedVersion != b.Version) {
					c.Conflict, again = "its path belongs to blueprint "+b.ID+", which is not changed", true
				}
			}
		}
	}
	for i := range p.Changes {
		if b := wants(&p.Changes[i]); b != nil {
			aside := b.Source + "~" + b.ID[:min(8, len(b.ID))]
			p.aside = append(p.aside, Change{Action: Update, Path: p.Changes[i].Path, ID: b.ID, patch: blueprint.BlueprintPatch{Source: &aside}})
		}
	}
}

// adopt pairs new files with the only blueprint of the same title that was not created from
// a folder. Without o.Adopt it only adds a note.
func adopt(files []project.Desired, p *pairing, o Options) (notes map[string]string, taken map[string]bool) {
	notes, taken = map[string]string{}, map[string]bool{}
	byTitle, count := map[string][]*project.Deployed{}, map[string]int{}
	for i := range o.Unsourced {
		byTitle[o.Unsourced[i].Title] = append(byTitle[o.Unsourced[i].Title], &o.Unsourced[i])
	}
	isNew := func(file *project.Desired) bool { return p.of[file.Path] == nil && !p.doubtful[file.Path] }
	for i := range files {
		if isNew(&files[i]) {
			count[files[i].Title]++
		}
	}
	for i := range files {
		file := &files[i]
		list := byTitle[file.Title]
		switch {
		case !isNew(file) || len(list) == 0:
		case len(list) > 1 || count[file.Title] > 1:
			notes[file.Path] = "? the title is not unique, so no blueprint can be adopted"
		case !o.Adopt:
			notes[file.Path] = "? a blueprint with this title exists; --adopt adopts it"
		default:
			p.of[file.Path], taken[file.Path] = list[0], true
			notes[file.Path] = "adopts the blueprint with this title"
		}
	}
	return notes, taken
}

// sourced returns the blueprints of a named folder, by path and as a list.
func sourced(have []project.Deployed, name string) (out map[string]*project.Deployed, of []project.Deployed) {
	of = slices.DeleteFunc(slices.Clone(have), func(d project.Deployed) bool { return !strings.HasPrefix(d.Source, project.SourceOf(name, "")) })
	out = make(map[string]*project.Deployed, len(of))
	for i := range of {
		out[project.PathOf(name, of[i].Source)] = &of[i]
	}
	return out, of
}

// triggerChanges returns the changes that make the triggers of a blueprint match its
// file. Triggers keep their ids, and so their addresses, if they can be matched.
func triggerChanges(want []project.DesiredTrigger, have []blueprint.Trigger, o Options) (out []TriggerChange) {
	matched, left := matchTriggers(want, have)
	for i := range want {
		if matched[i] == nil {
			out = append(out, newTrigger(&want[i], o))
		} else if c := changedTrigger(&want[i], matched[i], o); len(c.Fields) > 0 || c.Note != "" {
			out = append(out, c)
		}
	}
	for _, t := range left {
		c := TriggerChange{Action: Delete, Type: t.Type, ID: t.ID}
		if !o.Prune {
			c.Action, c.Note = Keep, "not in the file; --prune deletes it"
		}
		out = append(out, c)
	}
	return out
}

// matchTriggers finds the trigger of the server for each trigger of a file, nil for none,
// and returns the unmatched ones of the server. Triggers match if they are of one type
// and, in this order of preference,
//   - have the same config,
//   - have the same mark,
//   - both have no mark, or are of a type without an address, so that they are
//     interchangeable,
//   - are the only unmatched ones, and one of them has no label.
func matchTriggers(want []project.DesiredTrigger, have []blueprint.Trigger) (matched []*blueprint.Trigger, left []*blueprint.Trigger) {
	matched = make([]*blueprint.Trigger, len(want))
	taken := map[string]bool{}
	rest := func(kind blueprint.TriggerType) (wanted, present int) {
		for i := range want {
			if matched[i] == nil && want[i].Type == kind {
				wanted++
			}
		}
		for j := range have {
			if !taken[have[j].ID] && have[j].Type == kind {
				present++
			}
		}
		return wanted, present
	}
	for _, same := range []func(w *project.DesiredTrigger, t *blueprint.Trigger) bool{
		func(w *project.DesiredTrigger, t *blueprint.Trigger) bool { return len(configChange(w, t)) == 0 },
		func(w *project.DesiredTrigger, t *blueprint.Trigger) bool {
			return markOf(w.Config) != "" && markOf(w.Config) == markOf(t.Config)
		},
		func(w *project.DesiredTrigger, t *blueprint.Trigger) bool {
			return !isAddressed(w.Type) || markOf(w.Config) == "" && markOf(t.Config) == ""
		},
		func(w *project.DesiredTrigger, t *blueprint.Trigger) bool {
			wanted, present := rest(w.Type)
			return wanted == 1 && present == 1 && (textOf(w.Config, "label") == "" || textOf(t.Config, "label") == "")
		},
	} {
		for i := range want {
			for j := range have {
				if t := &have[j]; matched[i] == nil && !taken[t.ID] && t.Type == want[i].Type && same(&want[i], t) {
					matched[i], taken[t.ID] = t, true
				}
			}
		}
	}
	for j := range have {
		if !taken[have[j].ID] {
			left = append(left, &have[j])
		}
	}
	return matched, left
}

// isAddressed reports whether triggers of a type have an address, which must not pass on.
func isAddressed(of blueprint.TriggerType) bool {
	kind := blueprint.KindOf(of)
	return kind.Path != "" || kind.Mailbox
}

// marks are the config keys that distinguish triggers of one type.
var marks = []string{"label", "event", "cron", "preset", "channel"}

// markOf returns the first mark of a config with its value, "" for none.
func markOf(config map[string]any) string {
	for _, name := range marks {
		if text := textOf(config, name); text != "" {
			return name + "=" + text
		}
	}
	return ""
}

func textOf(config map[string]any, name string) string {
	text, _ := config[name].(string)
	return text
}

// editedTriggers describes the config that a plan overwrites although it was changed on
// the server since the last sync; "" for none.
func editedTriggers(changes []TriggerChange, have []blueprint.Trigger) string {
	var parts []string
	for _, c := range changes {
		for _, t := range have {
			if t.ID != c.ID || c.Action == Keep {
				continue
			}
			var keys []string
			for _, name := range t.Edited {
				if _, other := c.config[name]; other || c.Action == Delete {
					keys = append(keys, "config."+name)
				}
			}
			if len(keys) > 0 {
				parts = append(parts, fmt.Sprintf("%s of trigger %s %s", blueprint.OneLine(strings.Join(slices.Sorted(slices.Values(keys)), ", ")), t.Type, t.ID))
			}
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, " and ") + " changed on the server; --force overwrites the change"
}

// nameFile is the file in a folder with the name of the folder on servers.
const nameFile = ".blueprintd.yaml"

// maxNameFile is the size of the largest nameFile, in bytes.
const maxNameFile = 64 << 10

// Name returns the name of a folder on servers: wanted, or the name in its nameFile, or
// that of the folder itself, which is not chosen.
func Name(dir, wanted string) (name string, chosen bool, err error) {
	if name = wanted; name == "" {
		if name, err = nameInFile(dir); err != nil {
			return "", false, err
		}
	}
	chosen = name != ""
	name = cmp.Or(name, filepath.Base(fileio.Absolute(dir)))
	if utf8.RuneCountInString(name) > 100 || !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return r == ':' || r == '/' || blueprint.IsUnprintable(r) }) {
		return "", false, blueprint.InputErrorf("--name flows", "%q cannot be the name of a folder on the server: use at most 100 characters without : and /", name)
	}
	return name, chosen, nil
}

// nameInFile reads the name in the nameFile, "" if there is none.
func nameInFile(dir string) (string, error) {
	data, err := project.ReadListed(dir, nameFile, maxNameFile)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) {
		return "", nil
	}
	called := filepath.Join(dir, nameFile)
	const hint = "write name: flows into it"
	if err != nil {
		if info, statErr := os.Stat(dir); statErr == nil && !info.IsDir() {
			return "", blueprint.InputErrorf("name a folder", "%s is a file, not a folder", dir)
		}
		return "", blueprint.InputErrorf(hint, "%s: %s", called, fileio.Cause(err))
	}
	doc, err := document.Parse(called, data)
	if err != nil {
		return "", blueprint.InputErrorf(hint, "%s", blueprint.OneLine(err.Error()))
	}
	object, _ := doc.Value.(map[string]any)
	name, _ := object["name"].(string)
	if len(object) != 1 || name == "" {
		return "", blueprint.InputErrorf(hint, "%s: must be an object with only a name", called)
	}
	return name, nil
}

// sameFolder returns an error if the plan would create all blueprints of a folder again
// because its name has changed: if at least half of the files have the path or title of a
// blueprint under one other name. The caller has checked that this name has none.
func sameFolder(name string, wanted []project.Desired, all []project.Deployed) error {
	paths, titles := map[string]map[string]bool{}, map[string]map[string]bool{}
	for i := range all {
		rest, ours := strings.CutPrefix(all[i].Source, project.Scheme)
		other, path, whole := strings.Cut(rest, ":")
		if !ours || !whole || other == name {
			continue
		}
		if paths[other] == nil {
			paths[other], titles[other] = map[string]bool{}, map[string]bool{}
		}
		paths[other][path], titles[other][all[i].Title] = true, true
	}
	best, most := "", 0
	for _, other := range slices.Sorted(maps.Keys(paths)) {
		n := 0
		for i := range wanted {
			if paths[other][wanted[i].Path] || titles[other][wanted[i].Title] {
				n++
			}
		}
		if n > most {
			best, most = other, n
		}
	}
	if most == 0 || most*2 < len(wanted) {
		return nil
	}
	return blueprint.Hinted(fmt.Sprintf("use --name %s if it is that folder, or write %q into %s; use --name %s if it is another", blueprint.ShellWord(best), "name: "+best, nameFile, blueprint.ShellWord(name)),
		"the server has no blueprints of a folder %q, but %d of its %s under the name %q", name, most, blueprint.Counted(len(wanted), "file"), best)
}

package deploy

import (
	"slices"

	"blueprintd/blueprint"
	"blueprintd/project"
)

// pairing maps files to blueprints of a server.
type pairing struct {
	of       map[string]*project.Deployed // by the path of the file
	doubtful map[string]bool              // files that may be one of several moved blueprints
	left     map[string]*project.Deployed // blueprints without a file, by the path of the source
}

// pair finds the blueprint of each file. Content takes precedence over the path, so that
// moved files are recognized if only one blueprint matches. have is by path and is
// modified.
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
					c.Conflict, again = "its path belongs to blueprint "+b.ID+", which is left as is", true
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

// adopt pairs new files with the only blueprint of the same title that comes from no
// folder. Without o.Adopt it only notes that there are some.
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
			notes[file.Path] = "? the title is not unique, so no blueprint can be taken over"
		case !o.Adopt:
			notes[file.Path] = "? a blueprint of this title exists; --adopt takes it over"
		default:
			p.of[file.Path], taken[file.Path] = list[0], true
			notes[file.Path] = "takes over the blueprint of this title"
		}
	}
	return notes, taken
}

// sourced returns the blueprints of a named folder, by path and as a list.
func sourced(have []project.Deployed, name string) (out map[string]*project.Deployed, of []project.Deployed) {
	of = slices.DeleteFunc(slices.Clone(have), func(d project.Deployed) bool { return !project.IsOf(name, d.Source) })
	out = make(map[string]*project.Deployed, len(of))
	for i := range of {
		out[project.PathOf(name, of[i].Source)] = &of[i]
	}
	return out, of
}

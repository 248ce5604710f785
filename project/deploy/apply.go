package deploy

import (
	"blueprintd/project"
	"context"
	"maps"
	"slices"
)

// Apply does what a plan says, but for its conflicts, and tells of each change
// once it is done. It stops at the first error; what was done until then stays,
// each blueprint as it was or with its new map, and the same plan made anew does
// the rest. Nothing is deleted before all else is done.
func (p *Plan) Apply(ctx context.Context, server project.Server, done func(Change) error) error {
	return p.ApplyEach(ctx, server, func(c Change, err error) error {
		if err != nil {
			return &Failure{Path: c.Path, Err: err}
		}
		return done(c)
	})
}

// ApplyEach is Apply that goes on after a change that cannot be made: tell is
// called with each change and its error, and ends it with an error of its own.
func (p *Plan) ApplyEach(ctx context.Context, server project.Server, tell func(Change, error) error) error {
	for _, list := range [][]Change{p.aside, p.quiet} {
		for _, c := range list {
			if err := server.Update(ctx, c.ID, c.patch); err != nil {
				if err := tell(c, err); err != nil {
					return err
				}
			}
		}
	}
	ids := maps.Clone(p.ids)
	for _, c := range p.Changes {
		if c.Action == Keep || c.Conflict != "" {
			continue
		}
		err := c.link(ids)
		if err == nil {
			err = c.apply(ctx, server)
		}
		if err == nil && c.Action == Create {
			ids[c.Path] = c.ID
		}
		if err := tell(c, err); err != nil {
			return err
		}
	}
	return nil
}

// Failure says which file's change could not be made.
type Failure struct {
	Path string
	Err  error
}

// Error returns the path and what went wrong.
func (f *Failure) Error() string { return f.Path + ": " + f.Err.Error() }

// Unwrap returns what went wrong.
func (f *Failure) Unwrap() error { return f.Err }

// apply makes one change; c.ID is known afterwards. The blueprint comes before its
// triggers, and triggers that are not wanted any more go last.
func (c *Change) apply(ctx context.Context, server project.Server) (err error) {
	switch c.Action {
	case Delete:
		return server.Delete(ctx, c.ID)
	case Create:
		c.ID, err = server.Create(ctx, c.create)
	case Update:
		err = server.Update(ctx, c.ID, c.patch)
	}
	if err != nil {
		return err
	}
	for i := range c.Triggers {
		if err := c.Triggers[i].apply(ctx, server, c.ID); err != nil {
			return err
		}
	}
	// Changes of triggers are noted on the server until their blueprint is said to
	// be as its file is once more.
	edited := slices.ContainsFunc(c.Triggers, func(t TriggerChange) bool { return t.Action == Update && len(t.config) > 0 })
	if c.after.Visibility != nil || edited {
		c.after.Source = c.source()
		return server.Update(ctx, c.ID, c.after)
	}
	return nil
}

// source is that of the change's file.
func (c *Change) source() *string {
	if c.Action == Create {
		return &c.create.Source
	}
	return c.patch.Source
}

func (t *TriggerChange) apply(ctx context.Context, server project.Server, blueprintID string) (err error) {
	switch t.Action {
	case Create:
		t.ID, err = server.CreateTrigger(ctx, blueprintID, t.Type, t.config, t.active == nil || *t.active)
	case Update:
		change := t.config
		if len(change) == 0 {
			change = nil
		}
		err = server.UpdateTrigger(ctx, t.ID, change, t.active)
	case Delete:
		err = server.DeleteTrigger(ctx, t.ID)
	}
	return err
}

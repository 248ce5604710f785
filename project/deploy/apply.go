package deploy

import (
	"context"
	"maps"
	"slices"
)

// Apply makes all changes of a plan except conflicts, and calls done after each. It
// stops at the first error, a *Failure. Each blueprint then has its old or its new map,
// and a new plan makes the remaining changes. Deletions come last.
func (p *Plan) Apply(ctx context.Context, server Server, done func(Change) error) error {
	return p.ApplyEach(ctx, server, func(c Change, err error) error {
		if err != nil {
			return &Failure{Path: c.Path, Err: err}
		}
		return done(c)
	})
}

// ApplyEach is Apply that continues after failed changes: done is called with each change
// and its error, and stops it by returning an error.
func (p *Plan) ApplyEach(ctx context.Context, server Server, done func(Change, error) error) error {
	for _, c := range slices.Concat(p.aside, p.quiet) {
		if err := server.Update(ctx, c.ID, c.patch); err != nil {
			if err := done(c, err); err != nil {
				return err
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
		if err := done(c, err); err != nil {
			return err
		}
	}
	return nil
}

// Failure is the error of the change of a file.
type Failure struct {
	Path string
	Err  error
}

func (f *Failure) Error() string { return f.Path + ": " + f.Err.Error() }

// Unwrap returns the error without the path.
func (f *Failure) Unwrap() error { return f.Err }

// apply makes a change and sets c.ID. The blueprint comes first; the triggers follow in
// the order of the plan.
func (c *Change) apply(ctx context.Context, server Server) (err error) {
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
	// The server records edits of triggers until an update of the blueprint sets its
	// source again.
	edited := slices.ContainsFunc(c.Triggers, func(t TriggerChange) bool { return t.Action == Update && len(t.config) > 0 })
	if c.after.Visibility != nil || edited {
		c.after.Source = c.source()
		return server.Update(ctx, c.ID, c.after)
	}
	return nil
}

// source returns the source of the file of a change.
func (c *Change) source() *string {
	if c.Action == Create {
		return &c.create.Source
	}
	return c.patch.Source
}

func (t *TriggerChange) apply(ctx context.Context, server Server, blueprintID string) (err error) {
	switch t.Action {
	case Create:
		t.ID, t.Address, err = server.CreateTrigger(ctx, blueprintID, t.Type, t.config, t.active == nil || *t.active)
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

package folder

import "context"

// Apply does what a plan says, but for its conflicts, and tells of each change
// once it is done. It stops at the first error; what was done until then stays,
// each blueprint as it was or with its new map, and the same plan made anew does
// the rest. Nothing is deleted before all else is done.
func (p *Plan) Apply(ctx context.Context, server Server, done func(Change) error) error {
	for _, c := range p.quiet {
		if err := server.Update(ctx, c.ID, c.patch); err != nil {
			return err
		}
	}
	for _, c := range p.Changes {
		if c.Action == Keep || c.Conflict != "" {
			continue
		}
		if err := c.apply(ctx, server); err != nil {
			return &Failure{Path: c.Path, Err: err}
		}
		if err := done(c); err != nil {
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

// Error gives the path and what went wrong.
func (f *Failure) Error() string { return f.Path + ": " + f.Err.Error() }

// Unwrap gives what went wrong.
func (f *Failure) Unwrap() error { return f.Err }

// apply makes one change; c.ID is known afterwards. The blueprint comes before its
// triggers, and triggers that are not wanted any more go last.
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
	if c.after.Visibility != nil {
		return server.Update(ctx, c.ID, c.after)
	}
	return nil
}

func (t *TriggerChange) apply(ctx context.Context, server Server, blueprintID string) (err error) {
	switch t.Action {
	case Create:
		if t.ID, err = server.CreateTrigger(ctx, blueprintID, t.Type, t.config); err == nil && t.active != nil {
			err = server.UpdateTrigger(ctx, t.ID, nil, t.active)
		}
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

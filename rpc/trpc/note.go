package trpc

// Note is what a call that changed something tells the audit log, unless the
// database has written the line together with the change.
type Note struct {
	Kind, ID     string // of what was changed
	Organization string // "" = it is found by the target
	Detail       map[string]any
	Told         bool // there is something to tell, whatever the call answers
	Nothing      bool // it turned out to change nothing
}

// Note says what a call has done, for its line in the audit log, as soon as it is
// done: the line is written also when the call fails afterwards, as it does when
// the caller has hung up. detail holds no secret.
func (c *Caller) Note(kind, id string, detail map[string]any) {
	c.Noted = Note{Kind: kind, ID: id, Detail: detail, Told: true}
}

// NoteNothing says that a call has changed nothing: it has no line.
func (c *Caller) NoteNothing() { c.Noted.Nothing = true }

package main

// devTold is what was told of the files and still holds: it is told again only
// once it has ceased to hold.
type devTold struct{ before, now map[string]bool }

// begin is called before everything that holds is told once more.
func (t *devTold) begin() { t.before, t.now = t.now, map[string]bool{} }

// tell says a line, unless it was said and still holds.
func (l *devLoop) tell(colour, line string) {
	t := &l.told
	known := t.before[line] || t.now[line]
	if t.now[line] = true; !known {
		l.screen.Say(colour, "%s", line)
	}
}

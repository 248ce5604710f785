package main

import (
	"slices"
	"sync"
)

// book records the responses of the server for each thing, and so the states in which it
// may be found later.
type book struct {
	mu     sync.Mutex
	facts  map[thing]*fact
	places places
	form   *form // nil = the database of the players
}

// arguments returns the additional arguments of a server.
func (b *book) arguments() []string {
	if b.form == nil {
		return nil
	}
	return []string{"--clock", "virtual=" + b.form.Now}
}

// thing is something that a player created: a blueprint, trigger, key or run, by a unique
// name.
type thing struct{ kind, name string }

// absent is the state of a thing that does not exist.
const absent = "absent"

type fact struct {
	may []string
	// doubtful is a state that was refused when the disk failed. The server cannot know
	// whether it was stored.
	doubtful string
}

// places are shared by all players.
type places struct {
	key                           string
	main, human, slow             string // blueprints
	waitingWebhook, promptWebhook string // triggers
}

func newBook() *book { return &book{facts: map[thing]*fact{}} }

func (b *book) clone() *book {
	b.mu.Lock()
	defer b.mu.Unlock()
	other := newBook()
	other.places, other.form = b.places, b.form
	for name, f := range b.facts {
		other.facts[name] = &fact{slices.Clone(f.may), f.doubtful}
	}
	return other
}

// record notes the response to an operation that brings a thing to a state: after
// a success the thing is in that state, after a refusal in the previous one, and
// without a response in either.
func (b *book) record(t thing, state string, a answer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f := b.facts[t]
	if f == nil {
		f = &fact{may: []string{absent}}
		b.facts[t] = f
	}
	switch {
	case a.OK():
		f.may, f.doubtful = []string{state}, ""
	case doubtful(a):
		f.may, f.doubtful = append(f.may, state), state
	case !refused(a):
		f.may = append(f.may, state)
	}
}

// certain records a state that is known without a response.
func (b *book) certain(t thing, state string) {
	b.record(t, state, answer{Status: 200})
}

// compare compares the book with the things that exist. It returns the contradictions, and
// the number of operations that were refused because the disk failed but carried out.
func (b *book) compare(found map[thing]string) (wrong []string, doubtful int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for t, f := range b.facts {
		state, there := found[t]
		if !there {
			state = absent
		}
		switch {
		case !slices.Contains(f.may, state):
			wrong = append(wrong, t.kind+" "+t.name+" is "+state+", and may only be "+list(f.may))
		case state == f.doubtful:
			doubtful++
		}
	}
	for t, state := range found {
		if b.facts[t] == nil {
			wrong = append(wrong, t.kind+" "+t.name+" is "+state+", which no client asked for")
		}
	}
	slices.Sort(wrong)
	return wrong, doubtful
}

func list(all []string) string {
	text := ""
	for i, one := range all {
		if i > 0 {
			text += " or "
		}
		text += one
	}
	return text
}

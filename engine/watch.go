package engine

// Watch gives a channel on which something arrives whenever the run may have
// changed; several changes may arrive as one. stop ends it.
func (e *Engine) Watch(id string) (changes <-chan struct{}, stop func()) {
	ch := make(chan struct{}, 1)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.watchers[id] == nil {
		e.watchers[id] = map[chan struct{}]struct{}{}
	}
	e.watchers[id][ch] = struct{}{}
	return ch, func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.watchers[id], ch)
		if len(e.watchers[id]) == 0 {
			delete(e.watchers, id)
		}
	}
}

// changed tells the watchers of a run.
func (e *Engine) changed(id string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for ch := range e.watchers[id] {
		select {
		case ch <- struct{}{}:
		default: // one is waiting there already
		}
	}
}

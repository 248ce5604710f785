package simulation

import (
	"context"

	"blueprintd/blueprint"
)

// FiringWithDelivery gives a firing that started a run, which is all that a
// disk keeps of the ledger.
func (j journal) FiringWithDelivery(_ context.Context, _ blueprint.Principal, id string) (blueprint.Firing, error) {
	if j.isDead() {
		return blueprint.Firing{}, errDead
	}
	return j.world.disk.firingByID(id)
}

// FiringsToRedeliver finds none: nobody here runs several again at once.
func (j journal) FiringsToRedeliver(context.Context, blueprint.Principal, *blueprint.RedeliverRequest) ([]blueprint.ToRedeliver, int, error) {
	return nil, 0, nil
}

func (d *disk) firingByID(id string) (blueprint.Firing, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.away {
		return blueprint.Firing{}, errAway
	}
	for _, row := range d.started {
		if row.ID == id {
			return row, nil
		}
	}
	return blueprint.Firing{}, blueprint.Errorf(blueprint.CodeNotFound, "no such firing")
}

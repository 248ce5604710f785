package store

import (
	"strconv"
	"time"

	"blueprintd/metrics"
)

// tellPruned tells after a pass what was removed since it was last told of, for
// the limit of the disk too.
func (p *pruner) tellPruned(pass metrics.Stopwatch) {
	removed := [2]int64{p.counts.prunedRuns.Value(), p.counts.prunedFirings.Value()}
	if removed == p.toldPruned {
		return
	}
	p.options.Logger.Info("old history was pruned", "path", p.options.Path,
		"runs", removed[0]-p.toldPruned[0], "firings", removed[1]-p.toldPruned[1], "seconds", pass.Elapsed().Seconds())
	p.toldPruned = removed
}

// String writes a policy as the flags of serve take it.
func (k Keep) String() string {
	const day = 24 * time.Hour
	switch {
	case k.all():
		return "all"
	case k.Rows > 0:
		return strconv.FormatInt(k.Rows, 10)
	case k.Age%day == 0:
		return strconv.FormatInt(int64(k.Age/day), 10) + "d"
	}
	return k.Age.String()
}

package accum

import "sync"

// All returns a lane with the sums over all rows. The caller must not modify this lane. If there are several lanes,
// All merges them into a new lane and leaves the lanes of a unchanged. If a merge fails, the sketch of the returned
// lane keeps the error.
func (a *Accumulator) All() (*Lane, error) { return join(a.cfg, a.lanes) }

// Join replaces the lanes by one merged lane, which frees memory. If several lanes have rows, later rows are
// distributed over the merged lane and new lanes. Otherwise all later rows go to the merged lane.
func (a *Accumulator) Join() error {
	if a.Rows() <= a.cfg.LanesAfter {
		a.cfg.Lanes, a.cfg.LaneRows, a.cfg.LanesAfter = 1, 0, 0
		a.lanes[0].cfg = a.cfg
	}
	all, err := a.All()
	if err != nil {
		return err
	}
	a.lanes = []*Lane{all}
	a.feeder = nil
	return nil
}

// join merges each half of the lanes in the same way, both halves in parallel, and then merges the two results. The
// order of the merges depends only on the number of lanes, so that results are reproducible.
func join(cfg Config, lanes []*Lane) (*Lane, error) {
	if len(lanes) == 1 {
		return lanes[0], nil
	}
	half := (len(lanes) + 1) / 2
	var left, right *Lane
	var failed [2]error
	var both sync.WaitGroup
	both.Go(func() { left, failed[0] = join(cfg, lanes[:half]) })
	right, failed[1] = join(cfg, lanes[half:])
	both.Wait()
	switch {
	case failed[0] != nil:
		return left, failed[0]
	case failed[1] != nil:
		return right, failed[1]
	}
	into := left
	if half == 1 { // left is one of the given lanes and must not be modified
		var err error
		into, err = newLane(cfg)
		if err != nil {
			return left, err
		}
		if err := into.merge(left); err != nil {
			return into, err
		}
	}
	return into, into.merge(right)
}

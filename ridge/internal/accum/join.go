package accum

import "sync"

// All returns the sums of all rows, to be read only: those of the only lane, or of a lane that the lanes are
// merged into. The lanes are left as they are. On an error the sketch that is returned knows it.
func (a *Accumulator) All() (*Lane, error) { return join(a.cfg, a.lanes) }

// Join merges the lanes for good, which frees their memory. Rows that are appended later go to lanes that
// begin anew. If the other lanes have not begun, there is one lane from then on.
func (a *Accumulator) Join() error {
	if a.Rows() <= a.cfg.LanesAfter {
		a.cfg.Lanes, a.cfg.LaneRows, a.cfg.LanesAfter = 1, 0, 0
		a.lanes[0].cfg = a.cfg
	}
	all, err := a.All()
	if err != nil {
		return err
	}
	a.lanes, a.crew = []*Lane{all}, nil
	return nil
}

// join merges lanes in pairs, these in pairs, and so on. The order depends on the number of lanes alone.
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
	if half == 1 { // a lane, which is to stay as it is
		var err error
		if into, err = newLane(cfg); err != nil {
			return left, err
		}
		if err := into.merge(left); err != nil {
			return into, err
		}
	}
	return into, into.merge(right)
}

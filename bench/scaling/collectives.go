package main

// mergeTree is dist.Merge up to its broadcast: for s = 1, 2, 4, … < P every rank that
// is a multiple of 2s takes the summary of rank r+s and merges it in so many seconds.
func mergeTree(ranks int, bytes, merge float64) schedule {
	s := make(schedule, ranks)
	for r := range ranks {
		for step := 1; step < ranks; step *= 2 {
			if r%(2*step) != 0 {
				s.send(r, r-step, bytes)
				break
			}
			if r+step < ranks {
				s.recv(r, r+step)
				s.work(r, merge)
			}
		}
	}
	return s
}

// mergeChain merges rank P−1 into P−2, that into P−3 and so on, one after the other.
func mergeChain(ranks int, bytes, merge float64) schedule {
	s := make(schedule, ranks)
	for r := range ranks {
		if r+1 < ranks {
			s.recv(r, r+1)
			s.work(r, merge)
		}
		if r > 0 {
			s.send(r, r-1, bytes)
		}
	}
	return s
}

// binomialTree is a broadcast of rank 0's bytes, the farthest subtree first.
func binomialTree(ranks int, bytes float64) schedule {
	s := make(schedule, ranks)
	top := 1 << levels(ranks)
	for r := range ranks {
		low := top // what rank r heads is low ranks
		if r > 0 {
			low = r & -r
			s.recv(r, r-low)
		}
		for step := low / 2; step >= 1; step /= 2 {
			if r+step < ranks {
				s.send(r, r+step, bytes)
			}
		}
	}
	return s
}

// scatterAllgather is a broadcast for ranks a power of two: 1/P of the bytes for each
// rank goes down the binomial tree, then all is collected by recursive doubling.
func scatterAllgather(ranks int, bytes float64) schedule {
	s := make(schedule, ranks)
	share := bytes / float64(ranks)
	for r := range ranks {
		low := ranks
		if r > 0 {
			low = r & -r
			s.recv(r, r-low)
		}
		for step := low / 2; step >= 1; step /= 2 {
			s.send(r, r+step, share*float64(step))
		}
		for step := 1; step < ranks; step *= 2 {
			s.exchange(r, r^step, share*float64(step))
		}
	}
	return s
}

// exchange sends and receives the same number of bytes at once.
func (s schedule) exchange(rank, peer int, bytes float64) {
	s.send(rank, peer, bytes)
	s.recv(rank, peer)
}

// addition is the sum that a rank makes of bytes it has received. It is memory's
// work, which does not stretch with the rank's.
func (s schedule) addition(rank int, bytes, add float64) {
	s[rank] = append(s[rank], op{kind: opWork, amount: bytes / add})
}

// recursiveDoubling is an allreduce for ranks a power of two.
func recursiveDoubling(ranks int, bytes, add float64) schedule {
	s := make(schedule, ranks)
	for r := range ranks {
		for step := 1; step < ranks; step *= 2 {
			s.exchange(r, r^step, bytes)
			s.addition(r, bytes, add)
		}
	}
	return s
}

// rabenseifner is an allreduce for ranks a power of two: a reduce-scatter by recursive
// halving, an allgather by recursive doubling.
func rabenseifner(ranks int, bytes, add float64) schedule {
	s := make(schedule, ranks)
	for r := range ranks {
		part := bytes / 2
		for step := ranks / 2; step >= 1; step /= 2 {
			s.exchange(r, r^step, part)
			s.addition(r, part, add)
			part /= 2
		}
		part *= 2
		for step := 1; step < ranks; step *= 2 {
			s.exchange(r, r^step, part)
			part *= 2
		}
	}
	return s
}

// ring is an allreduce for any number of ranks: a reduce-scatter and an allgather of
// P−1 steps each.
func ring(ranks int, bytes, add float64) schedule {
	s := make(schedule, ranks)
	part := bytes / float64(ranks)
	for r := range ranks {
		for step := range 2 * (ranks - 1) {
			s.send(r, (r+1)%ranks, part)
			s.recv(r, (r+ranks-1)%ranks)
			if step < ranks-1 {
				s.addition(r, part, add)
			}
		}
	}
	return s
}

// then appends the ops of another schedule.
func (s schedule) then(o schedule) {
	for r := range s {
		s[r] = append(s[r], o[r]...)
	}
}

package main

import (
	"math"
	"math/rand/v2"
)

// A site is what the ranks of a job have: rates, a network, and where rows come from.
type site struct {
	c       *constants
	net     network
	storage float64 // bytes a second, for each rank; rows are float64
	memory  float64 // bytes of rows that a rank keeps between passes
	// bandwidth is how many bytes a second the cores of one machine move from and to memory, in lanes.
	bandwidth float64
}

// Seconds of a job's parts. Sketch and gradient are divided by P.
type seconds struct {
	sketch    float64 // of this rank's rows
	merge     float64 // up the tree: ⌈log₂P⌉ levels
	broadcast float64 // of the union
	spectrum  float64 // of the union, on every rank
	gradient  float64 // of one pass over this rank's rows
	reduce    float64 // of one pass
	step      float64 // of one pass, on every rank
	passes    float64
}

func (s seconds) total() float64 {
	return s.divided() + s.merge + s.broadcast + s.spectrum + s.passes*(s.reduce+s.step)
}

// divided is the time of the work that is divided by P.
func (s seconds) divided() float64 { return s.sketch + s.passes*s.gradient }

// efficiency is the share of divided in the total.
func (s seconds) efficiency() float64 { return s.divided() / s.total() }

// level is a merge: the receiver's own time, and the summary's bytes.
func (s site) level(j job) (own, bytes float64) {
	r := s.c.merge(j.m, j.d)
	bytes = meanSummaryBytes(j.m, j.d, j.t)
	return bytes/r.Write + bytes/r.Load + mergeFlops(j.m, j.d, r.Shrinks)/r.Flops, bytes
}

// gradient is the time of a pass over this rank's rows, read from memory or from storage.
func (s site) gradient(j job) float64 {
	rows := j.n / float64(j.ranks)
	var work float64
	if j.nnz > 0 {
		work = j.passFlops() / s.c.sparse(j.d).Flops
	} else {
		work = j.passFlops() / s.c.pass(j.d, j.q).Flops
	}
	if rows*j.rowBytes() <= s.memory {
		return work
	}
	return math.Max(work, rows*j.rowBytes()/s.storage)
}

// predict is the closed form, for ranks of one speed.
func (s site) predict(j job) seconds {
	rows := j.n / float64(j.ranks)
	own, bytes := s.level(j)
	r := s.c.merge(j.m, j.d)
	out := seconds{
		sketch:   math.Max(rows*rowFlops(j.m, j.d, j.t)/s.c.sketch(j.m, j.d).Flops, rows*j.rowBytes()/s.storage),
		spectrum: r.Spectrum * shrinkFlops(j.m, j.d) / shrinkFlops(r.M, r.D),
		gradient: s.gradient(j),
		step:     stepFlops(j.m, j.d, j.q) / s.c.step(j.m, j.d, j.q).Flops,
		passes:   float64(j.passes),
	}
	if j.ranks > 1 {
		out.merge = float64(levels(j.ranks)) * (s.net.message(bytes) + own)
		out.broadcast = bytes/r.Write + s.net.broadcast(j.ranks, bytes) + bytes/r.Load
		out.reduce = s.net.allreduce(j.ranks, 8*reduceNumbers(j.d, j.q), s.c.Add)
	}
	return out
}

// A slowness is what stretches work: of each rank for good, and of each piece anew.
type slowness struct {
	name       string
	half       bool    // one rank works at half the speed
	persistent float64 // log-normal: the deviation of ln(factor) between ranks
	noise      float64 // and between pieces of work
}

// factors returns what cluster.slow is, the same for the same ranks and seed.
func (s slowness) factors(ranks int, seed uint64) func(rank int) float64 {
	rng := rand.New(rand.NewPCG(seed, uint64(ranks)))
	own := make([]float64, ranks)
	for r := range own {
		own[r] = math.Exp(s.persistent * rng.NormFloat64())
	}
	if s.half {
		own[ranks/2] *= 2
	}
	return func(rank int) float64 {
		if s.noise == 0 {
			return own[rank]
		}
		return own[rank] * math.Exp(s.noise*rng.NormFloat64())
	}
}

// simulate runs a job on ranks a power of two, by discrete events.
func (s site) simulate(j job, slow slowness, seed uint64) (*cluster, error) {
	t := s.predict(j)
	own, bytes := s.level(j)
	r := s.c.merge(j.m, j.d)
	c := newCluster(j.ranks, s.net)
	c.slow = slow.factors(j.ranks, seed)

	start := make(schedule, j.ranks)
	for rank := range start {
		start.work(rank, t.sketch)
	}
	if j.ranks > 1 {
		start.then(mergeTree(j.ranks, bytes, own))
		start.work(0, bytes/r.Write)
		start.then(cheaper(s.net.binomial(j.ranks, bytes) <= s.net.scatterAllgather(j.ranks, bytes),
			binomialTree, scatterAllgather)(j.ranks, bytes))
	}
	for rank := range start {
		if rank > 0 {
			start.work(rank, bytes/r.Load)
		}
		start.work(rank, t.spectrum)
	}
	if err := c.run(start); err != nil {
		return nil, err
	}
	pass := make(schedule, j.ranks)
	for rank := range pass {
		pass.work(rank, t.gradient)
	}
	if j.ranks > 1 {
		numbers := 8 * reduceNumbers(j.d, j.q)
		pass.then(cheaper(s.net.recursiveDoubling(j.ranks, numbers, s.c.Add) <= s.net.rabenseifner(j.ranks, numbers, s.c.Add),
			recursiveDoubling, rabenseifner)(j.ranks, numbers, s.c.Add))
	}
	for rank := range pass {
		pass.work(rank, t.step)
	}
	for range j.passes {
		if err := c.run(pass); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func cheaper[F any](first bool, a, b F) F {
	if first {
		return a
	}
	return b
}

// exactSeconds is the normal equations: nd²/P flops, an allreduce of the triangle of K,
// a Cholesky factor for each γ on every rank.
func (s site) exactSeconds(j job, gammas float64) float64 {
	gemm := s.c.Gemm * 1e9
	rows := j.n / float64(j.ranks)
	work := rows*j.entries()*j.entries()/gemm + gammas*j.d*j.d*j.d/3/gemm
	if j.ranks == 1 {
		return work
	}
	return work + s.net.allreduce(j.ranks, 4*j.d*(j.d+1), s.c.Add)
}

// plainSeconds is CG without a sketch, which reads rows from storage once at least.
func (s site) plainSeconds(j job) float64 {
	t := s.predict(j)
	rows := j.n / float64(j.ranks)
	first := math.Max(0, rows*j.rowBytes()/s.storage-t.gradient)
	return first + t.passes*(t.gradient+t.reduce)
}

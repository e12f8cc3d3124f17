package main

import "math"

// A network carries a message of B bytes between any two ranks in α + B/bandwidth
// seconds, each rank sending one and receiving one at a time (the α-β model; R.
// Hockney, Parallel Computing 20, 1994). That all may do so at once is full bisection
// bandwidth, which large clusters have only nearly.
//
// Costs of collectives are those of R. Thakur, R. Rabenseifner and W. Gropp,
// "Optimization of Collective Communication Operations in MPICH" (Int. J. High
// Performance Computing Applications 19, 2005), for P a power of two.
type network struct {
	Name      string
	Alpha     float64 // seconds
	Bandwidth float64 // bytes per second
}

// networks are assumptions: the bandwidths of the names less a tenth for protocols, and
// round figures for MPI's latency on such hardware.
var networks = []network{
	{"25 Gbit/s Ethernet", 20e-6, 0.9 * 25e9 / 8},
	{"100 Gbit/s Ethernet", 10e-6, 0.9 * 100e9 / 8},
	{"200 Gbit/s InfiniBand", 1.5e-6, 0.9 * 200e9 / 8},
}

func (w network) message(bytes float64) float64 { return w.Alpha + bytes/w.Bandwidth }

// binomial is a broadcast down a binomial tree: ⌈log₂P⌉(α + Bβ).
func (w network) binomial(ranks int, bytes float64) float64 {
	return float64(levels(ranks)) * w.message(bytes)
}

// scatterAllgather is a broadcast that scatters B down a tree and collects it by
// recursive doubling: 2·log₂P·α + 2(P−1)/P·Bβ.
func (w network) scatterAllgather(ranks int, bytes float64) float64 {
	p := float64(ranks)
	return 2*float64(levels(ranks))*w.Alpha + 2*(p-1)/p*bytes/w.Bandwidth
}

// broadcast is the cheaper one, as MPI libraries choose by length.
func (w network) broadcast(ranks int, bytes float64) float64 {
	return math.Min(w.binomial(ranks, bytes), w.scatterAllgather(ranks, bytes))
}

// recursiveDoubling is an allreduce that exchanges all of B in each of log₂P steps:
// log₂P(α + Bβ + B/add), add the bytes a rank adds to others in a second.
func (w network) recursiveDoubling(ranks int, bytes, add float64) float64 {
	return float64(levels(ranks)) * (w.message(bytes) + bytes/add)
}

// rabenseifner is an allreduce by recursive halving, then doubling:
// 2·log₂P·α + 2(P−1)/P·Bβ + (P−1)/P·B/add.
func (w network) rabenseifner(ranks int, bytes, add float64) float64 {
	p := float64(ranks)
	return 2*float64(levels(ranks))*w.Alpha + (p-1)/p*bytes*(2/w.Bandwidth+1/add)
}

// ring is an allreduce around a ring: 2(P−1)α + 2(P−1)/P·Bβ + (P−1)/P·B/add.
func (w network) ring(ranks int, bytes, add float64) float64 {
	p := float64(ranks)
	return 2*(p-1)*w.Alpha + (p-1)/p*bytes*(2/w.Bandwidth+1/add)
}

// allreduce is the cheaper of the first two, as MPI libraries choose by length; the
// ring is never cheaper here, for it costs more messages of the same bytes.
func (w network) allreduce(ranks int, bytes, add float64) float64 {
	return min(w.recursiveDoubling(ranks, bytes, add), w.rabenseifner(ranks, bytes, add))
}

package main

import "math"

// A job is a ridge problem and how it is solved: n×d rows over P ranks, each with n/P
// of them, a summary of size m for t targets, then passes of CG for q vectors at a
// time.
//
// Counts are float64 because n reaches 10¹²; all are whole numbers but n/P.
type job struct {
	n, d    float64
	m, t, q float64
	nnz     float64 // nonzeros of a row; 0: dense
	ranks   int
	passes  int
}

// shrinkRows is p, the rows between two shrinks: engine.Tuning.ShrinkRows.
func shrinkRows(m float64) float64 { return math.Ceil(5 * m / 4) }

// eigenFlops is what an eigenproblem of order k takes over k³, in flops at the speed of
// a matrix product; that of ridge.Summary.Plan.
const eigenFlops = 7

// shrinkFlops is one shrink of m+p rows (fd/shrink.go): old·newᵀ and new·newᵀ of BBᵀ,
// the eigenproblem, and the rebuilt B,
//
//	(2mp + p² + 2m(m+p))·d + 7(m+p)³,
//
// which is 8.6 m²d for p = 5m/4 and d ≫ m.
func shrinkFlops(m, d float64) float64 {
	p := shrinkRows(m)
	k := m + p
	return (2*m*p+p*p+2*m*k)*d + eigenFlops*k*k*k
}

// rowFlops is what a row costs the summary: its share of a shrink, 6.8 md, and of c.
// Sparse rows cost no less, for B is dense.
func rowFlops(m, d, t float64) float64 { return shrinkFlops(m, d)/shrinkRows(m) + 2*t*d }

// mergeFlops is one level of the tree: shrinks of the receiving sketch.
func mergeFlops(m, d, shrinks float64) float64 { return shrinks * shrinkFlops(m, d) }

// entries are the numbers of a row that a pass multiplies.
func (j job) entries() float64 {
	if j.nnz > 0 {
		return j.nnz
	}
	return j.d
}

// rowBytes are those of a row in memory: a float64 for each entry, and an int32 where
// rows are sparse.
func (j job) rowBytes() float64 {
	if j.nnz > 0 {
		return 12 * j.nnz
	}
	return 8 * j.d
}

// passFlops is a gradient of q vectors over this rank's rows.
func (j job) passFlops() float64 { return 4 * j.n / float64(j.ranks) * j.entries() * j.q }

// stepFlops is what every rank repeats after a pass: Ĥ⁻¹ of q vectors, for which V
// is gone through five times. It does not shrink with P.
func stepFlops(m, d, q float64) float64 { return 10 * m * d * q }

// sketchBytes is the memory of a summary while rows are added.
func sketchBytes(m, d, t float64) float64 {
	k := m + shrinkRows(m)
	return 8 * (k*d + k*k + m*k + 3*t*d)
}

// solveBytes is that of a solve: V, and about 13 vectors for each system.
func solveBytes(m, d, q float64) float64 { return 8 * (m*d + 13*q*d) }

// summaryBytes is ridge.Summary.BinarySize, the wire format's length, where the sketch
// has live rows, of which kept are orthogonal, and there is no Meta:
//
//	117 + 40(d+t) + 17t + 16(t+1)d + 124 + 8·kept + 8d·live.
//
// live is between 0 and m+p; it is m+p/2 in the mean.
func summaryBytes(d, t, live, kept float64) float64 {
	return 117 + 40*(d+t) + 17*t + 16*(t+1)*d + 124 + 8*kept + 8*d*live
}

// meanSummaryBytes is summaryBytes of a sketch between two shrinks.
func meanSummaryBytes(m, d, t float64) float64 {
	return summaryBytes(d, t, m+shrinkRows(m)/2, m)
}

// reduceNumbers is how many float64 the ranks add up after a pass: ridge.Reducer.
func reduceNumbers(d, q float64) float64 { return q*(d+2) + 11 }

// solveNumbers is that of a solve's passes while no system has converged. The first
// one also asks for Aᵀy of the t targets.
func solveNumbers(d, t, q, passes float64) float64 {
	return passes*reduceNumbers(d, q) + t*(d+2)
}

// levels is ⌈log₂P⌉.
func levels(ranks int) int {
	l := 0
	for s := 1; s < ranks; s *= 2 {
		l++
	}
	return l
}

// passesOf bounds the passes of CG until the error in the norm of H has shrunk by tol,
// from κ of the preconditioned system:
//
//	1 + ⌈ln(2/tol) / ln((√κ+1)/(√κ−1))⌉.
//
// It is what ridge.Summary.PredictedPasses says, round-off aside.
func passesOf(kappa, tol float64) int {
	rate := (math.Sqrt(kappa) - 1) / (math.Sqrt(kappa) + 1)
	if rate <= 0 {
		return 1
	}
	return 1 + max(0, int(math.Ceil(math.Log(tol/2)/math.Log(rate))))
}

// A decay is the spectrum λ_j = n·j^−power of K, j = 1 … d.
type decay struct{ power float64 }

// tail is Σ_{j>k} λ_j/n for j ≤ d, by the sum formula of Euler and Maclaurin with two
// terms; exact to four per cent from k = 1 on.
func (s decay) tail(k, d float64) float64 {
	if k == 0 {
		return 1 + s.tail(1, d)
	}
	ends := (math.Pow(d, -s.power)-math.Pow(k, -s.power))/2 + s.power*(math.Pow(k, -s.power-1)-math.Pow(d, -s.power-1))/12
	if s.power == 1 {
		return math.Log(d/k) + ends
	}
	return (math.Pow(k, 1-s.power)-math.Pow(d, 1-s.power))/(s.power-1) + ends
}

// shrinkage is the a-priori bound on η/n, min_{k≤m} tail(k)/(m+1−k).
func (s decay) shrinkage(m, d float64) float64 {
	if m >= d {
		return 0
	}
	best := math.Inf(1)
	for k := 0.0; k <= m; k++ {
		best = math.Min(best, s.tail(k, d)/(m+1-k))
	}
	return best
}

// mean is the mean eigenvalue over n.
func (s decay) mean(d float64) float64 { return s.tail(0, d) / d }

package ridge

import (
	"context"
	"math"
	"sync"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/conformal"
	"github.com/fdridge/fdridge/internal/errtext"
	"github.com/fdridge/fdridge/internal/parallel"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
	"github.com/fdridge/fdridge/ridge/internal/rows"
)

// A Jackknife computes jackknife+ intervals for the targets of new rows, from the training rows alone. Let x₋ᵢ be
// the exact solution without training row i, and eᵢ = yᵢ − aᵢᵀx₋ᵢ. For a new row a, n training rows of
// positive weight and k = ⌈level·(n + 1)⌉, the interval reaches
//
//	from the k-th largest of aᵀx₋ᵢ − |eᵢ|   to the k-th smallest of aᵀx₋ᵢ + |eᵢ|,
//
// rounded outwards. γ and the preparation of the rows must not depend on the training rows. If the training rows and
// the new row are exchangeable, the interval then contains the target of the new row with a probability of at least
// 2·level − 1. For most data it is near level.
//
// No system is solved again: x₋ᵢ = x* − H⁻¹aᵢ·wᵢrᵢ/(1 − hᵢ), with the intercept included. See
// docs/math.md §23.
//
// Source: R. Barber, E. Candès, A. Ramdas, R. Tibshirani, "Predictive inference with the jackknife+", Annals of
// Statistics 49 (2021).
type Jackknife struct {
	normal *normal
	src    dataset.Source
	rank   int64
	bytes  int       // size of the array for the values of all training rows and some new rows
	ends   sync.Pool // of these arrays, as *[]float64
}

// NewJackknife returns a Jackknife for the penalty gamma and the coverage level, which must be between 0 and 1. It
// makes one pass over src, which has n training rows of d features. It takes O(nd²) time and O(d²) memory.
//
// Errors: [ErrInput] for an invalid level, *[GammaError], *[SizeError], [ErrShape], [ErrEmpty],
// [ErrIllConditioned], and the errors of src. If src can be read only once, the error is [ErrInput].
func NewJackknife(
	ctx context.Context,
	src dataset.Source,
	gamma, level float64,
	opts NormalOptions,
) (*Jackknife, error) {
	switch {
	case !(level > 0 && level < 1):
		return nil, errtext.BadInput("ridge: a coverage of %v, must be between 0 and 1", level)
	case src != nil && dataset.Once(src):
		return nil, errtext.BadInput("ridge: jackknife+ intervals need rows that can be read again")
	}
	if err := checkNormalGamma(gamma); err != nil {
		return nil, err
	}
	sums, err := newNormal(ctx, src, opts)
	if err != nil {
		return nil, err
	}
	m, err := sums.withGamma(gamma)
	if err != nil {
		return nil, err
	}
	return &Jackknife{
		normal: m,
		src:    src,
		rank:   conformal.Rank(level, m.rows),
		bytes:  1 << 28,
	}, nil
}

// Rows returns the number of training rows of positive weight. If the rank k = ⌈level·(n + 1)⌉ exceeds this number
// n, all intervals are infinite.
func (j *Jackknife) Rows() int64 {
	if j.normal == nil {
		return 0
	}
	return j.normal.rows
}

var errNoJackknife = errtext.BadInput("ridge: the Jackknife was not made by NewJackknife")

// Predict writes the interval for row i and target j of b to dst[i·t + j], for t targets. It predicts the rows of b
// in groups, and makes a pass over the n training rows for each group. A group is as large as an array of 256 MiB
// permits. This array has two numbers for each training row, row of the group and target.
//
// A pass takes O(d) time for each training row, row of the group and target, for d features. It takes O(d²) time
// more for each training row.
//
// Predict returns [ErrShape] if b or dst has the wrong dimensions, and [ErrInput] if the training rows have
// changed. It also returns errors of the training rows, and errors about entries of b that are not finite.
func (j *Jackknife) Predict(ctx context.Context, dst []Interval, b dataset.Block) error {
	m := j.normal
	if m == nil {
		return errNoJackknife
	}
	if b.N < 0 || len(dst) != b.N*m.t {
		return unfit("%d intervals for %d rows and %d targets", len(dst), b.N, m.t)
	}
	without := b
	without.Y, without.W = nil, nil
	if _, err := rows.CheckBlock(without, m.d, 0, int(b.First), 0); err != nil {
		return err
	}
	if j.rank > m.rows {
		for i := range dst {
			dst[i] = Interval{Lo: math.Inf(-1), Hi: math.Inf(1)}
		}
		return nil
	}
	group := max(1, j.bytes/(16*int(m.rows)*max(1, m.t)))
	most := min(group, b.N)
	z := make([]float64, most*m.p)
	ends, ok := j.ends.Get().(*[]float64)
	if !ok {
		ends = new([]float64)
	}
	defer j.ends.Put(ends)
	*ends = vec.Grow(*ends, 2*most*m.t*int(m.rows))
	for lo := 0; lo < b.N; lo += group {
		hi := min(lo+group, b.N)
		for i := lo; i < hi; i++ {
			row := z[(i-lo)*m.p : (i-lo+1)*m.p]
			m.fill(row, b, i)
		}
		rows := m.apply(z[:(hi-lo)*m.p])
		if err := j.predict(ctx, dst[lo*m.t:hi*m.t], rows, *ends); err != nil {
			return err
		}
	}
	return nil
}

// A leftRow describes how one training row of weight w affects the ends of the intervals for one target. e ± δ is
// an interval that contains the leave-one-out residual of the training row.
type leftRow struct {
	pull  float64 // w·e
	size  float64 // |e| + δ
	along float64 // w·δ
	norm  float64 // times the norm of the new row, a bound on the effect of the errors of the inverse and of the row
	off   float64 // times the error of the new row
}

// predict computes the intervals of the new rows in to. ends is workspace, with two numbers for each training row,
// new row and target.
func (j *Jackknife) predict(
	ctx context.Context,
	dst []Interval,
	to mapped,
	ends []float64,
) error {
	m := j.normal
	q := len(to.norm)
	n := int(m.rows)
	low := ends[:q*m.t*n]
	high := ends[q*m.t*n : 2*q*m.t*n]
	products := make([]float64, q*roundoff.StageRows)
	left := make([]leftRow, m.t*roundoff.StageRows)
	from := mapped{
		v:    make([]float64, roundoff.StageRows*m.p),
		norm: make([]float64, roundoff.StageRows),
		off:  make([]float64, roundoff.StageRows),
	}
	at := 0
	all, err := m.each(ctx, j.src, func(s *stagedRows) error {
		if at+s.n > n {
			return errMoreRows
		}
		m.applyTo(&from, s.z[:s.n*m.p])
		m.leaveOut(left, s, &from)
		shared := engine.View(q, s.n, products[:q*s.n])
		training := engine.View(s.n, m.p, from.v[:s.n*m.p])
		m.be.Gemm(false, true, 1, engine.View(q, m.p, to.v), training, 0, shared)
		first := at
		at += s.n
		return parallel.Do(q, 2*q*s.n*m.t, func(a int) error {
			for target := range m.t {
				start := (a*m.t+target)*n + first
				end := start + s.n
				rows := left[target*s.n : (target+1)*s.n]
				m.ends(
					low[start:end],
					high[start:end],
					shared.Row(a),
					rows,
					to.norm[a],
					to.off[a],
				)
			}
			return nil
		})
	})
	if err != nil {
		return err
	}
	if at != n || all != m.all {
		return errMoreRows
	}
	return parallel.Do(q, 8*len(low), func(a int) error {
		for target := range m.t {
			start := (a*m.t + target) * n
			end := start + n
			lo := conformal.Smallest(low[start:end], int64(n)+1-j.rank)
			hi := conformal.Smallest(high[start:end], j.rank)
			dst[a*m.t+target] = m.around(&to, a, target, lo, hi)
		}
		return nil
	})
}

// errMoreRows reports training rows that changed between two passes.
var errMoreRows = errtext.BadInput("ridge: the training rows have changed since the first pass")

// leaveOut computes the leftRow of each row of s and each target. from holds the rows of s, multiplied by the
// matrix W of [inverse].
func (m *normal) leaveOut(left []leftRow, s *stagedRows, from *mapped) {
	for i := range s.n {
		w := s.weights[i]
		v := from.v[i*m.p : (i+1)*m.p]
		norm := from.norm[i]
		off := from.off[i]
		form := 0.0
		for _, x := range v {
			form += x * x
		}
		free := 1 - w*form
		formError := m.error(norm, off, norm, off)
		freeError := (w*formError + few*eps*(1+w*form)) * roundoff.Inflate
		least := free - freeError
		for target := range m.t {
			product, productError := m.predictOne(v, norm, off, target)

			y := s.y[i*m.t+target]
			r := y - product
			rError := productError +
				few*eps*(math.Abs(y)+math.Abs(product)) +
				few*roundoff.Underflow
			e := r / free
			slack := ((rError+math.Abs(e)*freeError)/least +
				few*eps*math.Abs(e) +
				few*roundoff.Underflow) * roundoff.Inflate

			one := &left[target*s.n+i]
			if !(least > 0) || !(math.Abs(e)+slack <= math.MaxFloat64/4) {
				*one = leftRow{size: math.Inf(1)}
				continue
			}
			size := (math.Abs(e) + slack) * (1 + few*eps)
			relative := m.relative + chainOf(m.p)*eps
			*one = leftRow{
				pull:  w * e,
				size:  size,
				along: w * slack * (1 + few*eps),
				norm:  w * size * (relative*norm + off) * roundoff.Inflate,
				off:   w * size * norm * roundoff.Inflate,
			}
		}
	}
}

// predictOne returns the prediction of a row without the offset m.base[target], and a bound on the error of the
// result. The argument v is the row multiplied by the matrix W of [inverse].
func (m *normal) predictOne(
	v []float64,
	norm, off float64,
	target int,
) (value, bound float64) {
	for k, c := range m.targets.v[target*m.p : (target+1)*m.p] {
		value += v[k] * c
	}
	return value, m.error(norm, off, m.targets.norm[target], m.targets.off[target])
}

// ends computes bounds for a new row z and each training row zᵢ of weight w. Let H be the normal matrix, and e the
// leave-one-out residual of zᵢ. ends writes lower bounds on −w·zᵀH⁻¹zᵢ·e − |e| to low, and upper
// bounds on −w·zᵀH⁻¹zᵢ·e + |e| to high. The argument products holds the computed values of zᵀH⁻¹zᵢ.
func (m *normal) ends(
	low, high, products []float64,
	left []leftRow,
	norm, off float64,
) {
	for i := range left {
		l := &left[i]
		moved := products[i] * l.pull
		spread := (l.size +
			math.Abs(products[i])*l.along +
			norm*l.norm +
			off*l.off) * (1 + 2*few*eps)
		spread += few*eps*math.Abs(moved) + few*roundoff.Underflow
		low[i] = -moved - spread
		high[i] = spread - moved
	}
}

// around returns an interval from p + lo to p + hi, rounded outwards. p is the exact prediction of new row a.
func (m *normal) around(to *mapped, a, target int, lo, hi float64) Interval {
	row := to.v[a*m.p : (a+1)*m.p]
	product, bound := m.predictOne(row, to.norm[a], to.off[a], target)
	at := m.base[target] + product
	bound += few * eps * (math.Abs(m.base[target]) + math.Abs(product))
	size := math.Abs(at)
	lo -= (bound + few*eps*(size+math.Abs(lo))) * (1 + few*eps)
	hi += (bound + few*eps*(size+math.Abs(hi))) * (1 + few*eps)
	out := Interval{Lo: at + lo, Hi: at + hi}
	if math.IsNaN(out.Lo) {
		out.Lo = math.Inf(-1)
	}
	if math.IsNaN(out.Hi) {
		out.Hi = math.Inf(1)
	}
	return out
}

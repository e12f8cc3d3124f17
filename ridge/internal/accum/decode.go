package accum

import (
	"errors"
	"math"
	"math/bits"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/twofold"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/internal/wire"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
	"github.com/fdridge/fdridge/ridge/internal/rows"
)

// decodeLane reads a lane from m, whose preamble has been read.
func decodeLane(
	m *wire.Reader,
	be engine.Backend,
	version uint32,
	size int64,
) (l *Lane, meta []byte) {
	var h summaryHeader
	m.Struct(&h)
	h.check(m, version, size)
	if m.Err() != nil {
		return nil, nil
	}
	l = &Lane{
		cfg: Config{
			Dim:       int(h.Dim),
			Targets:   int(h.Targets),
			Intercept: h.Flags&flagIntercept != 0,
			Lanes:     1,
		},
		raw:          h.Raw,
		Sparse:       h.Flags&flagSparse != 0,
		lacksWitness: h.Flags&flagUnwatched != 0,
	}
	var w weightHeader
	if version > 1 {
		m.Struct(&w)
	}
	meta = m.Bytes(int(h.Meta))
	at := m.N()
	state := l.decodeSums(m, version)
	state.Rows = int64(h.Rows)
	state.Weighted = h.Flags&flagWeighted != 0
	state.Decays = int64(h.Decays)
	state.Weight = twofold.TotalFromParts(h.Weight, w.Low)
	state.WeightError = w.Error
	l.Sketch = readSketch(m, be, int64(h.Sketch))
	m.Close()
	if m.Err() != nil {
		return nil, nil
	}
	l.Stage = rows.ResumeStage(l.cfg.Dim, l.cfg.Targets, l.cfg.Intercept, state)
	l.checkWeight(m)
	l.checkSums(m, at)
	if m.Err() == nil && version == 1 {
		l.assumeWorst()
	}
	c := l.Sketch.Config()
	l.cfg.Size = c.Size
	l.cfg.Shrink = c.Shrink
	l.cfg.ShrinkRows = c.ShrinkRows
	l.cfg.Backend = c.Backend
	if l.storesGramByDefault() != l.Sketch.Scatter() {
		l.cfg.Store = c.Store
	}
	return l, meta
}

// storesGramByDefault reports whether package fd stores AᵀA instead of a sketch by default.
func (l *Lane) storesGramByDefault() bool {
	keeps, err := fd.Config{
		Dim:    l.cfg.Dim,
		Size:   l.cfg.Size,
		Shrink: l.cfg.Shrink,
	}.Scatter()
	return err == nil && keeps
}

// decodeSums reads the sums over the rows. In the message, they stand between Meta and the sketch.
func (l *Lane) decodeSums(m *wire.Reader, version uint32) (st rows.State) {
	d, t := l.cfg.Dim, l.cfg.Targets
	l.sums.d, l.sums.t = d, t
	st.Origin = m.Float64s(d + t)
	st.Sum = m.Sums(d + t)
	if version == 1 {
		l.sums.yy, l.sums.cross = m.Sums(t), m.Sums(t*d)
		return st
	}
	st.SumError = m.Float64s(d + t)
	st.Moved = m.Float64s(d + t)
	at := m.N()
	for i, b := range m.Bytes(1 + t) {
		if b > 1 {
			m.Fail(at+int64(i), nil, "whether entries are not zero is %d, not 0 or 1", b)
		}
		st.NonZero = append(st.NonZero, b == 1)
	}
	l.sums.yy, l.sums.cross = m.Sums(t), m.Sums((t+1)*d)
	return st
}

// assumeWorst sets the bounds that a message of format version 1 does not contain. It sets them to the largest
// possible values.
func (l *Lane) assumeWorst() {
	st := l.Stage
	n := float64(l.Stage.Rows)
	l.lacksWitness = true
	l.sums.cross = append(l.sums.cross, make([]twofold.Total, l.cfg.Dim)...)
	columns := l.cfg.Dim + l.cfg.Targets
	st.SumError = make([]float64, columns)
	st.Moved = make([]float64, columns)
	for range 1 + l.cfg.Targets {
		st.NonZero = append(st.NonZero, n > 0)
	}
	if !l.cfg.Intercept || n == 0 {
		return
	}
	// far bounds √Σ‖row − origin‖² over the n rows. It follows from ‖row − origin‖² ≤ 2‖row‖² +
	// 2‖origin‖², because the origin is one of the rows. There are at most n merges, and each has an error
	// proportional to far.
	far := math.Sqrt(2*(1+n)*l.raw) * roundoff.Inflate
	off := 4 * roundoff.RowOfBlock * roundoff.Unit * n * far
	if st.Weighted { // the origin may be a row of almost zero weight
		off = math.Inf(1)
	}
	for j := range st.Moved {
		st.Moved[j] = off
		st.SumError[j] = off * math.Sqrt(n)
	}
}

// readSketch reads a sketch from m. If the sketch does not take size bytes, readSketch records an error in m.
func readSketch(m *wire.Reader, be engine.Backend, size int64) *fd.Sketch {
	if m.Err() != nil {
		return nil
	}
	at := m.N()
	sketch, err := fd.ReadSketch(m, be)
	switch e, ok := errors.AsType[*fd.FormatError](err); {
	case ok:
		m.Fail(at+e.Offset, e.Err, "in the sketch: %s", e.Reason)
	case err != nil:
		m.Stop(err)
	case m.N()-at != size:
		m.Fail(88, nil, "the sketch has %d bytes, the header says %d", m.N()-at, size)
	}
	return sketch
}

// check records an error in m if the sizes in the header are invalid. It runs before memory is allocated for them.
func (h *summaryHeader) check(m *wire.Reader, version uint32, size int64) {
	if m.Err() != nil {
		return
	}
	within := func(offset int64, what string, v, lo, hi uint64) {
		if v < lo || v > hi {
			m.Fail(offset, nil, "%s is %d, not between %d and %d", what, v, lo, hi)
		}
	}
	within(24, "the number of features", h.Dim, 1, maxCross)
	within(32, "the number of targets", h.Targets, 1, maxCross)
	if hi, td := bits.Mul64(h.Dim, h.Targets); hi != 0 || td > maxCross {
		m.Fail(24, fd.ErrSize, "summary too large for this machine: t·d = %d·%d", h.Targets, h.Dim)
		return
	}
	flags := uint64(flagsEnd - 1)
	if version == 1 {
		flags = flagUnwatched - 1
	}
	within(40, "the word of flags", h.Flags, 0, flags)
	within(48, "the number of rows", h.Rows, 0, MaxRows)
	within(72, "the number of decays", h.Decays, 0, math.MaxInt64)
	within(80, "the length of Meta", h.Meta, 0, MaxMeta)
	within(88, "the length of the sketch", h.Sketch, 0, uint64(size))
	if m.Err() == nil && h.content(version) != size {
		m.Fail(16, nil, "the length is %d, but the counts give %d", size+wire.Frame, h.content(version)+wire.Frame)
	}
	switch n := float64(h.Rows); {
	case !(h.Weight >= 0 && h.Weight <= math.MaxFloat64),
		h.Flags&flagWeighted == 0 && h.Weight != n, h.Rows == 0 && h.Weight != 0:
		m.Fail(56, nil, "the weight of %d rows is %v", h.Rows, h.Weight)
	case !(h.Raw >= 0 && h.Raw <= rows.MaxSquares), h.Rows == 0 && h.Raw != 0:
		m.Fail(64, nil, "the sum of squares of %d rows is %v", h.Rows, h.Raw)
	}
}

// MaxRows is the largest number of rows in a message.
const MaxRows = 1 << 62

// maxCross is the largest accepted number of entries of AᵀY. With this limit, the sums of 16 bytes for each entry
// fit in the address space.
const maxCross = min(1<<44, math.MaxInt/16)

// maxSum and maxMean are the largest accepted magnitudes in a message. The sums and means of [Accumulator.Append]
// are smaller, even with round-off.
const (
	maxSum  = 8 * rows.MaxSquares // for AᵀY, and ‖y‖² of each target y
	maxMean = 0x1p501             // for the means and their origin
)

// checkWeight records an error in m if the sum of the weights, or the bound on its error, is impossible.
func (l *Lane) checkWeight(m *wire.Reader) {
	w, low := l.Stage.Weight.Parts()
	off := l.Stage.WeightError
	if !(math.Abs(low) <= 1e-6*w) ||
		!(off >= 0 && off <= math.MaxFloat64) ||
		(!l.Stage.Weighted && (low != 0 || off != 0)) {
		m.Fail(24+headerSize, nil, "the weight %v has the correction %v and the error bound %v", w, low, off)
	}
}

// checkSums records an error in m if no rows can have these sums, or if the sketch cannot belong to the same rows.
// The argument offset is the position of the sums in the message.
func (l *Lane) checkSums(m *wire.Reader, offset int64) {
	within := func(what string, i int, width int64, limit float64, v ...float64) {
		for _, v := range v {
			if !(math.Abs(v) <= limit) {
				m.Fail(offset+int64(i)*width, nil, "%s: number %d is %v", what, i, v)
			}
		}
	}
	sums := func(what string, limit float64, x []twofold.Total) {
		for i, v := range x {
			sum, low := v.Parts()
			within(what, i, 16, limit, sum, low, v.Value())
		}
	}
	st := l.Stage
	for i, v := range st.Origin {
		within("the origin of the means", i, 8, maxMean, v)
	}
	offset += 8 * int64(len(st.Origin))
	// most is the limit for the magnitude of a sum. It is 0 if no row has a positive weight.
	most := 0.0
	if st.Weight.Value() > 0 {
		most = math.MaxFloat64
	}
	sums("the sums of the means", most, st.Sum)
	for i, v := range st.RelativeMeans() {
		within("the means", i, 16, maxMean, v)
	}
	offset += 16 * int64(len(st.Sum))
	for _, bounds := range [][]float64{st.SumError, st.Moved} {
		for i, v := range bounds {
			if !(v >= 0) {
				m.Fail(offset+8*int64(i), nil, "a bound on round-off is %v", v)
			}
		}
		offset += 8 * int64(len(bounds))
	}
	offset += int64(len(st.NonZero))
	sums("the squared norms of the targets", maxSum, l.sums.yy)
	for i, v := range l.sums.yy {
		if v.Value() < 0 {
			m.Fail(offset+16*int64(i), nil, "the squared norm of target %d is %v", i, v.Value())
		}
	}
	offset += 16 * int64(len(l.sums.yy))
	sums("the products with the targets", maxSum, l.sums.cross)
	offset += 16 * int64(len(l.sums.cross))
	n := l.Sketch.Rows()
	if l.Sketch.Dim() != l.cfg.Dim ||
		n < st.Rows ||
		(n > st.Rows && !l.cfg.Intercept) {
		m.Fail(
			offset,
			nil,
			"the sketch has %d rows of dimension %d, the summary %d of %d",
			n,
			l.Sketch.Dim(),
			st.Rows,
			l.cfg.Dim,
		)
	}
	if v := l.squares(); m.Err() == nil && !(v <= 2*rows.MaxSquares) {
		m.Fail(offset, nil, "the squares of the sketch and the means sum to %v", v)
	}
}

// squares returns the sum of squares of all rows before centring, computed from the sketch and the means. checkSums
// requires a limit for it, so that later appends and merges can detect overflow.
func (l *Lane) squares() float64 {
	v := l.Sketch.Bound().Frobenius2
	if l.cfg.Intercept {
		means := l.Stage.Means()
		v += l.Stage.Weight.Value() * vec.Dot(means, means)
	}
	return v
}

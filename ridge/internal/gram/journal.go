package gram

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/neumaier"
	"github.com/fdridge/fdridge/internal/twofold"
	"github.com/fdridge/fdridge/internal/wire"
)

// A Journal keeps what passes find, see ridge.Journal.
type Journal interface {
	Recorded(pass int) ([]byte, error)
	Due() bool
	Record(pass int, state []byte) error
}

// passHeader is the message of a pass from byte 24 on.
type passHeader struct {
	State, Vectors, Dim uint64
	Question            [sha256.Size]byte
	Rows, Plain         uint64
	Weight, WeightLow   float64
}

// Bits of State. passMixed is that of a pass which earlier versions have measured without telling
// what residuals are off by from what their sums are: it is made again.
const (
	passEnded = 1 << iota
	passSparse
	passMixed
	passPrecise
)

const passHeaderSize = 3*8 + sha256.Size + 4*8

// content is the size of the message, with so many numbers of twice the digits.
func (h *passHeader) content(numbers int) int64 {
	q, d, n := int64(h.Vectors), int64(h.Dim), 24*int64(numbers)
	if h.State&passEnded != 0 {
		return passHeaderSize + 8*q*d + 8*q + n
	}
	return passHeaderSize + 24*q*d + 32*q + n
}

// question tells one pass from another: by its vectors, bit for bit, targets, and what is asked
// of them; and by the shifts of what is measured, which all workers must have alike.
func question(qs []Query, v, shifts []float64) (out [sha256.Size]byte) {
	h := sha256.New()
	var b [9]byte
	word := func(u uint64, flag byte) {
		binary.LittleEndian.PutUint64(b[:], u)
		b[8] = flag
		h.Write(b[:]) // never fails
	}
	for _, s := range qs {
		asked := byte(0)
		if s.Affine {
			asked = 1
		}
		if s.Precise {
			asked |= 4
		}
		word(uint64(s.Target), asked)
	}
	for _, x := range v {
		word(math.Float64bits(x), 2)
	}
	for _, x := range shifts {
		word(math.Float64bits(x), 8)
	}
	h.Sum(out[:0])
	return out
}

// record hands the pass under way to the journal. Little-endian, in the frame of all
// messages (see package wire), of kind 4:
//
//	offset  bytes
//	24      8       1 where the pass has ended, plus 2 where rows were sparse, plus 8
//	                where it measures p gradients with twice the digits
//	32      8       q, vectors
//	40      8       d, their length
//	48      32      SHA-256 of the vectors and their targets
//	80      8       rows read
//	88      8       calls, or sparse rows, in the plain sums
//	96      16      their weight, a sum and its correction
//
// then for one that has ended
//
//	112     8·q·d   the products
//	        8·q     ‖Av − b‖²
//
// and for one that hasn't
//
//	112     16·q·d  compensated sums of the products
//	        8·q·d   plain sums
//	        16·q    ‖Av − b‖²
//	        16·q    1ᵀ(Av − b)
//
// and in either case, where gradients are measured, the N = 1 + 3p + d·p numbers that they are
// made of, d more with an intercept, of all workers where it has ended: Σw, of each gradient Σwr,
// Σwr² and a bound on √Σwδ², δ being what r is off by, and the sums Xᵀ(w·r), Xᵀw behind them,
//
//	8·N     their high parts
//	8·N     their low parts
//	8·N     what they are off by at most
func (o *Operator) record() error {
	var measured []twofold.Number
	if o.precise != nil {
		measured = o.precise.numbers()
	}
	o.sums.begin()
	return o.write(0, measured, func(m *wire.Writer) {
		m.Sums(o.sums.products)
		m.Float64s(o.sums.plain)
		m.Sums(o.sums.rss)
		m.Sums(o.sums.ones)
	})
}

// recordEnd is record for a pass that has ended, with the numbers of all workers.
func (o *Operator) recordEnd(out, rss []float64, measured []twofold.Number) error {
	q := len(o.run.queries)
	return o.write(passEnded, measured, func(m *wire.Writer) {
		m.Float64s(out[:q*o.d])
		m.Float64s(rss[:q])
	})
}

// write hands the journal a message of the given state and content, with what was measured.
func (o *Operator) write(state uint64, measured []twofold.Number, content func(m *wire.Writer)) error {
	if o.journal == nil {
		return nil
	}
	s := &o.sums
	h := passHeader{State: state, Vectors: uint64(len(o.run.queries)), Dim: uint64(o.d), Question: o.shared.question, Rows: uint64(s.rows), Plain: uint64(s.chain)}
	h.Weight, h.WeightLow = s.weight.Parts()
	if s.sparse {
		h.State |= passSparse
	}
	if o.precise != nil {
		h.State |= passPrecise
	}
	var b bytes.Buffer
	size := h.content(len(measured))
	b.Grow(int(size) + wire.Frame)
	m := wire.NewWriter(&b, wire.Pass, size)
	m.Struct(h)
	content(m)
	for _, part := range []func(twofold.Number) float64{high, low, off} {
		column := make([]float64, len(measured))
		for i, v := range measured {
			column[i] = part(v)
		}
		m.Float64s(column)
	}
	if _, err := m.Close(); err != nil {
		return err
	}
	return o.journal.Record(o.number, b.Bytes())
}

// recall takes the pass that begins to where the journal has it. finished says that the
// journal has its end: out and rss are then what it found.
func (o *Operator) recall(out, rss []float64) (finished bool, err error) {
	if o.journal != nil || o.shared.reducer != nil {
		var shifts []float64
		if o.precise != nil {
			shifts = o.precise.shift
		}
		o.shared.question = question(o.run.queries, o.run.v[:len(o.run.queries)*o.d], shifts)
	}
	if o.journal == nil || (o.shared.reducer != nil && !o.shared.recalling) {
		return false, nil
	}
	state, err := o.journal.Recorded(o.number)
	if err != nil || state == nil {
		return false, err
	}
	m := wire.NewReader(bytes.NewReader(state))
	h, answered := o.readHeader(m)
	if m.Err() == nil && !answered {
		return false, nil
	}
	finished = h.State&passEnded != 0
	restore := o.readEnded
	if !finished {
		restore = o.readSums
	}
	apply := restore(m, h, out, rss)
	measured := readNumbers(m, o.precise.count())
	m.Close()
	if err := m.Err(); err != nil {
		if e, ok := errors.AsType[*wire.Error](err); ok {
			err = (*fd.FormatError)(e)
		} else if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return false, fmt.Errorf("ridge: what the journal has of pass %d: %w", o.number, err)
	}
	o.sums.sparse = o.sums.sparse || h.State&passSparse != 0
	apply()
	switch {
	case o.precise == nil:
	case finished: // of use where all workers have it
		o.precise.recalled = measured
	default:
		o.precise.restore(measured)
	}
	return finished, nil
}

func high(v twofold.Number) float64 { return v.Hi }
func low(v twofold.Number) float64  { return v.Lo }
func off(v twofold.Number) float64  { return v.Err }

// readNumbers reads so many numbers.
func readNumbers(m *wire.Reader, n int) []twofold.Number {
	hi, lo, err := m.Float64s(n), m.Float64s(n), m.Float64s(n)
	if m.Err() != nil {
		return nil
	}
	out := make([]twofold.Number, n)
	for i := range out {
		out[i] = twofold.Number{Hi: hi[i], Lo: lo[i], Err: err[i]}
	}
	return out
}

// readHeader reports whether the message is of the question asked, and fails where it is
// of another shape.
func (o *Operator) readHeader(m *wire.Reader) (h passHeader, answered bool) {
	_, size := m.Preamble(wire.Pass)
	m.Struct(&h)
	if m.Err() != nil || h.Question != o.shared.question || h.State&passMixed != 0 {
		return h, false
	}
	q := len(o.run.queries)
	precise := h.State&passPrecise != 0
	if h.State > passEnded|passSparse|passPrecise || precise != (o.precise != nil) || h.Vectors != uint64(q) || h.Dim != uint64(o.d) || h.content(o.precise.count()) != size || h.Rows > uint64(o.rows.Count) || h.Plain > h.Rows {
		m.Fail(wire.Start, nil, "a pass of %d vectors of %d after %d rows, it is one of %d of %d and %d rows", h.Vectors, h.Dim, h.Rows, q, o.d, o.rows.Count)
	}
	return h, true
}

// readEnded reads what a pass that has ended found. What it returns puts that in place.
func (o *Operator) readEnded(m *wire.Reader, _ passHeader, out, rss []float64) (apply func()) {
	q := len(o.run.queries)
	products, squares := m.Float64s(q*o.d), m.Float64s(q)
	return func() {
		copy(out, products)
		copy(rss, squares)
	}
}

// readSums reads what a pass that has not ended had summed. What it returns goes on from there.
func (o *Operator) readSums(m *wire.Reader, h passHeader, _, _ []float64) (apply func()) {
	q := len(o.run.queries)
	products, plain := m.Sums(q*o.d), m.Float64s(q*o.d)
	rss, ones := m.Sums(q), m.Sums(q)
	return func() {
		s := &o.sums
		copy(s.products, products)
		s.begin()
		copy(s.plain, plain)
		copy(s.rss, rss)
		copy(s.ones, ones)
		s.rows, s.chain, s.weight = int64(h.Rows), int(h.Plain), neumaier.FromParts(h.Weight, h.WeightLow)
		o.run.from = s.rows
	}
}

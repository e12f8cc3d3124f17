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
	"github.com/fdridge/fdridge/internal/twofold"
	"github.com/fdridge/fdridge/internal/wire"
)

// A Journal stores the results of passes, see ridge.Journal.
type Journal interface {
	Recorded(pass int) ([]byte, error)
	Due() bool
	Record(pass int, state []byte) error
}

// passHeader is the part of a journal message from byte 24 up to the sums. The comment of [Operator.record] has the
// layout.
type passHeader struct {
	State, Vectors, Dim uint64
	Question            [sha256.Size]byte
	Rows, Plain         uint64
	Weight, WeightLow   float64
}

// The constants are bits of the field State of a journal message. An older version of this package set passMixed
// and recorded a single bound for two different errors. Such a message is not used, and the pass is repeated.
const (
	passEnded = 1 << iota
	passSparse
	passMixed
	passPrecise
)

const passHeaderSize = 3*8 + sha256.Size + 4*8

// content returns the length of a journal message in bytes, without the frame that all messages have. numbers is
// the number of [twofold.Number] values at the end of the message.
func (h *passHeader) content(numbers int) int64 {
	q := int64(h.Vectors)
	d := int64(h.Dim)
	n := 24 * int64(numbers)
	if h.State&passEnded != 0 {
		return passHeaderSize + 8*q*d + 8*q + n
	}
	return passHeaderSize + 24*q*d + 32*q + n
}

// question returns a hash of what a pass computes. The hash is of the bits of the vectors, the targets, the options
// and the shifts. All workers must have the same hash in a pass.
func question(qs []Query, v, shifts []float64) (out [sha256.Size]byte) {
	h := sha256.New()
	var b [9]byte
	word := func(u uint64, flag byte) {
		binary.LittleEndian.PutUint64(b[:], u)
		b[8] = flag
		h.Write(b[:]) // returns no error
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

// record stores the state of the current pass in the journal. The message is little-endian and of kind 4. All
// messages have the same frame, see package wire.
//
//	offset  bytes
//	24      8       1 if the pass has ended, plus 2 if rows were sparse, plus 8
//	                if it measures p gradients in twofold precision
//	32      8       q, number of vectors
//	40      8       d, their length
//	48      32      SHA-256 of the vectors, targets, options and shifts
//	80      8       rows read
//	88      8       number of calls, or of sparse rows, in the plain sums
//	96      16      their weight, a sum and its correction
//
// If the pass has ended, these numbers follow:
//
//	112     8·q·d   the products
//	        8·q     ‖Av − b‖²
//
// If it has not ended, these numbers follow:
//
//	112     16·q·d  compensated sums of the products
//	        8·q·d   plain sums
//	        16·q    ‖Av − b‖²
//	        16·q    1ᵀ(Av − b)
//
// If the pass measures p gradients, N = 1 + 3p + d·p numbers with twice the digits follow, and d more with an
// intercept:
//
//	Σw
//	Σwr, Σwr², and a bound on √Σwδ², for each gradient; δ is the error of r
//	Xᵀ(w·r) for each gradient
//	Xᵀw, with an intercept
//
// If the pass has ended, these numbers are sums over all workers. They are stored as
//
//	8·N     their high parts
//	8·N     their low parts
//	8·N     bounds on their errors
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

// recordEnd stores the results of a finished pass in the journal. out, rss and measured are sums over all workers.
func (o *Operator) recordEnd(out, rss []float64, measured []twofold.Number) error {
	q := len(o.run.queries)
	return o.write(passEnded, measured, func(m *wire.Writer) {
		m.Float64s(out[:q*o.d])
		m.Float64s(rss[:q])
	})
}

// write stores a message in the journal. The message has a header with the given state, then the numbers that the
// function content writes, and then the numbers in measured.
func (o *Operator) write(
	state uint64,
	measured []twofold.Number,
	content func(m *wire.Writer),
) error {
	if o.journal == nil {
		return nil
	}
	s := &o.sums
	h := passHeader{
		State:    state,
		Vectors:  uint64(len(o.run.queries)),
		Dim:      uint64(o.d),
		Question: o.shared.question,
		Rows:     uint64(s.rows),
		Plain:    uint64(s.chain),
	}
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

// recall restores the current pass from the journal. If the journal has the results of the whole pass, recall
// copies them to out and rss, and returns true.
func (o *Operator) recall(out, rss []float64) (finished bool, err error) {
	if o.journal != nil || o.shared.reducer != nil {
		var shifts []float64
		if o.precise != nil {
			shifts = o.precise.shift
		}
		o.shared.question = question(
			o.run.queries,
			o.run.v[:len(o.run.queries)*o.d],
			shifts,
		)
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
		return false, fmt.Errorf("ridge: journal of pass %d: %w", o.number, err)
	}
	o.sums.sparse = o.sums.sparse || h.State&passSparse != 0
	apply()
	switch {
	case o.precise == nil:
	case finished: // every worker has the results, so they are used
		o.precise.recalled = measured
	default:
		o.precise.restore(measured)
	}
	return finished, nil
}

func high(v twofold.Number) float64 { return v.Hi }
func low(v twofold.Number) float64  { return v.Lo }
func off(v twofold.Number) float64  { return v.Err }

// readNumbers reads n twofold numbers.
func readNumbers(m *wire.Reader, n int) []twofold.Number {
	hi := m.Float64s(n)
	lo := m.Float64s(n)
	err := m.Float64s(n)
	if m.Err() != nil {
		return nil
	}
	out := make([]twofold.Number, n)
	for i := range out {
		out[i] = twofold.Number{
			Hi:  hi[i],
			Lo:  lo[i],
			Err: err[i],
		}
	}
	return out
}

// readHeader reads the header of a message. answered reports whether the message belongs to the current pass. If
// it belongs to the pass but its header does not fit the pass, readHeader records an error in m.
func (o *Operator) readHeader(m *wire.Reader) (h passHeader, answered bool) {
	_, size := m.Preamble(wire.Pass)
	m.Struct(&h)
	if m.Err() != nil ||
		h.Question != o.shared.question ||
		h.State&passMixed != 0 {
		return h, false
	}
	q := len(o.run.queries)
	precise := h.State&passPrecise != 0
	if h.State > passEnded|passSparse|passPrecise ||
		precise != (o.precise != nil) ||
		h.Vectors != uint64(q) ||
		h.Dim != uint64(o.d) ||
		h.content(o.precise.count()) != size ||
		h.Rows > uint64(o.rows.Count) ||
		h.Plain > h.Rows {
		m.Fail(
			wire.Start,
			nil,
			"the message has %d vectors of length %d after %d rows, the pass has %d of length %d and %d rows",
			h.Vectors,
			h.Dim,
			h.Rows,
			q,
			o.d,
			o.rows.Count,
		)
	}
	return h, true
}

// readEnded reads the results of a finished pass. The function apply, which it returns, copies them to out and rss.
func (o *Operator) readEnded(
	m *wire.Reader,
	_ passHeader,
	out, rss []float64,
) (apply func()) {
	q := len(o.run.queries)
	products := m.Float64s(q * o.d)
	squares := m.Float64s(q)
	return func() {
		copy(out, products)
		copy(rss, squares)
	}
}

// readSums reads the sums of a pass that was interrupted. The function apply, which it returns, restores them, so
// that the pass can continue.
func (o *Operator) readSums(
	m *wire.Reader,
	h passHeader,
	_, _ []float64,
) (apply func()) {
	q := len(o.run.queries)
	products := m.Sums(q * o.d)
	plain := m.Float64s(q * o.d)
	rss := m.Sums(q)
	ones := m.Sums(q)
	return func() {
		s := &o.sums
		copy(s.products, products)
		s.begin()
		copy(s.plain, plain)
		copy(s.rss, rss)
		copy(s.ones, ones)
		s.rows = int64(h.Rows)
		s.chain = int(h.Plain)
		s.weight = twofold.TotalFromParts(h.Weight, h.WeightLow)
		o.run.from = s.rows
	}
}

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

// Bits of State.
const (
	passEnded = 1 << iota
	passSparse
)

const passHeaderSize = 3*8 + sha256.Size + 4*8

func (h *passHeader) content() int64 {
	q, d := int64(h.Vectors), int64(h.Dim)
	if h.State&passEnded != 0 {
		return passHeaderSize + 8*q*d + 8*q
	}
	return passHeaderSize + 24*q*d + 32*q
}

// question tells one pass from another: by its vectors, bit for bit, and targets.
func question(qs []Query, v []float64) (out [sha256.Size]byte) {
	h := sha256.New()
	var b [9]byte
	word := func(u uint64, flag byte) {
		binary.LittleEndian.PutUint64(b[:], u)
		b[8] = flag
		h.Write(b[:]) // never fails
	}
	for _, s := range qs {
		affine := byte(0)
		if s.Affine {
			affine = 1
		}
		word(uint64(s.Target), affine)
	}
	for _, x := range v {
		word(math.Float64bits(x), 2)
	}
	h.Sum(out[:0])
	return out
}

// record hands the pass under way to the journal. Little-endian, in the frame of all
// messages (see package wire), of kind 4:
//
//	offset  bytes
//	24      8       1 where the pass has ended, plus 2 where rows were sparse
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
func (o *Operator) record() error {
	if o.precise != nil { // which begins anew
		return nil
	}
	return o.write(0, func(m *wire.Writer) {
		m.Sums(o.sums.products)
		m.Float64s(o.sums.plain)
		m.Sums(o.sums.rss)
		m.Sums(o.sums.ones)
	})
}

// recordEnd is record for a pass that has ended.
func (o *Operator) recordEnd(out, rss []float64) error {
	q := len(o.run.queries)
	return o.write(passEnded, func(m *wire.Writer) {
		m.Float64s(out[:q*o.d])
		m.Float64s(rss[:q])
	})
}

// write hands the journal a message of the given state and content.
func (o *Operator) write(state uint64, content func(m *wire.Writer)) error {
	if o.journal == nil {
		return nil
	}
	s := &o.sums
	h := passHeader{State: state, Vectors: uint64(len(o.run.queries)), Dim: uint64(o.d), Question: o.shared.question, Rows: uint64(s.rows), Plain: uint64(s.chain)}
	h.Weight, h.WeightLow = s.weight.Parts()
	if s.sparse {
		h.State |= passSparse
	}
	var b bytes.Buffer
	b.Grow(int(h.content()) + wire.Frame)
	m := wire.NewWriter(&b, wire.Pass, h.content())
	m.Struct(h)
	content(m)
	if _, err := m.Close(); err != nil {
		return err
	}
	return o.journal.Record(o.number, b.Bytes())
}

// recall takes the pass that begins to where the journal has it. finished says that the
// journal has its end: out and rss are then what it found.
func (o *Operator) recall(out, rss []float64) (finished bool, err error) {
	if o.journal != nil || o.shared.reducer != nil {
		o.shared.question = question(o.run.queries, o.run.v[:len(o.run.queries)*o.d])
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
	return finished, nil
}

// readHeader reports whether the message is of the question asked, and fails where it is
// of another shape.
func (o *Operator) readHeader(m *wire.Reader) (h passHeader, answered bool) {
	_, size := m.Preamble(wire.Pass)
	m.Struct(&h)
	if m.Err() != nil || h.Question != o.shared.question {
		return h, false
	}
	q := len(o.run.queries)
	if h.State > passEnded|passSparse || h.Vectors != uint64(q) || h.Dim != uint64(o.d) || h.content() != size || h.Rows > uint64(o.rows.Count) || h.Plain > h.Rows {
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
		copy(s.plain, plain)
		copy(s.rss, rss)
		copy(s.ones, ones)
		s.rows, s.chain, s.weight = int64(h.Rows), int(h.Plain), neumaier.FromParts(h.Weight, h.WeightLow)
		o.run.from = s.rows
	}
}

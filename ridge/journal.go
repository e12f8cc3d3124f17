package ridge

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/neumaier"
	"github.com/fdridge/fdridge/internal/wire"
)

// A Journal keeps what the passes of a solve have found, for the same solve to go on
// from where it was interrupted. A solver's state is a function of what its passes
// return: started again, it is answered from the journal as far as that goes, and reads
// the data from the row on that the last pass had come to. The result is bit for bit
// that of a solve that wasn't interrupted.
//
// A pass that asks another question than the one recorded, as where a tolerance or
// the limit on passes was changed meanwhile, is made anew. The data have to be the
// same, and so the backend and the tuning for the same bits. Passes that a [Refresher]
// makes are its own and are made again.
type Journal interface {
	// Recorded returns the state that a pass, counted from 1, was recorded in last,
	// nil for none.
	Recorded(pass int) ([]byte, error)
	// Due reports whether the state of the pass under way is wanted. It is asked after
	// each block.
	Due() bool
	// Record takes the state of a pass: in its midst when Due or when the context is
	// cancelled, and when it has ended. It takes the place of what was recorded of
	// this pass and of later ones. An error ends the solve.
	Record(pass int, state []byte) error
}

// Continue makes the rest of a pass over src, whose first Rows() rows s has seen. Of
// a summary that was written in the midst of [Summarize], when progress was told, it
// makes what Summarize would have made, bit for bit. Where it is cancelled s is whole,
// and has seen the blocks until then.
func (s *Summary) Continue(ctx context.Context, src dataset.Source, progress func(rows int64)) error {
	if _, d, t := src.Dims(); d != s.cfg.Dim || t != s.cfg.Targets {
		return fmt.Errorf("%w: the source has %d features and %d targets, the summary %d and %d", ErrShape, d, t, s.cfg.Dim, s.cfg.Targets)
	}
	from := s.Rows()
	for b, err := range dataset.From(ctx, src, from) {
		if err == nil {
			err = ctx.Err() // a source need not notice
		}
		if err != nil {
			return err
		}
		if err := s.AppendBlock(since(from, b, s.cfg.Dim, s.cfg.Targets)); err != nil {
			return err
		}
		from = 0
		if progress != nil {
			progress(s.Rows())
		}
	}
	return nil
}

// since cuts off the rows before row first.
func since(first int64, b dataset.Block, d, t int) dataset.Block {
	if first <= b.First {
		return b
	}
	return b.Cut(int(min(first-b.First, int64(b.N))), b.N, d, t, new(engine.CSR))
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
func question(qs []query, v []float64) (out [sha256.Size]byte) {
	h := sha256.New()
	var b [9]byte
	word := func(u uint64, flag byte) {
		binary.LittleEndian.PutUint64(b[:], u)
		b[8] = flag
		h.Write(b[:]) // never fails
	}
	for _, s := range qs {
		affine := byte(0)
		if s.affine {
			affine = 1
		}
		word(uint64(s.target), affine)
	}
	for _, x := range v {
		word(math.Float64bits(x), 2)
	}
	h.Sum(out[:0])
	return out
}

// record hands the pass under way to the journal. Little-endian, in the frame of all
// messages (see [Summary.MarshalBinary]), of kind 4:
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
func (p *pass) record(finished bool, out, rss []float64) error {
	if p.journal == nil {
		return nil
	}
	q := len(p.qs)
	h := passHeader{Vectors: uint64(q), Dim: uint64(p.d), Question: p.question, Rows: uint64(p.n), Plain: uint64(p.plain)}
	h.Weight, h.WeightLow = p.w.Parts()
	if finished {
		h.State |= passEnded
	}
	if p.sparse {
		h.State |= passSparse
	}
	var b bytes.Buffer
	b.Grow(int(h.content()) + wire.Frame)
	m := wire.NewWriter(&b, wire.Pass, h.content())
	m.Struct(h)
	if finished {
		m.Float64s(out[:q*p.d])
		m.Float64s(rss[:q])
	} else {
		m.Sums(p.sum)
		m.Float64s(p.g)
		m.Sums(p.rss)
		m.Sums(p.ones)
	}
	if _, err := m.Close(); err != nil {
		return err
	}
	return p.journal.Record(p.number, b.Bytes())
}

// recall takes the pass that begins to where the journal has it, and reports whether
// that is its end: out and rss are then what it found.
func (p *pass) recall(out, rss []float64) (finished bool, err error) {
	if p.journal != nil || p.reducer != nil {
		p.question = question(p.qs, p.v[:len(p.qs)*p.d])
	}
	if p.journal == nil || (p.reducer != nil && !p.recalling) {
		return false, nil
	}
	state, err := p.journal.Recorded(p.number)
	if err != nil || state == nil {
		return false, err
	}
	m := wire.NewReader(bytes.NewReader(state))
	var h passHeader
	_, size := m.Preamble(wire.Pass)
	m.Struct(&h)
	if m.Err() == nil && h.Question != p.question {
		return false, nil
	}
	q := len(p.qs)
	if m.Err() == nil && (h.State > passEnded|passSparse || h.Vectors != uint64(q) || h.Dim != uint64(p.d) || h.content() != size || h.Rows > uint64(p.want) || h.Plain > h.Rows) {
		m.Fail(wire.Start, nil, "a pass of %d vectors of %d after %d rows, it is one of %d of %d and %d rows", h.Vectors, h.Dim, h.Rows, q, p.d, p.want)
	}
	var numbers [2][]float64
	var sums [3][]neumaier.Sum
	if h.State&passEnded != 0 {
		numbers[0], numbers[1] = m.Float64s(q*p.d), m.Float64s(q)
	} else {
		sums[0], numbers[0] = m.Sums(q*p.d), m.Float64s(q*p.d)
		sums[1], sums[2] = m.Sums(q), m.Sums(q)
	}
	m.Close()
	if err := m.Err(); err != nil {
		if e, ok := errors.AsType[*wire.Error](err); ok {
			err = (*fd.FormatError)(e)
		} else if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return false, fmt.Errorf("ridge: what the journal has of pass %d: %w", p.number, err)
	}
	p.sparse = p.sparse || h.State&passSparse != 0
	if h.State&passEnded != 0 {
		copy(out, numbers[0])
		copy(rss, numbers[1])
		return true, nil
	}
	copy(p.sum, sums[0])
	copy(p.g, numbers[0])
	copy(p.rss, sums[1])
	copy(p.ones, sums[2])
	p.n, p.plain, p.w = int64(h.Rows), int(h.Plain), neumaier.FromParts(h.Weight, h.WeightLow)
	p.from = p.n
	return false, nil
}
